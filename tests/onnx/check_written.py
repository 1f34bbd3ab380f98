#!/usr/bin/env python3
"""Checks ONNX files that weft wrote: they are valid, and onnxruntime computes of them what weft does.

    tests/onnx/check_written.py PATH_TO_WEFT MODEL...

Inputs are random, open sizes 3. Needs numpy, onnx and onnxruntime.
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

weft, *models = sys.argv[1:]
random = np.random.default_rng(1)
for model in models:
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(model)
    inputs = {port.name: random.random([size if isinstance(size, int) else 3 for size in port.shape],
                                       np.float32) for port in session.get_inputs()}
    expected = session.run(None, inputs)
    with tempfile.TemporaryDirectory() as folder:
        arguments = []
        for name, values in inputs.items():
            np.save(pathlib.Path(folder) / f"{name}.npy", values)
            arguments += ["--input", f"{name}={folder}/{name}.npy"]
        subprocess.run([weft, "run", model, "--runs", "0", "--out", f"{folder}/out", *arguments],
                       check=True, stdout=subprocess.DEVNULL)
        for port, values in zip(session.get_outputs(), expected):
            found = np.load(f"{folder}/out/{port.name}.npy")
            worst = np.abs(found - values).max()
            assert found.shape == values.shape and worst < 1e-5, (model, port.name, worst)
            print(f"{model}: {port.name} differs by {worst:.2g} at most")
