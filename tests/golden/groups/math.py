"""Special functions, integer and bit arithmetic, comparisons within tolerances, norms, casts."""

import math

import numpy as np
import scipy.special
import torch

from cases import *


def unary(name, function, low=-3.0, high=3.0, of_ints=True, **arguments):
    for x in [
        floats((2, 3), low, high),
        floats((), low, high),
        floats((0, 3), low, high),
        floats((1,), low, high),
        floats((5,), low, high, "f16"),
        floats((3, 1, 2), low, high, "bf16"),
        floats((12,), low, high, "f64"),
        transposed(floats((3, 2), low, high)),
        expanded(floats((1, 3), low, high), 2, 3),
        strided(flipped(floats((7,), low, high), 0), 3),
    ]:
        case(name, function, [x], **arguments)
    for dtype in ["i32", "u8"] if of_ints else []:
        case(name, function, [ints((4,), math.ceil(low), int(high) + 1, dtype)], **arguments)


def precise(name, function, data, **more):
    """With tolerances of a few units in the last place, relative ones also near 0."""
    for dtype, rtol in [("f32", 1e-6), ("f64", 4e-15)]:
        rtol = more.get(dtype, rtol)
        wide = lambda x: function(x.double())
        case(name, wide, [values(data, dtype)], grad=False, out=dtype, rtol=rtol, atol=0.0)


# exp loses what its argument is long; lgamma and digamma the place next to their zeros.
PRECISION = {
    "sinh": {"f32": 4e-6, "f64": 1e-14},
    "cosh": {"f32": 4e-6, "f64": 1e-14},
    "erfinv": {"f64": 2e-14},
    "lgamma": {"f32": 4e-6, "f64": 1e-13},
    "digamma": {"f32": 1e-5, "f64": 1e-13},
}
near_zero = [1e-30, -1e-20, 1e-7, -1e-4, 1e-3, -0.01, 0.1, -0.3]
inf, nan = math.inf, math.nan
for name, low, high, more in [
    ("asin", -0.99, 0.99, near_zero + [0.5, -0.6, 0.9, 0.9999, -1.0, 1.0]),
    ("acos", -0.99, 0.99, [0.3, -0.4, 0.9, 0.999, 1.0, -1.0, -0.9999]),
    ("atan", -5, 5, near_zero + [0.4, -0.5, 1.0, -2.0, 2.5, 100, -1e10, 1e30, inf, -inf]),
    ("sinh", -4, 4, near_zero + [0.9, -1.1, 5, -20]),
    ("cosh", -4, 4, near_zero + [0.9, -1.1, 5, -20]),
    ("tanh", -4, 4, near_zero + [0.5, -0.7, 1.0, -3, 9, 20, -1000, inf]),
    ("asinh", -9, 9, near_zero + [0.9, -3, 1e4, -1e9, 1e15, 1e30, -inf]),
    ("acosh", 1.1, 9, [1.0, 1.0001, 1.5, 3, 1e4, 1e9, 1e15, 1e30, inf]),
    ("atanh", -0.99, 0.99, near_zero + [0.5, -0.9, 0.999, 1.0, -1.0]),
    ("expm1", -4, 4, near_zero + [0.49, 0.51, -0.49, -0.51, 3, -50, -inf, inf]),
    ("log1p", -0.9, 9, near_zero + [0.5, -0.9, 1.5, 100, 1e20, -1.0, inf]),
    ("erf", -3, 3, near_zero + [0.7, -0.99, 1.01, -2, 4, 30, -inf]),
    ("erfinv", -0.99, 0.99, near_zero + [0.4, -0.6, 0.9, -0.99, 0.9999, -0.999999, 1.0, -1.0]),
    ("lgamma", 0.1, 9, [1e-10, 0.3, 0.7, 1.5, 2.5, 3.5, 7, 50, 1e4, -0.5, -1.5, -3.7, inf]),
    ("digamma", 0.1, 9, [1e-5, 0.3, 0.7, 1.2, 2.5, 3.5, 7, 50, 1e4, -0.5, -1.6]),
]:
    function = getattr(torch, name)
    unary(name, function, low, high, of_ints=name not in ("acosh", "erfinv"))
    precise(name, function, more, **PRECISION.get(name, {}))
    if name not in ("digamma",):
        case(name, function, [specials()], grad=False)
    case(name, function, [values([nan, 0.0, -0.0])], grad=False)
