"""Functions of each element, of one tensor and of several."""

import numpy as np
import torch
import torch.nn.functional as F

from cases import *

# Every method here, over dtypes and odd shapes; `low` and `high` are where it is well defined.


def unary(name, function, low=-3.0, high=3.0, of_ints=True, **arguments):
    for x in [
        floats((2, 3), low, high),
        floats((), low, high),
        floats((0, 3), low, high),
        floats((1,), low, high),
        floats((5,), low, high, "f16"),
        floats((3, 1, 2), low, high, "bf16"),
        floats((4,), low, high, "f64"),
        transposed(floats((3, 2), low, high)),
        expanded(floats((1, 3), low, high), 2, 3),
        strided(flipped(floats((7,), low, high), 0), 3),
    ]:
        case(name, function, [x], **arguments)
    for dtype in ["i32", "u8"] if of_ints else []:
        case(name, function, [ints((4,), int(np.ceil(low)), int(high) + 1, dtype)], **arguments)


for name, low, high in [
    ("neg", -3, 3),
    ("abs", -3, 3),
    ("sign", -3, 3),
    ("square", -3, 3),
    ("sqrt", 0.1, 9),
    ("rsqrt", 0.2, 9),
    ("reciprocal", 0.3, 4),
    ("exp", -4, 4),
    ("exp2", -4, 4),
    ("log", 0.1, 9),
    ("log2", 0.1, 9),
    ("log10", 0.1, 9),
    ("sin", -7, 7),
    ("cos", -7, 7),
    ("tan", -1.3, 1.3),
    ("erf", -3, 3),
    ("trunc", -5, 5),
    ("floor", -5, 5),
    ("ceil", -5, 5),
    ("round", -5, 5),
    ("sigmoid", -6, 6),
    ("tanh", -4, 4),
]:
    unary(name, getattr(torch, name), low, high)
    for dtype in ["f32", "f64"]:  # of NaN, sign is 0 in PyTorch alone
        if name == "sign":
            case(name, np.sign, [specials(dtype)], numpy=True)
        else:
            case(name, getattr(torch, name), [specials(dtype)], grad=False)

for name in ["isnan", "isinf", "isfinite", "logical_not"]:
    unary(name, getattr(torch, name))
    for dtype in FLOATS:
        case(name, getattr(torch, name), [specials(dtype)])
case("logical_not", torch.logical_not, [bools((3, 2))])

for dtype in ["bool", "i8", "i16", "i32", "i64", "u8"]:
    case("bitwise_not", torch.bitwise_not, [numbers((2, 3), dtype)])
for dtype in ["u16", "u32", "u64"]:
    case("bitwise_not", np.bitwise_not, [specials(dtype)], numpy=True)
case("bitwise_not", torch.bitwise_not, [ints((0, 2))])
case("bitwise_not", torch.bitwise_not, [transposed(ints((2, 3), dtype="i64"))])

for dtype in ["i8", "i16", "i32", "i64"]:
    for name in ["neg", "abs", "sign", "square"]:
        case(name, getattr(torch, name), [specials(dtype)])
for dtype in ["f16", "f32", "f64"]:
    halves = values([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.49999997, 1e4], dtype)
    for name in ["round", "trunc", "floor", "ceil"]:
        case(name, getattr(torch, name), [halves])

for name, function in [
    ("relu", F.relu),
    ("relu6", F.relu6),
    ("silu", F.silu),
    ("swish", F.silu),
    ("mish", F.mish),
    ("logsigmoid", F.logsigmoid),
]:
    unary(name, function, -8, 8, of_ints=False)
    case(name, function, [values([-100.0, -30.0, 30.0, 100.0])])
case("sigmoid", torch.sigmoid, [values([-1000.0, -100.0, 0.0, 100.0, 1000.0])])
case("tanh", torch.tanh, [values([-1000.0, -100.0, 0.0, 100.0, 1000.0])])
case("cos", torch.cos, [values([1e4, -1e5, 1e6])], grad=False)
for low, high in [(None, None), (-2, 0.5), (0, 1)]:
    range_ = {"min_val": low, "max_val": high}
    unary(
        "hardtanh",
        lambda x, min_val, max_val: F.hardtanh(
            x, -1.0 if min_val is None else min_val, 1.0 if max_val is None else max_val
        ),
        -3,
        3,
        of_ints=False,
        **range_,
    )
