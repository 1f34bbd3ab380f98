#!/usr/bin/env python3
"""Writes gpt.txt and resnet50.txt: the losses of training steps, by PyTorch in double precision.

Beside each loss stands what PyTorch makes of it in single precision, to see how far apart two right answers
are. Needs torch. Usage: make.py [gpt | resnet50]...
"""
import pathlib
import sys

import torch

torch.set_num_threads(1)  # sums in one order
here = pathlib.Path(__file__).parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(here.parents[1] / "bench" / "peers"))
from train_models import Gpt, characters, classes, images, initialised, resnet50  # noqa: E402


def gpt(dtype):
    model = Gpt(words=65, layers=6, width=192, heads=6, context=128)
    initialised(model)
    model.to(dtype)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(100):
        text = characters(65, step, 16, 129)
        optimizer.zero_grad()
        loss = model.loss(text[:, :-1], text[:, 1:])
        loss.backward()
        optimizer.step()
        yield loss.item()


def residual(dtype):
    model = resnet50()
    initialised(model)
    model.to(dtype)
    optimizer = torch.optim.SGD(model.parameters(), lr=5e-4, momentum=0.9, weight_decay=1e-4)
    for _ in range(10):
        optimizer.zero_grad()
        loss = model.loss(images(4, 3, 64).to(dtype), classes(4, 1000))
        loss.backward()
        optimizer.step()
        yield loss.item()


CURVES = {"gpt": gpt, "resnet50": residual}
for name in sys.argv[1:] or CURVES:
    curves = zip(*(CURVES[name](dtype) for dtype in (torch.float64, torch.float32)))
    with open(here / f"{name}.txt", "w") as file:
        for double, single in curves:
            print(f"{double:.7f} {single:.7f}", file=file, flush=True)