unary("i0", torch.special.i0, -9, 9, of_ints=False)
precise("i0", torch.special.i0, near_zero + [1, -3, 7.9, 8.1, 20, -60], f32=6e-6, f64=3e-14)
unary("erfc", torch.erfc, -3, 3)
for dtype, data in [("f32", [-9, -1, 0.4, 0.6, 1.5, 3, 5, 9]), ("f64", [-9, -1, 0.4, 0.6, 1.5, 3, 5, 9, 20, 26])]:
    case("erfc", torch.erfc, [values(data, dtype)], grad=False, rtol=5e-7 if dtype == "f32" else 2e-15, atol=0.0)
case("erfc", torch.erfc, [specials()], grad=False)
case("lgamma", torch.lgamma, [values([0.0, -1.0, -2.0, -inf])], grad=False)
case("digamma", torch.digamma, [values([0.0, -0.0, -1.0, inf])], grad=False)
for name in ["lgamma", "erf", "tanh", "log1p", "expm1", "sinh", "asinh"]:
    case(name, getattr(torch, name), [values([1.3, -0.4 if name != "lgamma" else 0.4, 2.2, 4.0], "f64")])

unary("sinc", torch.sinc)
case("sinc", torch.sinc, [values([0.0, 1.0, -2.0, 0.5])])
case("sinc", torch.sinc, [values([1e-8, 1e4])], grad=False)
unary("deg2rad", torch.deg2rad, -400, 400, of_ints=False)
unary("rad2deg", torch.rad2deg, -9, 9, of_ints=False)
unary("frac", torch.frac, -5, 5, of_ints=False)
unary("signbit", torch.signbit)
for dtype in ["f16", "bf16", "f32", "f64"]:
    case("signbit", torch.signbit, [specials(dtype)[:-1]])

for positive, negative in [(True, True), (True, False), (False, True), (False, False)]:
    detect = {"detect_positive": positive, "detect_negative": negative}

    def one_sided(x, detect_positive, detect_negative):
        return (torch.isposinf(x) & detect_positive) | (torch.isneginf(x) & detect_negative)

    for x in [specials(), specials("f16"), ints((3,)), floats((0, 2)), transposed(floats((2, 3)))]:
        case("isinf", one_sided, [x], **detect)
for x in [specials(), specials("f64"), specials("f16"), floats((0,)), floats(()), transposed(floats((2, 3)))]:
    case("nan_to_num", torch.nan_to_num, [x])
    case("nan_to_num", torch.nan_to_num, [x], nan=2.5, posinf=7, neginf=-1.5)
case("nan_to_num", torch.nan_to_num, [ints((3,))])
for decimals in [0, 1, 2, -1]:
    for x in [floats((2, 3), -99, 99), floats((), -99, 99), floats((4,), -99, 99, "f64"), floats((0,))]:
        case("round", lambda x, decimals: torch.round(x, decimals=decimals), [x], decimals=decimals)

# --- Two tensors --------------------------------------------------------------------------------------------

PAIRS = [((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2,)), ((), ()), ((0, 3), (1, 3)), ((1,), (1,))]


def binary(name, function, low=-3, high=3, dtypes=("f32", "f16", "f64"), make=floats, **arguments):
    for (a, b), dtype in product(PAIRS, dtypes):
        case(name, function, [make(a, low, high, dtype=dtype), make(b, low, high, dtype=dtype)], **arguments)
    dtype = dtypes[0]
    views = transposed(make((3, 2), low, high, dtype=dtype)), expanded(make((1, 3), low, high, dtype=dtype), 2, 3)
    case(name, function, views, **arguments)
    case(name, function, views[::-1], **arguments)


every = values([0.0, -0.0, 1.0, -1.0, 2.5, -0.5, inf, -inf, nan])
grid = expanded(every.reshape(9, 1), 9, 9), expanded(every.reshape(1, 9), 9, 9)
for name in ["atan2", "hypot", "copysign", "logaddexp", "logaddexp2", "fmax", "fmin", "nextafter"]:
    function = getattr(torch, name)
    binary(name, function, dtypes=("f32", "f64") if name in ("nextafter", "logaddexp2", "hypot") else ("f32", "f16", "f64"))
    case(name, function, grid, grad=False)
