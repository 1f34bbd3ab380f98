"""Reductions over any axes, softmax, running sums."""

import numpy as np
import torch

from cases import *

SHAPES_AXES = [
    ((2, 3), None),
    ((2, 3), 0),
    ((2, 3), -1),
    ((2, 3, 4), [0, 2]),
    ((2, 3, 4), 1),
    ((3, 1, 2), [1]),
    ((), None),
    ((1,), 0),
    ((5,), None),
]


def over(function):
    """function(x, axes, keepdim) as one over one axis, several or all."""

    def call(x, axis=None, keepdim=False, **more):
        axes = list(range(x.dim())) if axis is None else axis if isinstance(axis, list) else [axis]
        return function(x, axes, keepdim, **more)

    return call


def prod(x, axes, keepdim):
    for axis in sorted((a % x.dim() for a in axes), reverse=True):
        x = x.prod(axis, keepdim=keepdim)
    return x


def logical(function):
    def call(x, axes, keepdim):
        for axis in sorted((a % x.dim() for a in axes), reverse=True):
            x = function(x, axis, keepdim=keepdim)
        return x.bool()

    return call


def sums(x, axes, keepdim):
    return torch.sum(x, axes, keepdim=keepdim) if axes else x * 1


def reduction(name, function, make=distinct, dtypes=("f32",), **more):
    call = over(function)
    for (shape, axis), dtype, keepdim in product(SHAPES_AXES, dtypes, [False, True]):
        case(name, call, [make(shape, dtype=dtype)], axis=axis, keepdim=keepdim, **more)
    dtype = dtypes[0]
    case(name, call, [transposed(make((2, 3), dtype=dtype))], axis=0, keepdim=False, **more)
    case(name, call, [expanded(make((2, 1), dtype=dtype), 2, 4)], axis=1, keepdim=False, **more)
    case(
        name, call, [strided(flipped(make((7, 2), dtype=dtype), 0), 2, 1)], axis=[0, 1], keepdim=True, **more
    )


EXTREMES = {"max": torch.amax, "min": torch.amin}
FLOATING = {
    "sum": sums,
    "prod": prod,
    "mean": lambda x, axes, keepdim: torch.mean(x, axes, keepdim=keepdim),
    "logsumexp": lambda x, axes, keepdim: torch.logsumexp(x, axes, keepdim=keepdim),
    **EXTREMES,
}
for name, function in FLOATING.items():
    reduction(name, function)
    for dtype in ["f16", "bf16", "f64"]:
        case(name, over(function), [distinct((3, 4), dtype=dtype)], axis=1)
        case(name, over(function), [distinct((3, 4), dtype=dtype)], axis=[0])
for name, function in {
    "sum": sums,
    "prod": prod,
    "mean": FLOATING["mean"],
    "any": logical(torch.any),
    "all": logical(torch.all),
    "logsumexp": FLOATING["logsumexp"],
}.items():
    case(name, over(function), [floats((0, 3))], axis=0)
    case(name, over(function), [floats((0, 3))], axis=1)
    case(name, over(function), [floats((2, 0, 3))], axis=[1], keepdim=True)
for name, function in EXTREMES.items():
    case(name, over(function), [floats((0, 3))], axis=1)
    case(name, over(function), [values([[1, 3, 3], [2, 2, 2]])], axis=1)  # equal ones share the gradient
    for dtype in INTS[:5]:
        case(name, over(function), [specials(dtype)])
        case(name, over(function), [ints((3, 4), dtype=dtype)], axis=0)
    for dtype in ["u16", "u32", "u64"]:
        case(name, getattr(np, name), [specials(dtype)], numpy=True)
    case(name, over(function), [bools((3, 4))], axis=1)
    for data in [[1, float("nan"), 2], [float("inf"), 1], [-float("inf"), -float("inf")], [float("nan")] * 2]:
        case(name, over(function), [values(data)], grad=False)

for dtype in ["bool", "i8", "i16", "i32", "i64", "u8"]:
    for name in ["sum", "prod"]:
        case(name, over(FLOATING[name]), [numbers((3, 4), dtype)], axis=1)
        case(name, over(FLOATING[name]), [numbers((2, 3), dtype)])
