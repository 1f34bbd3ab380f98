#!/usr/bin/env python3
"""Writes gpt.txt and resnet50.txt: the losses of training steps, by PyTorch in double precision.

Weights, images and characters come from hashes that curves_test.cpp computes as well. Beside each loss stands
what PyTorch makes of it in single precision, to see how far apart two right answers are. Needs torch.
Usage: make.py [gpt | resnet50]...
"""
import pathlib
import sys

import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)  # sums in one order
here = pathlib.Path(__file__).parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(here.parents[1] / "bench" / "peers"))
from values import input_values  # noqa: E402


def hash_of(name):
    """FNV-1a, 32 bits."""
    bits = 0x811C9DC5
    for byte in name.encode():
        bits = (bits ^ byte) * 0x01000193 & 0xFFFFFFFF
    return bits


def initialise(model):
    """Matrices and kernels uniform within 1 / sqrt(inputs), what scales 1, what is added 0.

    Residual blocks end with less: where they add as much as there is, rounding errors grow in each.
    """
    for name, tensor in model.named_parameters():
        if tensor.ndim == 1:
            scale = 0.2 if name.endswith("bn3.weight") else 1
            nn.init.constant_(tensor, scale if name.endswith("weight") else 0)
            continue
        inputs = tensor[0].numel()
        with torch.no_grad():
            tensor.copy_(torch.from_numpy(input_values(tensor.shape, hash_of(name))) / inputs**0.5)


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.qkv, self.out, self.heads = nn.Linear(width, 3 * width), nn.Linear(width, width), heads

    def forward(self, x):
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(-2, -3)
                   for part in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(-2, -3).flatten(-2))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt(nn.Module):
    """examples/models/gpt.h."""

    def __init__(self, words, layers, width, heads, context):
        super().__init__()
        self.token, self.place = nn.Embedding(words, width), nn.Embedding(context, width)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens):
        x = self.token(tokens) + self.place.weight[:tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        return F.linear(self.norm(x), self.token.weight)

    def loss(self, tokens, targets):
        return F.cross_entropy(self(tokens).flatten(0, 1), targets.flatten())


def characters(words, step, batch, length):
    """Each character is one of two that the one before allows: a hash decides."""
    bits = input_values((batch, length), 1000 + step) > 0
    first = [[hash_of(f"{step} {row}") % words] for row in range(batch)]
    text = torch.tensor(first)
    for place in range(1, length):
        text = torch.cat([text, (3 * text[:, -1:] + 1 + torch.from_numpy(bits[:, place:place + 1]))
                          % words], 1)
    return text


def gpt(dtype):
    model = Gpt(words=65, layers=6, width=192, heads=6, context=128)
    initialise(model)
    model.to(dtype)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(100):
        text = characters(65, step, 16, 129)
        optimizer.zero_grad()
        loss = model.loss(text[:, :-1], text[:, 1:])
        loss.backward()
        optimizer.step()
        yield loss.item()


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3, self.bn3 = nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width)
        self.downsample = None
        if stride > 1 or inputs != 4 * width:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, 4 * width, 1, stride, bias=False),
                                            nn.BatchNorm2d(4 * width))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        y = self.bn3(self.conv3(F.relu(self.bn2(self.conv2(y)))))
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet50(nn.Module):
    """examples/models/resnet.h."""

    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64)
        inputs = 64
        for number, count in enumerate([3, 4, 6, 3]):
            blocks = []
            for block in range(count):
                blocks.append(Bottleneck(inputs, 64 << number, 2 if block == 0 < number else 1))
                inputs = 256 << number
            setattr(self, f"layer{number + 1}", nn.Sequential(*blocks))
        self.fc = nn.Linear(2048, 1000)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        for layer in (self.layer1, self.layer2, self.layer3, self.layer4):
            x = layer(x)
        return self.fc(x.mean((2, 3)))


def resnet50(dtype):
    model = ResNet50()
    initialise(model)
    model.to(dtype)
    optimizer = torch.optim.SGD(model.parameters(), lr=5e-4, momentum=0.9, weight_decay=1e-4)
    images = torch.from_numpy(input_values((4, 3, 64, 64), 1000)).to(dtype)
    classes = torch.tensor([hash_of(f"{row}") % 1000 for row in range(4)])
    for _ in range(10):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), classes)
        loss.backward()
        optimizer.step()
        yield loss.item()


for name in sys.argv[1:] or ["gpt", "resnet50"]:
    curves = zip(*(globals()[name](dtype) for dtype in (torch.float64, torch.float32)))
    with open(here / f"{name}.txt", "w") as file:
        for double, single in curves:
            print(f"{double:.7f} {single:.7f}", file=file, flush=True)