case("hypot", torch.hypot, [values([1e30, 3e-30, 3.0]), values([1e30, 4e-30, 4.0])], grad=False, rtol=1e-6, atol=0.0)
case("atan2", torch.atan2, [ints((2, 3)), ints((3,))])
case("copysign", torch.copysign, [ints((2, 3)), floats((3,))], grad=False)
case("copysign", torch.copysign, [values([0.0, -0.0, 2.0]), values([-1.0, 1.0, -0.0])])
for name in ["copysign", "fmax", "fmin"]:
    case(name, lambda x, other: getattr(torch, name)(x, torch.tensor(float(other))), [floats((2, 3))], other=-2.5)
case("logaddexp", torch.logaddexp, [values([1.0, 2.0, 1000.0]), values([1.0, 2.5, 1000.0])])
binary("xlogy", torch.xlogy, 0.2, 3)
case("xlogy", torch.xlogy, grid, grad=False)
case("xlogy", torch.xlogy, [values([0.0, 0.0, 2.0]), values([3.0, 0.5, 2.0])])
binary("heaviside", np.heaviside, numpy=True, dtypes=("f32", "f64"))
case("heaviside", np.heaviside, [every, values([0.5])], numpy=True)
binary("float_power", torch.float_power, 0.3, 2.5, ("f32", "f64"))
case("float_power", torch.float_power, [ints((3,), 1, 5)], exponent=-2)
for name in ["fmod", "remainder", "floor_divide"]:
    function = getattr(torch, name)
    for dtype in ["f32", "f64", "f16", "i32", "i8", "i64"]:
        signs = values([7, -7, 7, -7, 6, -6, 0], dtype), values([3, 3, -3, -3, 2, -2, 5], dtype)
        case(name, function, signs, grad=False)
    binary(name, function, 1, 9, ["i32", "u8"], ints)
    binary(name, function, 0.5, 3, ["f32"], grad=None if name == "fmod" else False)
    case(name, function, [floats((2, 3), -9, 9)], other=2.5, grad=False)
    case(name, function, [ints((2, 3))], other=-4)
    if name != "floor_divide":
        case(name, function, [specials(), flipped(specials(), 0)], grad=False)
odd = values([1.0, 0.3, -0.3, 5.0, -5.0, 1.0, 0.0, 3.0], "f64"), values([0.1, 0.1, 0.1, inf, inf, 0.0, 0.0, nan], "f64")
case("floor_divide", torch.floor_divide, odd, grad=False)
for rounding in [None, "trunc", "floor"]:
    call = lambda x, y, rounding_mode: torch.div(x, y, rounding_mode=rounding_mode)
    for dtype in ["f32", "f64", "i32", "i64", "u8"]:
        signs = values([7, -7, 7, -7, 6, -6, 0], "i64").abs() if dtype == "u8" else values([7, -7, 7, -7, 6, -6, 0], "i64")
        by = values([3, 3, -3, -3, 2, -2, 5], "i64").abs() if dtype == "u8" else values([3, 3, -3, -3, 2, -2, 5], "i64")
        case("div", call, [signs.to(DTYPES[dtype]), by.to(DTYPES[dtype])], grad=False, rounding_mode=rounding)
    case("div", call, [transposed(floats((2, 3), 1, 3)), floats((1,), 0.5, 1)], grad=False, rounding_mode=rounding)
for name in ["gcd", "lcm"]:
    for dtype in ["i32", "i64", "i8", "u8", "i16"]:
        high = 12 if dtype in ("i8", "u8") else 90
        case(name, getattr(torch, name), [ints((3, 4), -high, high, dtype), ints((4,), -high, high, dtype)])
    case(name, getattr(torch, name), [ints((0, 2)), ints((2,))])
    case(name, getattr(torch, name), [values([0, 0, 6, 46368], "i32"), values([0, 4, 0, 28657], "i32")])
    case(name, getattr(torch, name), [transposed(ints((2, 3), 1, 50)), ints((), 1, 50)])
case("gcd", torch.gcd, [values([7540113804746346429], "i64"), values([4660046610375530309], "i64")])

for name in ["bitwise_and", "bitwise_or", "bitwise_xor"]:
    make = lambda shape, low, high, dtype: bools(shape) if dtype == "bool" else ints(shape, low, high, dtype)
    binary(name, getattr(torch, name), -99, 99, ["i32", "i8", "u8", "bool"], make)
    case(name, getattr(torch, name), [ints((3,))], other=6)
