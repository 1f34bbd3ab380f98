"""The operators, also with a number on either side, and those that assign."""

import operator

import numpy as np
import torch

from cases import *

PAIRS = [((2, 3), (2, 3)), ((2, 1), (1, 3)), ((), (2,)), ((0, 3), (3,)), ((1,), (1,))]
REAL, WHOLE = ["f32", "f16", "f64", "i32", "u8"], ["i32", "i64", "u8", "bool"]


def two(name, function, dtypes, low=-9, **more):
    for (a, b), dtype in product(PAIRS, dtypes):
        make = lambda shape: (
            floats(shape, 0.5, 3, dtype)
            if dtype in FLOATS
            else bools(shape) if dtype == "bool" else ints(shape, low, 9, dtype)
        )
        case(name, function, [make(a), make(b)], **more)
    base = lambda: ints((3, 2), low, 9).to(DTYPES[dtypes[0]])
    case(
        name,
        function,
        [transposed(base()), flipped(expanded(ints((1, 3), low, 9).to(DTYPES[dtypes[0]]), 2, 3), 1)],
        **more,
    )


for name in ["add", "sub", "mul", "truediv"]:
    two(f"__{name}__", getattr(operator, name), REAL, 1)
for name in ["lt", "le", "gt", "ge", "eq", "ne"]:
    two(f"__{name}__", getattr(operator, name), REAL + ["i64"], 0)
    case(f"__{name}__", getattr(operator, name), [specials(), flipped(specials(), 0)])
for name in ["and_", "or_", "xor"]:
    two(f"__{name.strip('_')}__", getattr(operator, name), WHOLE)
for name in ["lshift", "rshift"]:
    for dtype in ["i32", "i64", "u8", "i8"]:
        for a, b in PAIRS:
            case(f"__{name}__", getattr(operator, name), [ints(a, 0, 15, dtype), ints(b, 0, 4, dtype)])
    case(f"__{name}__", getattr(operator, name), [transposed(ints((3, 2), 0, 9)), ints((2, 3), 0, 4)])
case("__rshift__", operator.rshift, [values([-7, -1, -128], "i8"), values([1, 3, 7], "i8")])
two("__mod__", torch.remainder, ["i32", "i64"], 1, grad=False)
two("__mod__", torch.remainder, ["f32"], 1, grad=False)
two("__floordiv__", operator.floordiv, ["i32", "i64", "u8"], 1)
two("__pow__", operator.pow, ["f32", "f64"], 1)
for a in [values([7, -7, 7, -7], "i32")]:
    case("__floordiv__", operator.floordiv, [a, values([2, 2, -2, -2], "i32")])
    case("__mod__", torch.remainder, [a, values([2, 2, -2, -2], "i32")])
for a, b in [((2, 3), (3, 2)), ((3,), (3,)), ((2, 2, 3), (3, 1)), ((0, 2), (2, 3)), ((1, 1), (1, 1))]:
    case("__matmul__", operator.matmul, [floats(a), floats(b)], atol=1e-5)
case("__matmul__", operator.matmul, [transposed(floats((3, 2))), floats((3, 2))])

for x in [
    floats((2, 3)),
    floats(()),
    floats((0, 2)),
    floats((3,), dtype="f16"),
    ints((4,)),
    transposed(floats((2, 3))),
]:
    case("__neg__", operator.neg, [x])
for x in [
    ints((2, 3)),
    bools((3,)),
    ints((), dtype="u8"),
    ints((0,), dtype="i64"),
    transposed(ints((2, 3), dtype="i8")),
]:
    case("__invert__", operator.invert, [x])

# The number comes first.
INPUTS = [
    floats((2, 3), 0.5, 3),
    floats((), 0.5, 3),
    floats((0, 2)),
    floats((3,), 0.5, 3, "f16"),
    ints((4,), 1, 9),
    transposed(floats((3, 2), 0.5, 3)),
]
for name, x, number in product(["add", "sub", "mul", "truediv"], INPUTS, [3, 2.5]):
    case(f"__r{name}__", lambda x, other: getattr(operator, name)(other, x), [x], other=number)