case("sum", over(torch.sum), [values([2147483647, 1]).to(torch.int32)])
for dtype in ["u16", "u32", "u64"]:
    case(
        "sum",
        lambda x, axis: x.sum(axis),
        [ints((3, 4), dtype=dtype)],
        axis=0,
        numpy=True,
        out="u64" if dtype == "u64" else "i64",
    )
for dtype in ["i32", "i8", "u8", "bool"]:
    case("mean", lambda x, axis: x.float().mean(axis), [numbers((3, 4), dtype)], axis=1)
for dtype, to in [("f16", "f32"), ("f32", "f64"), ("i8", "i64"), ("i32", "f32"), ("f32", "f16")]:
    for name in ["sum", "prod"]:
        case(
            name,
            lambda x, axis, dtype: getattr(torch, name)(x, axis, dtype=DTYPES[dtype]),
            [numbers((3, 4), dtype)],
            axis=1,
            dtype=to,
            rtol=5e-3 if to == "f16" else None,
        )
case("sum", lambda x: x.double().sum(), [floats((3000,), 0, 1, "f16")], out="f16", grad=False)
case("sum", lambda x: x.double().sum(), [floats((3000,), 0, 1, "bf16")], out="bf16", grad=False)
for data in [[1, float("nan")], [float("inf"), -float("inf")], [float("inf"), 1]]:
    for name in ["sum", "prod", "mean"]:
        case(name, over(FLOATING[name]), [values(data)], grad=False)
for data in [
    [-float("inf"), 1],
    [-float("inf"), -float("inf")],
    [float("inf"), 1],
    [1000, 1000.5],
    [-1000, -1001],
]:
    case("logsumexp", over(FLOATING["logsumexp"]), [values(data)], grad=False)
for zeros in [[2, 0, 3], [0, 0, 3], [-1, -2, -3]]:
    case("prod", over(prod), [values(zeros)])

for correction in [None, 0, 2]:
    for name, function in [("var", torch.var), ("std", torch.std)]:
        call = lambda x, axes, keepdim, correction=None: function(
            x, axes, keepdim=keepdim, correction=1 if correction is None else correction
        )
        for (shape, axis), keepdim in product(
            [((3, 4), None), ((3, 4), 0), ((5, 2, 4), [0, 2]), ((4, 3), -1)], [False, True]
        ):
            case(name, over(call), [distinct(shape)], axis=axis, keepdim=keepdim, correction=correction)
        case(name, over(call), [transposed(distinct((3, 5)))], axis=1, correction=correction)
        case(name, over(call), [distinct((5,), dtype="f64")], correction=correction)
        case(name, over(call), [distinct((2, 5), dtype="f16")], axis=1, correction=correction, grad=False)
        case(name, over(call), [floats((1,))], correction=correction, grad=False)

for name, function in [("any", logical(torch.any)), ("all", logical(torch.all))]:
    reduction(name, function, lambda shape, dtype: bools(shape))
    for dtype in ["i32", "u8", "f32", "f64", "f16"]:
        case(name, over(function), [ints((4, 3), 0, 2, "i32").to(DTYPES[dtype])], axis=1)
    case(name, over(function), [values([float("nan"), 0])])

for name, function in [("argmax", torch.argmax), ("argmin", torch.argmin)]:
    call = lambda x, axis=None, keepdim=False: function(x, axis, keepdim=keepdim)
    for (shape, axis), keepdim in product(
        [((2, 3), None), ((2, 3), 0), ((4, 3), -1), ((2, 3, 4), 1), ((1,), 0), ((), None)], [False, True]
    ):
        case(name, call, [distinct(shape)], axis=axis, keepdim=keepdim and axis is not None, out="i32")
    for dtype in ["f16", "f64", "i32", "i8", "u8", "i64"]:
        case(name, call, [distinct((3, 5), 0, 100, dtype)], axis=1, out="i32")
    case(name, call, [transposed(distinct((3, 5)))], axis=0, out="i32")
    case(name, call, [floats((0, 3))], axis=1, out="i32")
    case(name, call, [values([2, 7, 7, 2, 2])], out="i32")
    case(name, call, [values([2.0, float("nan"), 7.0, float("nan")])], out="i32")
    case(name, call, [values([float("inf"), float("inf"), -float("inf"), -float("inf")])], out="i32")

