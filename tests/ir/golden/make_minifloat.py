#!/usr/bin/env python3
"""Writes minifloat.txt: the floats below f32 according to numpy and ml_dtypes.

    pip install numpy ml_dtypes && tests/ir/golden/make_minifloat.py

Lines of the result:
    decode DTYPE CRC            all codes to f32
    encode DTYPE CRC            the f32 values with bits i * 65537, i = 0 ... 65535, to the dtype
    encode_f64 f16 CRC          f64 values close to the ties of f16
    OP DTYPE CRC                the op on all pairs of codes (8 bits), or on pairs (i, 40503 i + 12345)
    cast F32 F16 BF16 E4M3 E5M2 bits of one value in each dtype
Overflow gives inf, or NaN where there is none. A CRC is CRC-32 of the little-endian codes, each NaN replaced by
the positive quiet one.
"""

import pathlib
import random
import zlib

import ml_dtypes
import numpy as np

np.seterr(all="ignore")

DTYPES = {
    "f16": (np.float16, np.uint16, 0x7E00),
    "bf16": (ml_dtypes.bfloat16, np.uint16, 0x7FC0),
    "f8e4m3": (ml_dtypes.float8_e4m3fn, np.uint8, 0x7F),
    "f8e5m2": (ml_dtypes.float8_e5m2, np.uint8, 0x7E),
}
OPS = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}


def codes(values, name):
    dtype, word, nan = DTYPES[name]
    bits = values.astype(dtype).view(word).copy()
    bits[np.isnan(values.astype(dtype).astype(np.float32))] = nan
    return bits


def f32_bits(values):
    bits = values.astype(np.float32).view(np.uint32).copy()
    bits[np.isnan(values)] = 0x7FC00000
    return bits


def crc(bits):
    return f"{zlib.crc32(bits.astype(bits.dtype.newbyteorder('<')).tobytes()):08x}"


def operands(name):
    dtype, word, _ = DTYPES[name]
    i = np.arange(65536, dtype=np.uint32)
    left, right = (i >> 8, i & 255) if word is np.uint8 else (i, 40503 * i + 12345)
    return left.astype(word).view(dtype), right.astype(word).view(dtype)


def combine(op, name):
    left, right = (x.astype(np.float32) for x in operands(name))
    # f32 has over twice the bits, so that this rounds as if once. It could fail for bf16 below the
    # normal numbers of f32, but no pair here comes to a tie there.
    return codes(op(left, right), name)


def samples():
    rng = random.Random(1)
    edges = [0, 1, 0x7F800000, 0x7F7FFFFF, 0x33000000, 0x33000001, 0x477FEFFF, 0x477FF000,
             0x43E80000, 0x43E80001, 0x47700000, 0x476FFFFF, 0x3A800000, 0x3A800001, 0x7F7F8000]
    drawn = [rng.getrandbits(23) | rng.randrange(103, 145) << 23 for _ in range(700)]
    drawn += [rng.getrandbits(31) for _ in range(100)]
    bits = [b | sign for b in edges + drawn for sign in (0, 1 << 31)]
    values = np.array(bits, dtype=np.uint32).view(np.float32)
    return values[~np.isnan(values)]


def near_f16_ties():
    i = np.arange(65536, dtype=np.uint32)
    value = i.astype(np.uint16).view(np.float16).astype(np.float64)
    value = value[np.isfinite(value)]
    ulp = np.spacing(np.abs(value).astype(np.float16)).astype(np.float64)
    ulp[np.isinf(ulp)] = 32  # of the largest number
    tie = value + ulp / 2
    return np.concatenate([tie, np.nextafter(tie, np.inf), np.nextafter(tie, -np.inf)])


def lines():
    for name, (dtype, word, _) in DTYPES.items():
        count = 1 << (8 * np.dtype(word).itemsize)
        every = np.arange(count, dtype=np.uint32).astype(word).view(dtype)
        yield f"decode {name} {crc(f32_bits(every.astype(np.float32)))}"
        spread = (np.arange(65536, dtype=np.uint32) * np.uint32(65537)).view(np.float32)
        yield f"encode {name} {crc(codes(spread, name))}"
        for op, function in OPS.items():
            yield f"{op} {name} {crc(combine(function, name))}"
    yield f"encode_f64 f16 {crc(codes(near_f16_ties(), 'f16'))}"
    values = samples()
    columns = [codes(values, name) for name in DTYPES]
    for value, *row in zip(f32_bits(values), *columns):
        yield f"cast {value:08x} " + " ".join(f"{code:x}" for code in row)


if __name__ == "__main__":
    text = "# made by make_minifloat.py\n" + "".join(line + "\n" for line in lines())
    pathlib.Path(__file__).with_name("minifloat.txt").write_text(text)