for slope in [None, 0.3, -0.5]:
    unary(
        "leaky_relu",
        lambda x, neg_slope: F.leaky_relu(x, 0.01 if neg_slope is None else neg_slope),
        of_ints=False,
        neg_slope=slope,
    )
for alpha in [None, 0.5]:
    unary("elu", lambda x, alpha: F.elu(x, 1.0 if alpha is None else alpha), of_ints=False, alpha=alpha)
for beta in [None, 3.0]:
    unary(
        "softplus",
        lambda x, beta: F.softplus(x, 1.0 if beta is None else beta, threshold=1e9),
        of_ints=False,
        beta=beta,
    )
for form in ["tanh", "none"]:
    unary("gelu", F.gelu, of_ints=False, approximate=form)

# Two tensors: shapes that broadcast, and views.

PAIRS = [
    ((2, 3), (2, 3)),
    ((2, 3), (3,)),
    ((2, 1), (1, 3)),
    ((), (2,)),
    ((), ()),
    ((0, 3), (1, 3)),
    ((1,), (1,)),
]


def binary(name, function, low=-3, high=3, dtypes=("f32",), make=floats, **arguments):
    for (a, b), dtype in product(PAIRS, dtypes):
        case(name, function, [make(a, low, high, dtype=dtype), make(b, low, high, dtype=dtype)], **arguments)
    dtype = dtypes[0]
    views = transposed(make((3, 2), low, high, dtype=dtype)), expanded(
        make((1, 3), low, high, dtype=dtype), 2, 3
    )
    case(name, function, views, **arguments)
    case(name, function, views[::-1], **arguments)


ARITHMETIC = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "eq": torch.eq,
    "ne": torch.ne,
}
for name, function in ARITHMETIC.items():
    binary(name, function, 0.5 if name == "div" else -3, 3)
    for dtype in ["f16", "bf16", "f64"]:
        case(name, function, [floats((2, 3), 0.5, 3, dtype), floats((2, 1), 0.5, 3, dtype)])
    for dtype in ["i8", "i32", "i64", "u8"]:
        case(name, function, [ints((2, 3), 1, 9, dtype), ints((3,), 1, 9, dtype)])
    for dtype in ["u16", "u32", "u64"]:
        numpys = {
            "div": lambda a, b: (a / b).astype("f4"),
            "eq": np.equal,
            "ne": np.not_equal,
            "add": np.add,
            "sub": np.subtract,
            "mul": np.multiply,
            "maximum": np.maximum,
            "minimum": np.minimum,
        }
        case(name, numpys[name], [ints((3,), 1, 9, dtype), ints((3,), 1, 9, dtype)], numpy=True)
    a, b = specials(), flipped(specials(), 0)
    case(name, function, [a, b], grad=False)
for name in ["add", "sub", "mul", "div", "maximum", "minimum", "eq", "ne"]:
    for x, number in [
        (floats((2, 3)), 2),
        (floats((3,)), -1.5),
        (ints((3,)), 2),
        (ints((2,)), 0.5),
        (floats((2,), dtype="f16"), 3),
        (floats((), dtype="bf16"), 0.25),
        (floats((0,)), 1),
    ]:
        wanted = torch.result_type(x, number)
        case(name, lambda x, other: ARITHMETIC[name](x, torch.tensor(other, dtype=wanted)), [x], other=number)
for name, function in [("maximum", torch.maximum), ("minimum", torch.minimum)]:
    case(name, function, [values([1, 2, 3]), values([1, 3, 2])])  # equal ones share the gradient

for dtype in ["f32", "f64", "i32", "i8", "i64"]:
    signs = values([7, -7, 7, -7, 6, -6], dtype), values([3, 3, -3, -3, 2, -2], dtype)
    case("mod", torch.remainder, signs, grad=False)
binary("mod", torch.remainder, 1, 9, ["i32"], ints)
binary("mod", torch.remainder, 0.5, 3, grad=False)
case("mod", torch.remainder, [floats((2, 3), -9, 9)], other=2.5)
case("mod", torch.remainder, [ints((2, 3))], other=-4)

