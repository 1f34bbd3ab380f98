"""Hashes of rows of bytes, by hashlib."""

import hashlib

import numpy as np

from cases import *

# Half of what a block leaves of the state.
LENGTHS = {"sha3_224": 28, "sha3_256": 32, "sha3_384": 48, "sha3_512": 64, "shake_128": 16, "shake_256": 32}


def keccak(x, algorithm):
    rows = x.reshape(int(np.prod(x.shape[:-1], dtype=int)), x.shape[-1])
    length = LENGTHS[algorithm]
    hashed = [hashlib.new(algorithm, np.ascontiguousarray(row).tobytes()) for row in rows]
    digests = [h.digest(length) if algorithm.startswith("shake") else h.digest() for h in hashed]
    return np.frombuffer(b"".join(digests), np.uint8).reshape(*x.shape[:-1], length)


def some(shape, dtype="u8"):
    return ints(shape, 0, 256, dtype)


for algorithm in LENGTHS:
    for shape in [(0,), (1,), (13,), (3, 7), (0, 5), (2, 1, 8)]:
        case("keccak", keccak, [some(shape)], algorithm=algorithm, numpy=True)
for algorithm, block in [("sha3_224", 144), ("sha3_256", 136), ("shake_128", 168)]:
    for length in [block - 2, block - 1, block, 2 * block - 1, 2 * block + 5]:
        case("keccak", keccak, [some((length,))], algorithm=algorithm, numpy=True)
case("keccak", keccak, [transposed(some((9, 3)))], algorithm="sha3_256", numpy=True)
case("keccak", keccak, [expanded(some((1, 5)), 3, 5)], algorithm="sha3_256", numpy=True)
case("keccak", keccak, [strided(flipped(some((20,)), 0), 2)], algorithm="sha3_224", numpy=True)
for x in [bools((2, 5)), ints((3, 2), dtype="i16"), floats((5,), dtype="f16"), floats((2, 3)), floats((3,), dtype="f64"), ints((2, 2), dtype="i64")]:
    case("keccak", keccak, [x], algorithm="shake_128", numpy=True)
