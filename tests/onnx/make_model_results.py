#!/usr/bin/env python3
"""Writes model_results.txt: what onnxruntime computes of the networks of models.txt.

    tests/onnx/make_model_results.py

Of each output of networks whose expected outputs do not lie beside them: its sizes, its largest absolute value, its mean,
and elements at equal distances. Needs numpy, onnx, onnxruntime and ../shared/data.
"""

import pathlib
import sys
import tempfile

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parents[1] / "bench/peers"))

import cases
import networks

SAMPLES = 16

HEAD = """\
# What onnxruntime computes of the networks of models.txt; make_model_results.py writes it. Of each output: the network, its
# name and sizes, its largest absolute value, its mean, and the elements at i * (n - 1) / 15 of all n, or all of up to 16.
"""


def sampled(flat):
    if flat.size <= SAMPLES:
        return flat
    return flat[[i * (flat.size - 1) // (SAMPLES - 1) for i in range(SAMPLES)]]


def line_of(case, name, array):
    flat = array.ravel()
    numbers = [np.abs(flat).max(), flat.mean(), *sampled(flat)]
    sizes = "x".join(map(str, array.shape)) or "-"
    return " ".join([case["name"], name, sizes, *(f"{number:.7g}" for number in numbers)])


def main():
    lines = []
    with tempfile.TemporaryDirectory() as scratch:
        for case in cases.model_cases({}, 1):
            if "made" in case or (networks.original(case).parent / "outputs.npz").exists():
                continue
            ready = networks.prepared(case, None, scratch)
            outputs = zip(ready["outputs"], networks.expected(ready), strict=True)
            lines += [line_of(case, name, array) for name, array in outputs]
    (FOLDER / "model_results.txt").write_text(HEAD + "\n".join(lines) + "\n")
    print(len(lines), "outputs")


if __name__ == "__main__":
    main()
