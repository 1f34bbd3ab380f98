#!/usr/bin/env python3
"""Checks ONNX files that weft has quantised: they are valid, onnxruntime computes of them what weft does, and both
nearly what the model computed before.

    tests/onnx/check_quantized.py PATH_TO_WEFT MODEL...

Inputs are random, open sizes 3. Needs numpy, onnx and onnxruntime.
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

WAYS = [["--method", method, *by] for method in ("minmax", "percentile", "entropy")
        for by in ([], ["--per-channel"])] + [["--dynamic"], ["--dynamic", "--per-channel"]]
weft, *models = sys.argv[1:]
random = np.random.default_rng(1)


def session(path):
    """Node by node: kernels of bytes add pairs of products in 16 bits on some processors."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(path, options)


def noise(expected, found):
    return np.square(found - expected).sum() / np.square(expected).sum()


for model in models:
    before = session(model)
    ports = before.get_inputs()
    calls = [{port.name: random.random([size if isinstance(size, int) else 3 for size in port.shape], np.float32)
              for port in ports} for _ in range(8)]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "calls").mkdir()
        for i, call in enumerate(calls):
            np.savez(folder / "calls" / f"{i}.npz", **call)
        for way in WAYS:
            after = str(folder / "after.onnx")
            how = way if "--dynamic" in way else [*way, "--calibrate", str(folder / "calls")]
            subprocess.run([weft, "quantize", model, "-o", after, *how], check=True, stdout=subprocess.DEVNULL)
            onnx.checker.check_model(after)
            inputs = sum((["--input", f"{port.name}={folder}/calls/0.npz"] for port in ports), [])
            subprocess.run([weft, "run", after, "--runs", "0", "--out", f"{folder}/out", *inputs], check=True,
                           stdout=subprocess.DEVNULL)
            original, expected = before.run(None, calls[0]), session(after).run(None, calls[0])
            for port, values, floats in zip(before.get_outputs(), expected, original):
                found = np.load(f"{folder}/out/{port.name}.npy")
                apart, lost = noise(values, found), noise(floats, found)
                assert apart < 1e-4 and lost < 0.02, (model, way, port.name, apart, lost)
                print(f"{model} {' '.join(way)}: {port.name} has {lost:.2g} of noise, {apart:.2g} beside onnxruntime")
