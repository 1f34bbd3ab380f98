"""Movement: what only looks at a tensor from elsewhere, and what puts tensors together."""

import numpy as np
import torch
import torch.nn.functional as F

from cases import *


def table(name, function, rows, dtypes=("f32",)):
    """Rows of a shape and arguments; of each also a transposed view where there are two axes."""
    for (shape, arguments), dtype in product(rows, dtypes):
        case(name, function, [numbers(shape, dtype)], **arguments)
        if len(shape) > 1:
            base = numbers(shape[:-2] + (shape[-1], shape[-2]), dtype)
            case(name, function, [transposed(base)], **arguments)


EVERY = ["f32", "i64", "bool", "f16"]

RESHAPES = [
    ((2, 3), {"shape": [3, 2]}),
    ((2, 3), {"shape": [-1]}),
    ((6,), {"shape": [2, -1]}),
    ((), {"shape": [1, 1]}),
    ((0, 3), {"shape": [3, 0]}),
    ((1,), {"shape": []}),
    ((2, 3, 4), {"shape": [4, 3, 2]}),
]
for name in ["reshape", "view"]:
    table(name, lambda x, shape: x.reshape(shape), RESHAPES, EVERY[:2])
case("reshape", lambda x, shape: x.reshape(shape), [expanded(floats((1, 3)), 4, 3)], shape=[2, 6])
case("reshape", lambda x, shape: x.reshape(shape), [strided(flipped(floats((6, 2)), 0, 1), 2, 1)], shape=[6])

table(
    "expand",
    lambda x, shape: x.expand(shape),
    [
        ((1, 3), {"shape": [4, 3]}),
        ((3,), {"shape": [2, 3]}),
        ((2, 1), {"shape": [-1, 3]}),
        ((), {"shape": [2, 2]}),
        ((1,), {"shape": [0]}),
        ((1, 0), {"shape": [2, 0]}),
        ((1, 1), {"shape": [1, 1]}),
    ],
    EVERY,
)
table(
    "permute",
    lambda x, order: x.permute(order),
    [
        ((2, 3), {"order": [1, 0]}),
        ((2, 3, 4), {"order": [2, 0, 1]}),
        ((2, 3, 1), {"order": [-1, 1, 0]}),
        ((), {"order": []}),
        ((0, 3), {"order": [1, 0]}),
        ((1,), {"order": [0]}),
    ],
    EVERY,
)
table(
    "flip",
    torch.flip,
    [
        ((2, 3), {"dims": [1]}),
        ((2, 3), {"dims": [0, 1]}),
        ((5,), {"dims": [-1]}),
        ((0, 3), {"dims": [0]}),
        ((1,), {"dims": [0]}),
        ((2, 3, 2), {"dims": [0, 2]}),
    ],
    EVERY,
)
table(
    "transpose",
    lambda x, dim0=1, dim1=0: x.transpose(dim0, dim1),
    [
        ((2, 3), {}),
        ((2, 3, 4), {"dim0": 0, "dim1": 2}),
        ((2, 3, 4), {"dim0": -1, "dim1": 1}),
        ((0, 3), {}),
        ((1, 1), {}),
        ((2, 3), {"dim0": 0, "dim1": 0}),
    ],
    EVERY[:2],
)
table(
    "T",
    lambda x: x.permute(list(range(x.dim()))[::-1]),
    [((2, 3), {}), ((2, 3, 4), {}), ((3,), {}), ((), {}), ((0, 2), {})],
    EVERY[:2],
)


def shrink(x, bounds):
    return x[tuple(slice(*bound) for bound in bounds)]


table(
    "shrink",
    shrink,
    [
        ((4, 5), {"bounds": [[1, 3], [0, 5]]}),
        ((6,), {"bounds": [[2, 5]]}),
        ((4,), {"bounds": [[2, 2]]}),
        ((1,), {"bounds": [[0, 1]]}),
        ((2, 3, 4), {"bounds": [[0, 1], [1, 3], [3, 4]]}),
        ((0, 3), {"bounds": [[0, 0], [1, 2]]}),
    ],
    EVERY,
)


def pad(x, padding, value=0):
    return F.pad(x, [n for pair in reversed(padding) for n in pair], value=value)


table(
    "pad",
    pad,
    [
        ((2, 3), {"padding": [[1, 0], [0, 2]]}),
        ((3,), {"padding": [[2, 1]], "value": 1.5}),
        ((), {"padding": []}),
        ((0,), {"padding": [[1, 2]], "value": -1.0}),
        ((1, 1), {"padding": [[0, 0], [1, 1]], "value": float("-inf")}),
        ((2, 3, 2), {"padding": [[1, 1], [0, 0], [0, 3]]}),
    ],
)
for dtype, value in [
    ("i32", 7),
    ("u8", 255),
    ("bool", True),
    ("f16", 0.5),
    ("i64", -1),
    ("f64", float("nan")),
]:
    case("pad", pad, [numbers((2, 2), dtype)], padding=[[1, 0], [0, 1]], value=value)

