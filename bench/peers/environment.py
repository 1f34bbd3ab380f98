"""The environment of a measured process: what it cannot do without, and what the benchmark sets.

Nothing else is inherited. A variable that lies forgotten in a shell handicaps a library without a word:
with OPENBLAS_CORETYPE numpy runs kernels for another processor, with OMP_PROC_BIND or KMP_AFFINITY threads
share a core, with BEAM tinygrad searches. No list of such names stays complete (bench/README.md has some),
so this one says what passes.
"""
import os
from fnmatch import fnmatchcase

# Names, as patterns, that a process keeps of the driver's environment, and why.
KEPT = {
    "PATH": "compilers are found there",
    "LD_LIBRARY_PATH": "libraries outside the system's folders are",
    "HOME": "libraries expect a home",
    "XDG_*": "the user's own caches may lie elsewhere",
    "TMPDIR": "temporary files may go elsewhere",
    "LANG": "how text is encoded",
    "LC_*": "how text is encoded",
    "CC": "the compiler of tinygrad's kernels",
    "CXX": "the compiler of torch's kernels",
}

# What says how many threads a library computes with, by its reader.
THREADS = {
    "OPENBLAS_NUM_THREADS": "numpy",
    "OMP_NUM_THREADS": "torch",
    "MKL_NUM_THREADS": "torch",
    "NUM_CPU_THREADS": "tinygrad",
    "WEFT_THREADS": "weft",
}


def kept(variables):
    return {name: value for name, value in variables.items()
            if any(fnmatchcase(name, pattern) for pattern in KEPT)}


def environment(threads, caches, settings=None):
    """As many threads for all, and new caches: compile times are those of a first time."""
    own = kept(os.environ)
    return {**own, **dict.fromkeys(THREADS, str(threads)), "CC": own.get("CC", "clang-19"),
            "CACHE_DIR": f"{caches}/weft", "TORCHINDUCTOR_CACHE_DIR": f"{caches}/torch",
            "CACHEDB": f"{caches}/tinygrad.db", "PYTHONDONTWRITEBYTECODE": "1",
            **(settings or {})}