binary("pow", torch.pow, 0.3, 2.5)
binary("pow", torch.pow, 0, 5, ["i32"], ints)
for dtype in ["f16", "bf16", "f64"]:
    case("pow", torch.pow, [floats((2, 3), 0.4, 2, dtype), floats((3,), -2, 2, dtype)])
for exponent in [2, 3, -1, 0, 0.5, -2.5, 1, 1.0]:
    case("pow", torch.pow, [floats((2, 3), 0.3, 3)], exponent=exponent)
for exponent in [2, 3, -1, 0]:
    case("pow", torch.pow, [values([-2.0, -0.5, 0.5, 3.0])], exponent=exponent)
for exponent in [0, 1, 2, 5]:
    case("pow", torch.pow, [ints((2, 3))], exponent=exponent)
case("pow", torch.pow, [ints((3,), dtype="i64")], exponent=7)
case("pow", torch.pow, [values([-2, -2, -2, 2, 0, 0]), values([2, 3, -1, -1, 0, 2])], grad=False)
inf, nan = float("inf"), float("nan")
bases = values([0.0, -0.0, 1.0, -1.0, inf, -inf, nan, 2.0, 0.5, -2.0])
for exponent in [0.0, 1.0, -1.0, 2.0, 3.0, 0.5, inf, -inf, nan, -3.0]:
    case("pow", torch.pow, [bases, expanded(values([exponent]), 10)], grad=False)

# A dtype with each other one: what they are promoted to. PyTorch has no arithmetic on wide unsigned integers; u64
# with a signed one is f32 in weft, since no integer holds both.


def promoted(a, b):
    def unsigned_with(signed, unsigned):
        width = max(int(signed[1:]), 2 * int(unsigned[1:]))
        return f"i{width}" if width <= 64 else "f32"

    if a in UNSIGNED and b in UNSIGNED:
        return max(a, b, key=lambda x: int(x[1:]))
    if a in INTS and b in INTS and (a in UNSIGNED) != (b in UNSIGNED):
        return unsigned_with(*((b, a) if a in UNSIGNED else (a, b)))
    if {a, b} & set(UNSIGNED):
        other = b if a in UNSIGNED else a
        return other if other != "bool" else a if a in UNSIGNED else b
    return NAMES[torch.promote_types(DTYPES[a], DTYPES[b])]


ALL = ["bool"] + INTS + FLOATS
for i, a in enumerate(ALL):
    for b in ALL[i + 1 :]:
        pair = (a, b) if (i + ALL.index(b)) % 2 else (b, a)
        case(
            "add",
            lambda x, y: x.double() + y.double(),
            [numbers((3,), pair[0]), numbers((3,), pair[1])],
            out=promoted(a, b),
            grad=False,
            rtol=0.02 if "bf16" in pair else None,
        )
        case(
            "maximum",
            lambda x, y: torch.maximum(x.double(), y.double()),
            [numbers((3,), pair[1]), numbers((1,), pair[0])],
            out=promoted(a, b),
            grad=False,
        )
for a, b, out in [
    ("f8e4m3", "f8e5m2", "f16"),
    ("f8e4m3", "f16", "f16"),
    ("f8e5m2", "bf16", "bf16"),
    ("f8e5m2", "f32", "f32"),
    ("i32", "f8e4m3", "f8e4m3"),
]:
    data = values([0.5, -1.0, 2.0]).to(DTYPES[a]), values([0.25, 1.0, -4.0]).to(DTYPES[b])
    case("add", lambda x, y: x.double() + y.double(), data, out=out, grad=False)

# --- Three tensors and the rest ---------------------------------------------------------------------------

for shape, dtype in product([(2, 3), (), (0, 3), (1,)], ["f32", "f64", "i32", "bool"]):
    case("where", torch.where, [bools(shape), numbers(shape, dtype), numbers(shape, dtype)])
case("where", torch.where, [bools((2, 1)), floats((3,)), floats((2, 3))])
case(
    "where",
    torch.where,
    [transposed(bools((3, 2))), transposed(floats((3, 2))), expanded(floats((1, 3)), 2, 3)],
)
case("where", torch.where, [bools((3,)), floats((3,), dtype="f16"), floats((3,))])
case("where", torch.where, [bools((3,)), ints((3,)), floats((3,), dtype="f16")])
case("where", torch.where, [bools((3,)), ints((3,), dtype="u8"), ints((3,), dtype="i8")])
for number in [2, -1.5]:
    case("where", lambda c, x, y: torch.where(c, x, y), [bools((3,)), floats((3,))], y=number)

