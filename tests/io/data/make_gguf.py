"""Writes quants.gguf and what the package gguf makes of it, quants.safetensors: two blocks of each type, of random bytes
with scales that are numbers."""

from pathlib import Path

import gguf
import numpy as np
from safetensors.numpy import save_file

here = Path(__file__).parent
random = np.random.default_rng(1)
# Where a block has its f16.
halves = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108],
          "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ4_NL": [0], "IQ4_XS": [0], "MXFP4": [], "TQ1_0": [52],
          "TQ2_0": [64]}
writer = gguf.GGUFWriter(here / "quants.gguf", "test")
writer.add_bool("a.bool", True)
writer.add_uint8("a.u8", 200)
writer.add_int8("a.i8", -5)
writer.add_int16("a.i16", -300)
writer.add_uint32("a.u32", 4_000_000_000)
writer.add_uint64("a.u64", 2**64 - 1)
writer.add_int64("a.i64", -(2**40))
writer.add_float32("a.f32", 0.5)
writer.add_float64("a.f64", 0.1)
writer.add_string("a.text", "é")
writer.add_array("a.list", ["x", "yz"])
writer.add_array("a.numbers", [1, 2, 3])
expected = {}
for name, places in halves.items():
    kind = gguf.GGMLQuantizationType[name]
    elements, size = gguf.GGML_QUANT_SIZES[kind]
    blocks = random.integers(0, 256, (2, size), np.uint8)
    for place in places:
        blocks[:, place : place + 2] = random.uniform(-2, 2, (2, 1)).astype(np.float16).view(np.uint8)
    if name == "MXFP4":
        blocks[:, 0] = [1, 126]
    writer.add_tensor(name, blocks, raw_dtype=kind)
    expected[name] = gguf.dequantize(blocks, kind)
# What the package knows, but does not decode.
blocks = random.integers(0, 256, (2, 292), np.uint8)
blocks[:, :4] = np.array([[0.5], [-3.0]], "f4").view(np.uint8)
writer.add_tensor("Q8_K", blocks, raw_dtype=gguf.GGMLQuantizationType.Q8_K)
expected["Q8_K"] = blocks[:, 4:260].view(np.int8) * np.array([[0.5], [-3.0]], "f4")
bits = (np.arange(6, dtype="f4").view(np.uint32) >> 16).astype(np.uint16).reshape(2, 3)
writer.add_tensor("bfloat16", bits.view(np.uint8), raw_dtype=gguf.GGMLQuantizationType.BF16)
for name in "float32 float16 float64 int8 int16 int32 int64".split():
    writer.add_tensor(name, np.arange(6).reshape(2, 3).astype(name))
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
save_file(expected, here / "quants.safetensors")
