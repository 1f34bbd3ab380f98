"""Processes that measure when they are asked to, and stand still otherwise."""
import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

from environment import environment

PR_SET_PDEATHSIG = 1  # of linux/prctl.h
HERE = Path(__file__).resolve().parent


class Failure(Exception):
    """Why a peer has no figure."""


class TimedOut(Failure):
    pass


# By name: what runs it. {bin} is the folder of weft's programs.
COMMANDS = {
    "weft": ["{bin}/peers_weft"],
    "weft-movement": ["{bin}/peers_weft", "movement"],
    "weft-realize": ["{bin}/peers_weft", "realize"],
    "weft-beam": ["{bin}/peers_weft"],
    "fma": ["{bin}/peers_roof", "fma", "{threads}"],
    "stream": ["{bin}/peers_roof", "normal", "{threads}"],
    "stream-nt": ["{bin}/peers_roof", "non-temporal", "{threads}"],
}
OTHERS = ["{python}", "{here}/worker.py", "{name}", "{threads}"]


def settle(cores):
    """In a new process: on these cores, and gone with the driver, whose end it may not see."""
    os.sched_setaffinity(0, cores)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Worker:
    """Answers a request at a time. Between two the process is stopped: no idle threads spin."""

    def __init__(self, name, bin_folder, threads, cores, scratch, settings):
        names = {"bin": bin_folder, "threads": threads, "python": sys.executable, "here": HERE,
                 "name": name}
        self.name, self.cores, self.scratch = name, cores, Path(scratch)
        self.command = [part.format(**names) for part in COMMANDS.get(name, OTHERS)]
        # What a search finds is for nobody else.
        caches = f"{scratch}/{name}" if settings else scratch
        self.environment = environment(threads, caches, settings)
        self.log = self.scratch / f"{name}.log"
        self.process = None

    def start(self):
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                env=self.environment, preexec_fn=lambda: settle(self.cores))
        os.set_blocking(self.process.stdout.fileno(), False)

    def ask(self, limit, **request):
        if self.process is None:
            self.start()
        self.process.send_signal(signal.SIGCONT)
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
            answer = json.loads(self.read_line(limit))
        except BrokenPipeError:
            raise self.died() from None
        self.process.send_signal(signal.SIGSTOP)
        if "error" in answer:
            raise Failure(answer["error"])
        return answer

    def read_line(self, limit):
        line, end = b"", time.monotonic() + limit
        output = self.process.stdout
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([output], [], [], max(0, end - time.monotonic()))
            if not ready:
                self.stop()
                raise TimedOut(f"over {limit:g} s")
            part = os.read(output.fileno(), 65536)
            if not part:
                raise self.died()
            line += part
        return line

    def died(self):
        self.stop()
        lines = self.log.read_text(errors="replace").strip().splitlines()
        return Failure(lines[-1][:300] if lines else "the process ended")

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
        self.process = None
