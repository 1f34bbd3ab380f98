#!/usr/bin/env python3
"""Writes driving.zip: a small network of the shape that drives a car, and what onnxruntime computes of it.

    tests/onnx/make_driving.py

In the layout of the standard's own tests. bench/peers/driving.py builds the network. Needs numpy, onnx and onnxruntime.
"""

import pathlib
import sys
import zipfile

import numpy as np
import onnxruntime
from onnx import numpy_helper

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parents[1] / "bench/peers"))

import driving


def made_up(port, random):
    if port.type == "tensor(uint8)":
        return random.integers(0, 256, port.shape).astype(np.uint8)
    return random.uniform(-1, 1, port.shape).astype(np.float32)


def main():
    model = driving.driving(driving.SMALL).SerializeToString()
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    random = np.random.default_rng(5)
    inputs = {port.name: made_up(port, random) for port in session.get_inputs()}
    outputs = {port.name: values for port, values in zip(session.get_outputs(), session.run(None, inputs))}
    files = {"model.onnx": model}
    for kind, arrays in (("input", inputs), ("output", outputs)):
        for i, (name, array) in enumerate(arrays.items()):
            files[f"test_data_set_0/{kind}_{i}.pb"] = numpy_helper.from_array(array, name).SerializeToString()
    with zipfile.ZipFile(FOLDER / "driving.zip", "w", zipfile.ZIP_DEFLATED) as out:
        for path, data in files.items():
            out.writestr(zipfile.ZipInfo(f"driving/{path}", (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    print((FOLDER / "driving.zip").stat().st_size, "bytes")


if __name__ == "__main__":
    main()