for name, x in product(
    ["and_", "or_", "xor", "lshift", "rshift"],
    [
        ints((2, 3), 0, 5),
        ints((), 0, 5),
        ints((0,), 0, 5),
        ints((3,), 0, 5, "i64"),
        transposed(ints((2, 3), 0, 5)),
    ],
):
    case(
        f"__r{name.strip('_')}__",
        lambda x, other: getattr(
            torch,
            {
                "and_": "bitwise_and",
                "or_": "bitwise_or",
                "xor": "bitwise_xor",
                "lshift": "bitwise_left_shift",
                "rshift": "bitwise_right_shift",
            }[name],
        )(torch.full_like(x, other), x),
        [x],
        other=6,
    )
for x in [
    ints((2, 3), 1, 5),
    ints((), 1, 5),
    ints((0,), 1, 5),
    ints((3,), 1, 5, "i64"),
    transposed(ints((2, 3), 1, 5)),
]:
    case("__rmod__", lambda x, other: torch.remainder(other, x), [x], other=17)


# What assigns is seen through the view that it assigned to, and in the base.
def assigned(name):
    def call(x, y=None, other=None):
        # a view of this storage: expand and flip have none in PyTorch
        getattr(x, name)(y if other is None else other)
        return [x.clone(), (x if x._base is None else x._base).clone()]

    return call


for name in ["add", "sub", "mul", "div"]:
    method = "__itruediv__" if name == "div" else f"__i{name}__"
    make = lambda shape, dtype="f32": floats(shape, 0.5, 3, dtype)
    for inputs in [
        [make((2, 3)), make((2, 3))],
        [make((2, 3)), make((3,))],
        [make(()), make(())],
        [make((0, 3)), make((3,))],
        [make((1,)), make((1,))],
        [make((3,), "f16"), make((3,), "f16")],
        [transposed(make((3, 2))), make((2, 3))],
        [strided(make((5,)), 2), make((3,))],
        [shrunk(make((4, 4)), 1, 3, 0, 2), make((2, 2))],
    ]:
        case(method, assigned(f"{name}_"), inputs, grad=False)
    for number in [2, 0.5]:
        case(method, assigned(f"{name}_"), [make((2, 3))], other=number, grad=False)

whole = lambda shape, dtype="i32": ints(shape, 1, 9, dtype)
for name, function in {
    "floordiv": "floor_divide_",
    "and": "bitwise_and_",
    "or": "bitwise_or_",
    "xor": "bitwise_xor_",
    "lshift": "bitwise_left_shift_",
    "rshift": "bitwise_right_shift_",
    "pow": "pow_",
}.items():
    for inputs in [
        [whole((2, 3)), whole((2, 3))],
        [whole((2, 3)), whole((3,))],
        [whole((0, 3)), whole((3,))],
        [whole((1,), "i64"), whole((1,), "i64")],
        [transposed(whole((3, 2))), whole((2, 3))],
        [shrunk(whole((4, 4)), 1, 3, 0, 2), whole((2, 2))],
    ]:
        case(f"__i{name}__", assigned(function), inputs, grad=False)
    case(f"__i{name}__", assigned(function), [whole((2, 3))], other=2, grad=False)
case("__ifloordiv__", assigned("floor_divide_"), [floats((2, 3), 0.5, 9), floats((3,), 0.5, 3)], grad=False)
case("__ipow__", assigned("pow_"), [floats((2, 3), 0.5, 3), floats((3,), -1, 2)], grad=False)
for x in [
    ints((2, 3), 1, 5),
    ints((), 1, 5),
    ints((0,), 1, 5),
    ints((3,), 1, 5, "i64"),
    transposed(ints((2, 3), 1, 5)),
]:
    case("__rfloordiv__", lambda x, other: torch.full_like(x, other) // x, [x], other=17)
    case("__rpow__", lambda x, other: other**x, [x], other=3)
    case("__rpow__", lambda x, other: other ** x.float(), [x.base if isinstance(x, View) else x], other=1.5)
case("__rfloordiv__", lambda x, other: other // x, [floats((2, 3), 0.5, 3)], other=7.5, grad=False)
case("__rpow__", lambda x, other: other**x, [floats((2, 3), -3, 3)], other=2.5)