for name, function in [("lshift", torch.bitwise_left_shift), ("rshift", torch.bitwise_right_shift)]:
    binary(name, function, 0, 5, ["i32", "i64", "u8"], ints)
    case(name, function, [values([-7, -1, 100, -128], "i8"), values([1, 3, 2, 7], "i8")])
    case(name, function, [values([-7, 5], "i32"), values([32, 40], "i32")])
for dtype in INTS:
    case("popcount", lambda x: np.bitwise_count(x if x.dtype.kind == "u" else x.view(f"u{x.itemsize}")).astype("i4"), [specials(dtype)], numpy=True)
case("popcount", lambda x: np.array([bin(v).count("1") for v in x.ravel()], "i4").reshape(x.shape), [transposed(ints((2, 3), 0, 99))], numpy=True)
case("popcount", lambda x: x.astype("i4"), [ints((0,))], numpy=True)
case("popcount", lambda x: x.astype("i4"), [bools((3,))], numpy=True)
binary("logical_xor", torch.logical_xor, 0, 2, ["i32", "u8"], ints)

for equal_nan in [None, True]:
    call = lambda x, y, rtol=None, atol=None, equal_nan=None: torch.isclose(x, y, rtol or 1e-5, atol or 1e-8, bool(equal_nan))
    case("isclose", call, grid, equal_nan=equal_nan)
    case("isclose", call, [values([1.0, 1.00001, 1.1, 0.0]), values([1.000009, 1.0, 1.0, 1e-9])], equal_nan=equal_nan)
def allclose(x, y, equal_nan=False, **tolerances):
    return torch.tensor(torch.allclose(x, y, equal_nan=equal_nan, **tolerances))


for x, y in [
    (floats((2, 3)), floats((2, 3))),
    (every, every),
    (values([1.0, 2.0]), values([1.000001, 2.0])),
    (values([1.0, 2.0], "f64"), values([1.001, 2.0], "f64")),
    (floats((0, 2)), floats((2,))),
    (transposed(values([[1.0, 2.0]])), values([[1.0], [2.0]])),
    (ints((3,)), values([9, 9, 9], "i32")),
]:
    case("allclose", lambda x, y: torch.tensor(torch.allclose(x, y)), [x, y])
    case("isclose", torch.isclose, [x, y])
    case("allclose", allclose, [x, y], equal_nan=True)
for x, y in [
    (values([1, 2], "i32"), values([1, 2], "i32")),
    (values([1, 2], "i32"), values([1, 3], "i32")),
    (values([1, 2]), values([[1, 2]])),
    (floats((0,)), floats((0,))),
    (values([nan]), values([nan])),
    (transposed(values([[1.0, 2.0]])), values([[1.0], [2.0]])),
]:
    case("equal", lambda x, y: torch.tensor(torch.equal(x, y)), [x, y])

limits = lambda shape, low, high: (floats(shape, -3, 3), floats(shape, -2, 0), floats(shape, 0, 2))
for shape in [(2, 3), (), (0, 2), (1,)]:
    case("clamp", torch.clamp, limits(shape, -3, 3))
case("clamp", torch.clamp, [transposed(floats((3, 2))), floats((3,), -2, 0), floats((2, 1), 0, 2)])
case("clamp", lambda x, a, b: torch.clamp(x, a, b), [floats((4,)), None, floats((4,), 0, 1)])
case("clamp", lambda x, a, b: torch.clamp(x, a, b), [floats((4,)), floats((4,), 0, 1), None])
for name in ["addcmul", "addcdiv"]:
    for a, b, c in [((2, 3),) * 3, ((2, 3), (3,), (2, 1)), ((), (2,), ()), ((0, 2), (2,), (1,)), ((1,), (1,), (1,))]:
        for value in [1, -0.5]:
            call = lambda x, y, z, value: getattr(torch, name)(x, y, z, value=value)
            case(name, call, [floats(a), floats(b), floats(c, 0.5, 2)], value=value)

# --- Norms -----------------------------------------------------------------------------------------------------

for p, (shape, axis), keepdim in product(
    [0.0, 1.0, 2.0, 3.0, 0.5, inf], [((2, 3), None), ((2, 3), 1), ((2, 3, 2), [0, 2]), ((), None), ((1,), 0)], [False, True]
):
    call = lambda x, p, axis, keepdim: torch.linalg.vector_norm(x, p, axis, keepdim)
    case("norm", call, [distinct(shape)], p=p, axis=axis, keepdim=keepdim, grad=False if p == 0 else None)
for dtype in ["f16", "bf16", "f64"]:
    case("norm", lambda x: torch.linalg.vector_norm(x), [floats((3, 4), dtype=dtype)])