for shape, mask, value in [
    ((2, 3), (2, 3), 1.5),
    ((2, 3), (3,), -1),
    ((2, 3), (2, 1), 0),
    ((0, 2), (2,), 1),
    ((), (), 7),
    ((4,), (1,), float("-inf")),
]:
    case(
        "masked_fill",
        lambda x, mask, value: x.masked_fill(mask, value),
        [floats(shape), bools(mask)],
        value=value,
    )
case("masked_fill", lambda x, mask, value: x.masked_fill(mask, value), [ints((2, 3)), bools((2, 3))], value=5)
case(
    "masked_fill",
    lambda x, mask, value: x.masked_fill(mask, value),
    [transposed(floats((2, 3))), transposed(bools((2, 3)))],
    value=2.5,
)
case("masked_fill", lambda x, mask, value: x.masked_fill(mask, value), [bools((3,)), bools((3,))], value=True)

for a, b, w in [
    ((2, 3), (2, 3), (2, 3)),
    ((2, 3), (3,), ()),
    ((), (), ()),
    ((0,), (0,), (0,)),
    ((1,), (4,), (4,)),
]:
    case("lerp", torch.lerp, [floats(a), floats(b), floats(w, 0, 1)])
    case("lerp", torch.lerp, [floats(a, dtype="f64"), floats(b, dtype="f64")], weight=0.25)
case("lerp", torch.lerp, [transposed(floats((2, 3))), floats((3, 2)), expanded(floats((3, 1), 0, 1), 3, 2)])

for name, (low, high) in product(["clamp", "clip"], [(-1, 1), (0.5, None), (None, -0.25), (1, -1), (2, 2)]):
    limits = lambda x, min_, max_: torch.clamp(x, min_, max_)
    whole = all(v is None or isinstance(v, int) for v in (low, high))
    inputs = [
        floats((2, 3)),
        floats(()),
        floats((0, 2)),
        transposed(floats((2, 3))),
        floats((4,), dtype="f16"),
    ]
    for x in inputs + ([ints((5,)), ints((5,), dtype="i8")] if whole else []):
        case(name, limits, [x], min_=low, max_=high)
    case(name, limits, [specials()], grad=False, min_=low, max_=high)
case("clamp", lambda x, min_, max_: torch.clamp(x, min_, max_), [values([-1, 0, 1, 2])], min_=0, max_=1)

EXACT, EXTREME = [-1.0, 0.0, 1.0], [-400.0, -300.0, -200.0, 200.0, 300.0, 400.0]
case("relu", torch.relu, [values(EXACT)])
for approximate in ["none", "tanh"]:
    case("gelu", lambda x, approximate: torch.nn.functional.gelu(x, approximate=approximate), [values(EXTREME)], approximate=approximate)
case("pow", lambda x, exponent: torch.pow(x, exponent), [ints((2, 3), 0, 9)], exponent=0.5)
# Integers of any size, exactly; what is too large wraps.
for dtype in ["i32", "i64"]:
    case("pow", torch.pow, [values([3, -3, 2, 7, -1, 1, 0, 0], dtype), values([39, 39, 62, 3, 101, -5, 0, 9], dtype)])
    case("pow", torch.pow, [values([2, -2, -1, -1, 1], dtype), values([-1, -3, -2, -3, -4], dtype)])
case("pow", torch.pow, [values([200, 3, 2], "u8"), values([2, 200, 8], "u8")])
for name in ["lt", "le", "gt", "ge"]:
    function = getattr(torch, name)
    for inputs in [[values([1.0, 2, nan, inf, -0.0]), values([2.0, 2, 1, inf, 0])], [ints((2, 3)), ints((3,))], [floats((0, 3)), floats((1,))],
                   [transposed(ints((3, 2))), floats(())], [ints((2, 1), dtype="u8"), ints((3,), dtype="i8")]]:
        case(name, function, inputs)
    case(name, function, [floats((3,))], other=0.5)
