#!/usr/bin/env python3
"""One peer in a process of its own:  worker.py PEER THREADS

Answers lines of JSON on stdin by lines on stdout, as work.cpp does for weft.
"""
import json
import os
import re
import statistics
import sys
import time
from pathlib import Path

import values

# A call that takes long is not made twice to warm up.
LONG_CALL = 0.5


def numpy_peer(threads):
    import with_numpy
    return with_numpy.Peer(threads)


def torch_peer(threads):
    import with_torch
    return with_torch.Peer(threads)


def compiled_torch_peer(threads):
    import with_torch
    return with_torch.Peer(threads, with_torch.COMPILED)


def onnxruntime_peer(threads):
    import with_onnx
    return with_onnx.OnnxRuntime(threads)


def openvino_peer(threads):
    import with_onnx
    return with_onnx.OpenVino(threads)


def tinygrad_peer(threads):
    import with_tinygrad
    return with_tinygrad.Peer(threads)


PEERS = {"numpy": numpy_peer, "torch": torch_peer, "torch-compile": compiled_torch_peer,
         "onnxruntime": onnxruntime_peer, "openvino": openvino_peer, "tinygrad": tinygrad_peer}


def memory_mb(name):
    """A line of /proc/self/status, such as VmHWM."""
    found = re.search(rf"^{name}:\s+(\d+)", Path("/proc/self/status").read_text(), re.M)
    return int(found[1]) / 1024


class Server:
    def __init__(self, peer):
        self.peer, self.run, self.last, self.once = peer, None, None, 0

    def load(self, request):
        self.drop()
        before = memory_mb("VmRSS")
        arrays = values.inputs_of(request["case"])
        Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
        start = time.perf_counter()
        self.run = self.peer.build(request["case"], arrays)
        built = time.perf_counter() - start
        first = self.call()
        self.once = self.call() if first < LONG_CALL else first
        return {"once": self.once, "compile": built + max(0, first - self.once),
                "peak_mb": max(0, memory_mb("VmHWM") - before)}

    def call(self):
        """The seconds it takes."""
        start = time.perf_counter()
        self.last = self.run()
        return time.perf_counter() - start

    def measure(self, request):
        if self.once < LONG_CALL:
            self.once = self.call()
        calls = range(max(1, round(0.5e-3 / self.once)))
        times = []
        run, start = self.run, time.perf_counter()
        while not times or time.perf_counter() - start < request["seconds"]:
            begin = time.perf_counter()
            for _ in calls:
                run()
            times.append((time.perf_counter() - begin) / len(calls))
        return {"best": min(times), "median": statistics.median_high(times), "samples": len(times)}

    def result(self, request):
        self.peer.array(self.last).astype("float32", copy=False).tofile(request["file"])
        return {}

    def drop(self, _request=None):
        self.run = self.last = None
        return {}

    def configuration(self, _request):
        return {"configuration": self.peer.configuration()}


def main():
    # What a library prints goes to stderr.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    server = Server(PEERS[sys.argv[1]](int(sys.argv[2])))
    answer_by = {"load": server.load, "run": server.measure, "result": server.result,
                 "drop": server.drop, "configuration": server.configuration}
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = answer_by[request["do"]](request)
        except Exception as error:  # whatever a peer throws is its answer
            answer = {"error": f"{type(error).__name__}: {error}"[:500]}
        print(json.dumps(answer), file=answers, flush=True)


main()
