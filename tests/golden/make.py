#!/usr/bin/env python3
"""Writes data/GROUP.txt and data/GROUP.bin, for the groups given or for all, and names.txt.

Needs torch, numpy and scipy; the tests only read what it wrote. Usage: make.py [GROUP...]
"""

import importlib
import pathlib
import sys

import torch

here = pathlib.Path(__file__).parent
sys.path.insert(0, str(here))
sys.dont_write_bytecode = True
import cases  # noqa: E402
import names  # noqa: E402

torch.set_num_threads(1)  # sums in one order
groups = sys.argv[1:] or sorted(path.stem for path in (here / "groups").glob("*.py"))
for group in groups:
    recorder = cases.record(group)
    importlib.import_module(f"groups.{group}")
    recorder.write(here / "data" / group)
    print(f"{group}: {len(recorder.lines)} cases, {len(recorder.bytes)} bytes")
names.write()
