#!/usr/bin/env python3
"""Writes digits_scores.txt: what onnxruntime makes of models/digits.onnx and each drawn digit.

    tests/onnx/make_digits.py

A line for each image, its ten probabilities. Needs onnx, onnxruntime and torch.
"""

import pathlib
import struct
import zlib

import onnx
import onnxruntime
import torch

FOLDER = pathlib.Path(__file__).resolve().parent
MODELS = FOLDER.parent.parent / "models"


def pixels(path):
    """Of a grey PNG whose rows are not filtered, as draw_digits.py writes them."""
    data, at, packed = path.read_bytes(), 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, height = struct.unpack(">II", data[at + 8:at + 16])
        if kind == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += size + 12
    rows = torch.frombuffer(bytearray(zlib.decompress(packed)), dtype=torch.uint8)
    rows = rows.reshape(height, width + 1)
    assert not rows[:, 0].any(), path
    return rows[:, 1:].float().reshape(1, 1, height, width)


onnx.checker.check_model(str(MODELS / "digits.onnx"), full_check=True)
session = onnxruntime.InferenceSession(str(MODELS / "digits.onnx"))
lines = []
for digit in range(10):
    small = torch.nn.functional.interpolate(pixels(MODELS / f"{digit}.png"), (28, 28), mode="bilinear",
                                            antialias=True)
    scores, = session.run(["probabilities"], {"image": (small / 255).numpy()})
    assert scores.argmax() == digit, (digit, scores)
    lines.append(" ".join(f"{x:.6g}" for x in scores[0]) + "\n")
(FOLDER / "digits_scores.txt").write_text("".join(lines))
