"""Writes state files beside it: what PyTorch and the library safetensors make of tensors that tests/io knows."""

import pickle
from collections import OrderedDict
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file

here = Path(__file__).parent
rows = torch.arange(6).reshape(2, 3)
dtypes = {
    "bool_": torch.bool, "i8": torch.int8, "u8": torch.uint8, "i16": torch.int16, "u16": torch.uint16,
    "i32": torch.int32, "u32": torch.uint32, "i64": torch.int64, "u64": torch.uint64, "f16": torch.float16,
    "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64, "f8e4m3": torch.float8_e4m3fn,
    "f8e5m2": torch.float8_e5m2,
}
every = {name: rows.to(dtype) for name, dtype in dtypes.items()}
every |= {"scalar": torch.tensor(2.5), "empty": torch.zeros(0, 3), 'a "name"\n': torch.ones(1)}
save_file(every, here / "every.safetensors", {"format": "pt", "a \\ key": "a\tvalue"})

base = torch.arange(12.0).reshape(3, 4)
checkpoint = {
    "model": OrderedDict(weight=base, turned=base.t(), part=base[1:, 1:3], wide=base[:, :1].expand(3, 2),
                         wrapped=base.flatten()[1:9].reshape(2, 4), odd=base[:, 1::2]),
    "optimizer": {"state": {0: {"step": torch.tensor(7)}}, "param_groups": [{"lr": 0.1, "betas": (0.9, 0.999)}]},
    "parameter": torch.nn.Parameter(torch.ones(2)),
    "epoch": 3, "best": -1.5, "note": "é", "none": None, "flags": [True, False], "large": 2**70, "negative": -300,
    "dtype": torch.float16, "device": torch.device("cuda", 1), "size": torch.Size([2, 3]),
    "array": np.arange(6, dtype=">i2").reshape(2, 3).T, "number": np.float32(0.5), "bytes": b"\x00\xff",
}
checkpoint["dtypes"] = {name: value for name, value in every.items() if name in dtypes}
torch.save(checkpoint, here / "checkpoint.pt")
torch.save(checkpoint, here / "protocol5.pt", pickle_protocol=5)
torch.save(checkpoint, here / "legacy.pt", _use_new_zipfile_serialization=False)


class Evil:
    def __init__(self, call, *arguments):
        self.call, self.arguments = call, arguments

    def __reduce__(self):
        return self.call, self.arguments


import os  # noqa: E402

torch.save({"weight": base, "other": Evil(os.system, "touch /tmp/weft_evil")}, here / "system.pt")
torch.save(Evil(eval, "1"), here / "eval.pt")
torch.save(torch.nn.Linear(2, 3), here / "module.pt")
loop = []
loop.append(loop)
torch.save(loop, here / "loop.pt")
many = [torch.ones(1)]
for _ in range(30):
    many = [many] * 10
torch.save(many, here / "many.pt")
with zipfile.ZipFile(here / "packed.pt", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr(zipfile.ZipInfo("packed/data.pkl"), b"\x80\x02" + b"]" * 1_000_000 + b".", zipfile.ZIP_DEFLATED)
small = {"x": torch.arange(3.0), "y": [torch.ones(1, dtype=torch.bfloat16)]}
torch.save(small, here / "small.pt")
torch.save(small, here / "small_legacy.pt", _use_new_zipfile_serialization=False)
del every['a "name"\n']
save_file(every, here / "plain.safetensors", {"format": "pt"})