table(
    "squeeze",
    lambda x, dim=None: x.squeeze() if dim is None else x.squeeze(dim),
    [
        ((1, 3, 1), {}),
        ((1, 3, 1), {"dim": 0}),
        ((1, 3, 1), {"dim": -1}),
        ((2, 3), {"dim": 1}),
        ((1,), {}),
        ((), {}),
        ((1, 0), {}),
    ],
)
table(
    "unsqueeze",
    torch.unsqueeze,
    [
        ((2, 3), {"dim": 0}),
        ((2, 3), {"dim": 1}),
        ((2, 3), {"dim": -1}),
        ((), {"dim": 0}),
        ((0,), {"dim": 1}),
        ((3,), {"dim": -2}),
    ],
)
table(
    "flatten",
    lambda x, start_dim=0, end_dim=-1: x.flatten(start_dim, end_dim),
    [
        ((2, 3, 4), {}),
        ((2, 3, 4), {"start_dim": 1}),
        ((2, 3, 4), {"end_dim": 1}),
        ((), {}),
        ((0, 3), {}),
        ((1,), {}),
        ((2, 3, 4, 2), {"start_dim": 1, "end_dim": -2}),
    ],
)
table(
    "unflatten",
    lambda x, dim, sizes: x.unflatten(dim, sizes),
    [
        ((6, 2), {"dim": 0, "sizes": [2, 3]}),
        ((2, 6), {"dim": -1, "sizes": [3, -1]}),
        ((1,), {"dim": 0, "sizes": [1, 1, 1]}),
        ((0, 2), {"dim": 0, "sizes": [0, 4]}),
        ((4,), {"dim": 0, "sizes": [2, 1, 2]}),
    ],
)
table(
    "repeat",
    lambda x, repeats: x.repeat(repeats),
    [
        ((2, 3), {"repeats": [2, 1]}),
        ((2, 3), {"repeats": [1, 3]}),
        ((3,), {"repeats": [2, 2]}),
        ((), {"repeats": [3]}),
        ((0, 2), {"repeats": [2, 2]}),
        ((2, 1), {"repeats": [0, 2]}),
        ((1,), {"repeats": [1]}),
    ],
    EVERY[:2],
)
table(
    "roll",
    torch.roll,
    [
        ((2, 3), {"shifts": 2, "dims": 1}),
        ((2, 3), {"shifts": -1, "dims": 0}),
        ((5,), {"shifts": 7, "dims": 0}),
        ((0, 3), {"shifts": 1, "dims": 1}),
        ((1,), {"shifts": 3, "dims": 0}),
        ((2, 3, 4), {"shifts": 2, "dims": -1}),
    ],
    EVERY[:2],
)
table(
    "diagonal",
    lambda x: torch.diagonal(x, 0, -2, -1),
    [((3, 3), {}), ((2, 4), {}), ((2, 3, 2), {}), ((1, 1), {}), ((0, 3), {})],
    EVERY[:2],
)
for name in ["triu", "tril"]:
    table(
        name,
        getattr(torch, name),
        [
            ((3, 3), {}),
            ((2, 4), {"diagonal": 1}),
            ((2, 3, 3), {"diagonal": -1}),
            ((0, 3), {}),
            ((1, 1), {}),
            ((4, 2), {"diagonal": 5}),
        ],
        EVERY,
    )

# --- Several tensors -----------------------------------------------------------------------------------------

for name, function, rows in [
    (
        "cat",
        torch.cat,
        [
            ([(2, 3), (1, 3)], 0),
            ([(2, 3), (2, 1), (2, 2)], 1),
            ([(3,)], 0),
            ([(0, 3), (2, 3)], 0),
            ([(2, 1, 2), (2, 3, 2)], -2),
            ([(1,), (1,), (1,)], 0),
        ],
    ),
    (
        "stack",
        torch.stack,
        [
            ([(2, 3)] * 2, 0),
            ([(2, 3)] * 3, 1),
            ([(2, 3)] * 2, -1),
            ([()] * 2, 0),
            ([(0, 2)] * 2, 1),
            ([(3,)], 0),
        ],
    ),
]:
    for (shapes, dim), dtype in product(rows, EVERY):
        case(name, lambda *xs, dim: function(xs, dim), [numbers(shape, dtype) for shape in shapes], dim=dim)
    case(
        name,
        lambda *xs, dim: function(xs, dim),
        [transposed(floats((2, 3))), expanded(floats((1, 2)), 3, 2)],
        dim=1,
    )
    case(name, lambda *xs, dim: function(xs, dim), [ints((3,)), floats((3,))], dim=0)
    case(
        name,
        lambda *xs, dim: function(xs, dim),
        [ints((3,), dtype="i8"), ints((3,), dtype="u8"), floats((3,), dtype="f16")],
        dim=0,
    )

