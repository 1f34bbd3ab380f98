#!/usr/bin/env python3
"""Writes float8.txt: conversions from and to 8-bit floats according to numpy and ml_dtypes.

    pip install numpy ml_dtypes && tests/tensor/golden/make_float8.py

Lines of the result, all in hexadecimal, each NaN the positive quiet one:
    code CODE E4M3 E5M2     what a code is in each dtype, as f32
    float F32 PLAIN PLAIN SATURATED SATURATED
                            the codes of an f32 in e4m3 and e5m2, and those where what is too large is clamped
The floats are the numbers between two neighbours of either dtype, what is next to these, and what overflows.
"""

import pathlib

import ml_dtypes
import numpy as np

np.seterr(all="ignore")

E4M3, E5M2 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
NANS = {E4M3: 0x7F, E5M2: 0x7E}


def f32_bits(values):
    return np.where(np.isnan(values), 0x7FC00000, values.astype(np.float32).view(np.uint32))


def codes(values, dtype):
    small = values.astype(dtype)
    return np.where(np.isnan(small.astype(np.float32)), NANS[dtype], small.view(np.uint8))


def saturated(values, dtype):
    largest = np.float32(ml_dtypes.finfo(dtype).max)
    return codes(np.clip(values, -largest, largest), dtype)  # a NaN stays


def boundaries(dtype):
    every = np.arange(128, dtype=np.uint8).view(dtype).astype(np.float32)
    numbers = every[np.isfinite(every)]
    past_end = 2 * numbers[-1] - numbers[-2]
    ties = (numbers + np.append(numbers[1:], past_end)) / 2
    low, high = np.nextafter(ties, np.float32(-np.inf)), np.nextafter(ties, np.float32(np.inf))
    found = np.stack([low, ties, high], axis=1).astype(np.float32)
    found[1::2] *= -1
    return np.concatenate([found.ravel(), found[-1] * -1, [numbers[-1], past_end, -past_end]])


def lines():
    every = np.arange(256, dtype=np.uint8)
    reals = [f32_bits(every.view(dtype).astype(np.float32)) for dtype in (E4M3, E5M2)]
    for row in zip(every, *reals):
        yield "code {:02x} {:08x} {:08x}".format(*map(int, row))
    special = np.array([0.0, -0.0, 449, 480, -1e6, 3e38, -3e38, 1e-45, -1e-45, np.inf, -np.inf, np.nan], np.float32)
    values = np.concatenate([special, boundaries(E4M3), boundaries(E5M2)]).astype(np.float32)
    columns = [convert(values, dtype) for convert in (codes, saturated) for dtype in (E4M3, E5M2)]
    for row in zip(f32_bits(values), *columns):
        yield "float {:08x} {:02x} {:02x} {:02x} {:02x}".format(*map(int, row))


if __name__ == "__main__":
    text = "# made by make_float8.py\n" + "".join(line + "\n" for line in lines())
    pathlib.Path(__file__).with_name("float8.txt").write_text(text)