case("norm", lambda x: torch.linalg.vector_norm(x), [values([0.0, 0.0])])
case("norm", lambda x: torch.linalg.vector_norm(x), [transposed(floats((3, 4)))])
for p in [1.0, 2.0, inf]:
    case("dist", torch.dist, [floats((2, 3)), floats((2, 3))], p=p)
    case("dist", torch.dist, [floats((2, 3)), floats((3,))], p=p)
    case("dist", torch.dist, [floats(()), floats(())], p=p)
    case("cdist", torch.cdist, [floats((4, 3)), floats((2, 3))], p=p, atol=1e-5)
    case("cdist", torch.cdist, [floats((2, 4, 3)), floats((1, 5, 3))], p=p, atol=1e-5)
    case("cdist", torch.cdist, [floats((1, 1)), floats((3, 1))], p=p, atol=1e-5)

# --- More than one result -----------------------------------------------------------------------------------------

for name, (shape, axis), keepdim in product(
    ["var_mean", "std_mean"], [((3, 4), None), ((3, 4), 0), ((5, 2, 4), [0, 2]), ((4, 3), -1)], [False, True]
):
    call = lambda x, axis, keepdim, correction=None: getattr(torch, name)(x, axis, keepdim=keepdim, correction=1 if correction is None else correction)
    case(name, call, [distinct(shape)], axis=axis, keepdim=keepdim)
    case(name, call, [transposed(distinct((3, 5), dtype="f64"))], axis=1, keepdim=keepdim, correction=0)
for x in [distinct((2, 3)), ints((2, 3)), floats((1,)), floats(()), transposed(distinct((3, 2))), values([1.0, nan])]:
    case("aminmax", lambda x: torch.aminmax(x), [x], grad=False)
case("aminmax", lambda x, axis, keepdim: torch.aminmax(x, dim=axis, keepdim=keepdim), [distinct((2, 3))], axis=1, keepdim=True)
holes = values([[1.0, nan, 2.0], [nan, 7.0, nan], [3.0, 4.0, 5.0]])
for name in ["nansum", "nanmean"]:
    call = lambda x, axis=None: getattr(torch, name)(x, axis)
    for axis in [0, 1, [0, 1]]:
        case(name, call, [holes], axis=axis)
        case(name, call, [transposed(holes.half())], axis=axis)
    case(name, call, [floats((4,))])
    case(name, call, [floats(())])
    case(name, call, [values([nan, nan])], grad=False)

# --- Casts ------------------------------------------------------------------------------------------------------------

for name, dtype in {"float": "f32", "double": "f64", "half": "f16", "bfloat16": "bf16", "short": "i16", "int": "i32", "long": "i64", "bool": "bool"}.items():
    for x in [floats((2, 3)), ints((4,)), bools((3,)), floats(()), floats((0, 2)), transposed(floats((2, 3), dtype="f64"))]:
        case(name, lambda x: x.to(DTYPES[dtype]), [x])

# --- What is hard -----------------------------------------------------------------------------------------------------

for dtype, bits in [("i8", 8), ("i16", 16), ("i32", 32), ("i64", 64)]:  # what takes most steps, and what has most twos
    most, high = 2 ** (bits - 1) - 1, 2 ** (bits - 2)
    case("gcd", torch.gcd, [values([most, high, high, most, -high, 3 * (high // 2), most - 1], dtype), values([high, most, high, most - 1, high // 2, high, 1], dtype)])
for dtype, last in [("f32", 9.1), ("f64", 26.5)]:
    tail = torch.linspace(0.5, last, 61, dtype=DTYPES[dtype])
    exact = lambda x: torch.tensor([math.erfc(value) for value in x.tolist()], dtype=torch.float64).to(x.dtype)
    case("erfc", exact, [tail], grad=False, rtol=5e-7 if dtype == "f32" else 2e-15, atol=0.0)
case("std_mean", lambda x, axis: torch.std_mean(x, axis), [values([[1.0, float("nan"), 2.0], [4.0, 0.5, -1.0]])], axis=1, grad=False)
case("var_mean", lambda x, axis: torch.var_mean(x, axis), [values([[1.0, float("nan"), 2.0], [4.0, 0.5, -1.0]])], axis=1, grad=False)
case("atan2", torch.atan2, [values([0.0, 1.0, 0.0]), values([0.0, 0.0, 2.0])])