for shape, sizes, dim in [
    ((5, 2), 2, 0),
    ((5, 2), [1, 4], 0),
    ((2, 6), 3, 1),
    ((2, 6), [2, 0, 4], -1),
    ((3,), 5, 0),
    ((0, 2), 1, 0),
    ((1,), 1, 0),
]:
    for x in [floats(shape), ints(shape, dtype="i64")] + (
        [transposed(floats(shape[::-1]))] if len(shape) == 2 else []
    ):
        case("split", lambda x, sizes, dim: torch.split(x, sizes, dim), [x], sizes=sizes, dim=dim)
for shape, chunks, dim in [
    ((6, 2), 3, 0),
    ((5, 2), 3, 0),
    ((2, 7), 2, 1),
    ((3,), 5, 0),
    ((1,), 1, 0),
    ((2, 4), 4, -1),
]:
    for x in [floats(shape), ints(shape, dtype="i64")] + (
        [transposed(floats(shape[::-1]))] if len(shape) == 2 else []
    ):
        case("chunk", torch.chunk, [x], chunks=chunks, dim=dim)

# --- Basic indices: numbers, start:stop:step, ... and None. ---------------------------------------------------


def indexed(x, index):
    """Steps below zero are numpy's; here by an index of numbers, which has a gradient."""
    places = np.arange(x.numel()).reshape(x.shape)[eval(f"np.s_[{', '.join(index)}]")]
    return x.reshape(-1)[torch.from_numpy(np.array(places))]


for shape, index in [
    ((4, 5), ["1"]),
    ((4, 5), ["-1", "2"]),
    ((4, 5), ["1:3"]),
    ((4, 5), [":", "1:5:2"]),
    ((4, 5), ["::-1"]),
    ((4, 5), ["3:0:-2", "-3:"]),
    ((4, 5), ["...", "0"]),
    ((4, 5), ["None", "...", "2:2"]),
    ((2, 3, 4), ["...", "1:", "None"]),
    ((2, 3, 4), ["1", "...", "-1"]),
    ((5,), ["-100:100"]),
    ((5,), ["4:1"]),
    ((1,), ["0"]),
    ((), ["..."]),
    ((), ["None"]),
    ((0, 3), [":", "1"]),
    ((6,), ["::4"]),
    ((6,), ["-1:-5:-3"]),
    ((2, 3, 4), [":", "::-1", "::3"]),
]:
    case("__getitem__", indexed, [floats(shape)], index=index)
    case("__getitem__", indexed, [ints(shape, dtype="i16")], index=index)
    if len(shape) == 2:
        case("__getitem__", indexed, [transposed(floats(shape[::-1]))], index=index)

for classes, shape in [(4, (3,)), (3, (2, 2)), (1, (2,)), (5, ()), (3, (0,)), (10, (1,))]:
    case(
        "one_hot",
        lambda x, num_classes: F.one_hot(x.long(), num_classes),
        [ints(shape, 0, classes)],
        num_classes=classes,
        out="i32",
    )
case(
    "one_hot",
    lambda x, num_classes: F.one_hot(x.long(), num_classes),
    [transposed(ints((2, 3), 0, 4, "i64"))],
    num_classes=4,
    out="i32",
)

for shape, dim, index in [
    ((3, 4), 0, (2, 4)),
    ((3, 4), 1, (3, 2)),
    ((3, 4), -1, (2, 5)),
    ((5,), 0, (7,)),
    ((2, 3, 4), 1, (2, 2, 3)),
    ((1,), 0, (3,)),
    ((3, 4), 0, (0, 4)),
    ((4, 2), 1, (1, 1)),
]:
    for dtype in ["f32", "i64"]:
        case(
            "gather",
            lambda x, index, dim: torch.gather(x, dim, index.long()),
            [numbers(shape, dtype), ints(index, 0, shape[dim])],
            dim=dim,
        )
case(
    "gather",
    lambda x, index, dim: torch.gather(x, dim, index),
    [transposed(floats((3, 4))), transposed(ints((3, 2), 0, 4, "i64"))],
    dim=0,
)
for axis in [0, -1]:  # which a scalar has for what takes any number of axes
    case("flip", torch.flip, [floats(())], dims=[axis])
    case("squeeze", lambda x, dim: x.squeeze(dim), [floats(())], dim=axis)
