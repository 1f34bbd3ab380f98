"""What is counted along an axis: sums, products, extremes, differences."""

import numpy as np
import torch

from cases import *

SHAPES_AXES = [((5,), 0), ((2, 3), 0), ((2, 3), 1), ((2, 3, 4), -2), ((1,), 0), ((0, 3), 0), ((3, 0), 0), ((3, 1), 1)]
LONG = [513, 700, 1100]

for name in ["cumsum", "cumprod", "logcumsumexp"]:
    call = lambda x, axis: getattr(torch, name)(x, axis)
    for shape, axis in SHAPES_AXES:
        case(name, call, [floats(shape)], axis=axis)
    for dtype in ["f16", "bf16", "f64"]:
        case(name, call, [floats((3, 4), 0.2, 1.5, dtype)], axis=1)
    case(name, call, [transposed(floats((3, 4)))], axis=1)
    case(name, call, [flipped(floats((6,)), 0)], axis=0)
    case(name, call, [expanded(floats((1, 3)), 4, 3)], axis=0)
    case(name, call, [values(1.5)], axis=0)
    for size in LONG:
        low, high = (0.99, 1.01) if name == "cumprod" else (-1, 1)
        case(name, call, [floats((size,), low, high, "f64")], axis=0)
    case(name, call, [values([1.0, float("nan"), 2.0])], axis=0, grad=False)
    case(name, call, [values([1.0, float("inf"), 2.0, -float("inf"), 1.0])], axis=0, grad=False)
for name in ["cumsum", "cumprod"]:
    call = lambda x, axis: getattr(torch, name)(x, axis)
    for dtype in ["i32", "i64", "i8", "u8", "bool"]:
        case(name, call, [numbers((3, 4), dtype)], axis=1)
    case(name, call, [ints((600,), -1, 2)], axis=0)
for zeros in [[2, 0, 3, 4], [0, 0, 3, 1], [-1, -2, -3, 0], [1, 2, 0, 0]]:
    case("cumprod", lambda x, axis: torch.cumprod(x, axis), [values(zeros).float()], axis=0)
mixed = floats((3, 700), 0.99, 1.01, "f64")
mixed[1, 300] = 0
mixed[2, 20] = mixed[2, 650] = 0
case("cumprod", lambda x, axis: torch.cumprod(x, axis), [mixed], axis=1)
case("logcumsumexp", torch.logcumsumexp, [values([-float("inf"), -float("inf"), 1000.0, 1001.0])], dim=0, grad=False)
case("logcumsumexp", torch.logcumsumexp, [values([1000.0, 1001.0, -1000.0], "f64")], dim=0)

for name in ["cummax", "cummin"]:  # PyTorch gives the whole gradient to the last of equal ones
    call = lambda x, axis: getattr(torch, name)(x, axis)
    for shape, axis in SHAPES_AXES:
        case(name, call, [distinct(shape)], axis=axis, out=[None, "i32"])
    for dtype in ["f16", "f64", "i32", "i8", "u8", "i64"]:
        case(name, call, [distinct((3, 5), 0, 100, dtype)], axis=1, out=[None, "i32"])
    case(name, call, [bools((6,))], axis=0, out=[None, "i32"])
    case(name, call, [transposed(distinct((3, 4)))], axis=1, out=[None, "i32"])
    case(name, call, [flipped(distinct((6,)), 0)], axis=0, out=[None, "i32"])
    case(name, call, [values([2, 7, 7, 2, 2, 8])], axis=0, grad=False, out=[None, "i32"])
    case(name, call, [values([2.0, float("nan"), 7.0, float("nan"), 1.0])], axis=0, grad=False, out=[None, "i32"])
    case(name, call, [values([-float("inf"), float("inf"), 1.0])], axis=0, grad=False, out=[None, "i32"])
    case(name, call, [distinct((700,), dtype="f64")], axis=0, out=[None, "i32"])
    case(name, call, [ints((2, 600), -99, 99)], axis=1, out=[None, "i32"])

for x in [floats((5,)), floats((3, 4)), ints((4,)), floats((0,)), floats((1,)), transposed(floats((4, 3))), bools((5,))]:
    for n, axis in [(1, -1), (2, -1), (0, 0), (1, 0)]:
        case("diff", lambda x, n, axis: torch.diff(x, n, axis), [x], n=n, axis=axis)
case("diff", lambda x, a, b: torch.diff(x, prepend=a, append=b), [floats((2, 3)), floats((2, 1)), floats((2, 2))])
case("diff", lambda x, a: torch.diff(x, prepend=a), [floats((3,)), floats((1,))])

for name in ["cummax", "cummin"]:  # among equal ones the last has the gradient
    call = lambda x, axis: getattr(torch, name)(x, axis)
    for shape, axis in [((3, 7), 1), ((9, 2), 0), ((600,), 0)]:
        case(name, call, [ints(shape, 0, 9, "f32")], axis=axis, out=[None, "i32"])