for name, function in [("softmax", torch.softmax), ("log_softmax", torch.log_softmax)]:
    call = lambda x, axis=None: function(x, -1 if axis is None else axis)
    for shape, axis in [
        ((2, 3), None),
        ((2, 3), 0),
        ((2, 3, 4), 1),
        ((5,), 0),
        ((1,), 0),
        ((3, 1), 1),
        ((0, 3), 1),
        ((2, 0), 0),
    ]:
        case(name, call, [floats(shape)], axis=axis)
    for dtype in ["f16", "bf16", "f64"]:
        case(name, call, [floats((3, 4), dtype=dtype)], axis=1)
    case(name, call, [transposed(floats((3, 4)))], axis=0)
    case(name, call, [expanded(floats((1, 3)), 2, 3)], axis=1)
    case(name, call, [values([1000, 1001, 999])])
    case(name, call, [values([-float("inf"), 0, 1])], grad=False)
    case(name, call, [values([float("nan"), 0, 1])], grad=False)

call = lambda x, axis: torch.cumsum(x, axis)
for shape, axis in [
    ((5,), 0),
    ((2, 3), 0),
    ((2, 3), 1),
    ((2, 3, 4), -2),
    ((1,), 0),
    ((0, 3), 0),
    ((3, 0), 0),
    ((300,), 0),
]:
    case("cumsum", call, [floats(shape)], axis=axis)
for dtype in ["f16", "bf16", "f64", "i32", "i64", "i8", "u8", "bool"]:
    case("cumsum", call, [numbers((3, 4), dtype)], axis=1)
case("cumsum", call, [transposed(floats((3, 4)))], axis=1)
case("cumsum", call, [flipped(floats((6,)), 0)], axis=0)

case("sum", lambda x, axis: torch.sum(x, axis), [floats((5, 1))], axis=1)
for name in ["var", "std"]:
    for shape, axis in [((0, 3), 0), ((2, 0, 3), 1), ((3, 1), 1)]:
        case(name, lambda x, axis: getattr(torch, name)(x, axis), [floats(shape)], axis=axis, grad=False)

# A scalar has axis 0 for what reduces.
for axis, keepdim in product([0, -1], [False, True]):
    for name, function in [("sum", torch.sum), ("prod", torch.prod), ("mean", torch.mean), ("max", torch.amax),
                           ("logsumexp", torch.logsumexp)]:
        case(name, lambda x, axis, keepdim: function(x, axis, keepdim), [floats(())], axis=axis, keepdim=keepdim)
    case("argmin", lambda x, axis, keepdim: torch.argmin(x, axis, keepdim), [floats(())], axis=axis, keepdim=keepdim, out="i32")
for name in ["softmax", "log_softmax"]:
    case(name, lambda x, axis: getattr(torch, name)(x, axis), [floats(())], axis=0)
for shape in [(2, 3), (4,), (), (1, 2, 2)]:
    case("argmax", lambda x, keepdim: torch.argmax(x, keepdim=keepdim), [distinct(shape)], keepdim=True, out="i32")
# The root has no slope where all elements are equal.
case("std", over(lambda x, axes, keepdim: torch.std(x, axes)), [values([[2, 2], [1, 3]])], axis=1)
for name in ["amax", "amin"]:
    for x, axis, keepdim in [(floats((2, 3)), None, False), (transposed(distinct((3, 4))), 1, True), (values([[1, 3, 3], [2, 2, 2]]), [1], False),
                             (floats((0, 3)), 1, False), (ints((2, 3, 2)), [0, -1], False), (floats((1,)), 0, False)]:
        case(name, over(getattr(torch, name)), [x], axis=axis, keepdim=keepdim)
