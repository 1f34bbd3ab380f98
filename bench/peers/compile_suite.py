"""All kernels of ResNet-50: compiled from an empty cache, and from a full one."""
import json
import os
import shutil
import subprocess
from pathlib import Path

from environment import environment
from workers import settle


def measure(options, about, scratch):
    """Each figure is a new process: what a program sees that starts."""
    cores = sorted(os.sched_getaffinity(0))[:options.threads]
    variables = environment(options.threads, scratch, options.settings)

    def program(what):
        done = subprocess.run([Path(options.bin) / "peers_compile", what], env=variables,
                              check=True, stdout=subprocess.PIPE,
                              preexec_fn=lambda: settle(cores))
        return json.loads(done.stdout)

    rounds = []
    for _ in range(options.runs):
        shutil.rmtree(variables["CACHE_DIR"], ignore_errors=True)
        rounds.append({"empty": program("load"), "full": program("load"),
                       "lower": program("lower")})
    return {"suite": "compile", "threads": options.threads, "runs": options.runs, "machine": about,
            "configurations": {"weft": options.settings}, "missing": {}, "rounds": rounds}
