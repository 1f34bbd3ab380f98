"""Runs the networks of a folder by weft and by onnxruntime, and says which outputs differ.

    check.py FOLDER [WEFT]        FOLDER/*.onnx, as random_networks writes them; WEFT is the command
"""
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime

TOLERANCE = 1e-3  # of the largest element
WEFT = Path(__file__).resolve().parents[2] / "build/default/bin/weft"


def values(port, random):
    if "int" in port.type:
        return random.integers(0, 10_000, port.shape)
    return random.uniform(-1, 1, port.shape).astype(np.float32)


def by_weft(weft, path, inputs, folder):
    arguments = [weft, "run", path, "--runs", "0", "--out", folder]
    for name, array in inputs.items():
        np.save(Path(folder) / f"{name}.in.npy", array)
        arguments += ["--input", f"{name}={folder}/{name}.in.npy"]
    done = subprocess.run(arguments, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return np.load(Path(folder) / "y.npy")


def difference(weft, path):
    """The largest, of the largest element."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    random = np.random.default_rng(1)
    inputs = {port.name: values(port, random) for port in session.get_inputs()}
    wanted = session.run(["y"], inputs)[0].astype(np.float64)
    with tempfile.TemporaryDirectory() as folder:
        found = by_weft(weft, path, inputs, folder)
    if found.shape != wanted.shape or not np.isfinite(wanted).all():
        return np.inf
    return np.abs(found - wanted).max() / max(np.abs(wanted).max(), 1e-3)


def main():
    folder, weft = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else WEFT
    onnxruntime.set_default_logger_severity(3)
    paths, wrong = sorted(folder.glob("*.onnx")), 0
    for path in paths:
        try:
            off = difference(weft, path)
            reason = "" if off <= TOLERANCE else f"differs by {off:.1e} of the largest element"
        except Exception as error:  # of either
            reason = (str(error) or type(error).__name__).splitlines()[0]
        wrong += bool(reason)
        if reason:
            print(f"{path}: {reason}", flush=True)
    print(f"{len(paths)} networks, {wrong} differ")
    return 1 if wrong else 0


sys.exit(main())
