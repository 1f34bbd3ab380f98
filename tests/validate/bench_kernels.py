#!/usr/bin/env python3
"""The matrix products and convolutions of the benchmarks, a line each, for prove_kernels:

op, the shapes of its two inputs, its numbers, its name.
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench" / "peers"))

from cases import conv_cases, matmul_cases  # noqa: E402


def numbers(case):
    if case["op"] == "matmul":
        return [int(one) for one in case["transposed"]]
    return [case["stride"], case["padding"], case["groups"]]


def line(case):
    shapes = [",".join(map(str, shape)) for shape in case["inputs"]]
    return " ".join(map(str, [case["op"], *shapes, *numbers(case), case["name"]]))


for one in matmul_cases(None, 1) + conv_cases(None, 1):
    print(line(one))
