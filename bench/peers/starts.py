"""How long a new process takes to the first result of a network, and how much memory."""
import json
import os
import shutil
import subprocess
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from threading import Timer

from environment import environment
from workers import settle

ROUNDS = 3
LIMIT = 300  # seconds of a process


def onnxruntime_library():
    """That of the package, which has the C API as well."""
    spec = find_spec("onnxruntime")
    if spec is None:
        return None
    return next((Path(spec.origin).parent / "capi").glob("libonnxruntime.so*"), None)


def first_result(command, case, variables, cores):
    """Seconds until a new process has it, and the memory that took. What it computed is in memory then."""
    request = json.dumps(case).encode()
    with TemporaryFile() as said:
        begin = time.perf_counter()
        with subprocess.Popen(command, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=said, preexec_fn=lambda: settle(cores)) as process:
            limit = Timer(LIMIT, process.kill)
            limit.start()
            with suppress(BrokenPipeError):
                process.stdin.write(request)
                process.stdin.close()
            answer = process.stdout.readline()
            seconds = time.perf_counter() - begin
            process.wait()
            limit.cancel()
        if answer:
            return {"seconds": seconds, **json.loads(answer)}
        said.seek(0)
        lines = said.read().decode(errors="replace").strip().splitlines()
        return {"error": lines[-1][:300] if lines else "the process ended"}


def measure(case, options, scratch):
    """Of weft with an empty cache of kernels and with a full one, and of onnxruntime, which has none."""
    cores = sorted(os.sched_getaffinity(0))[:options.threads]
    variables = environment(options.threads, f"{scratch}/start", options.settings)
    library = onnxruntime_library()
    found = {"cold": [], "warm": [], "onnxruntime": []}
    for _ in range(min(ROUNDS, options.runs)):
        shutil.rmtree(variables["CACHE_DIR"], ignore_errors=True)
        own = [Path(options.bin) / "peers_start"]
        found["cold"].append(first_result(own, case, variables, cores))
        found["warm"].append(first_result(own, case, variables, cores))
        if library is not None:
            other = [Path(options.bin) / "peers_onnxruntime", library, str(options.threads)]
            found["onnxruntime"].append(first_result(other, case, variables, cores))
    return found
