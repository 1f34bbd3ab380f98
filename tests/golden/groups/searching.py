"""Searching and counting: where values belong, how often they occur, which there are."""

import torch

from cases import *

for dtype in ["i8", "u16", "i64", "f16", "f32", "f64"]:
    x, y = ints((3, 4), 0, 9, dtype), ints((5,), 0, 9, dtype)
    if dtype != "u16":
        case("isin", torch.isin, [x, y])
        case("isin", torch.isin, [x.float(), y.float()], invert=True)
        ascending = torch.sort(ints((40,), -20, 20, dtype)).values
        case("searchsorted", torch.searchsorted, [ascending, ints((3, 4), -22, 22, dtype)], out="i32")
        case("searchsorted", torch.searchsorted, [ascending[:6].clone(), ints((3, 4), -22, 22, dtype)], right=True, out="i32")
case("isin", torch.isin, [floats((2,)), floats((0,))])
case("isin", torch.isin, [values([1., float("nan")]), values([float("nan")])])
case("isin", torch.isin, [transposed(ints((2, 3), 0, 4)), values(2, "i32")])
case("isin", torch.isin, [ints((0,)), ints((3,))])
case("isin", torch.isin, [ints((1,), 0, 2), ints((1,), 0, 2)])
nan, inf = float("nan"), float("inf")
for right, count in product([False, True], [4, 17, 33]):
    ascending = torch.sort(floats((3, count))).values
    case("searchsorted", torch.searchsorted, [ascending, floats((3, 5))], right=right, out="i32")
    case("searchsorted", torch.searchsorted, [torch.sort(ints((count,), 0, 9)).values, ints((2, 3), -1, 10)], right=right, out="i32")
    case("searchsorted", torch.searchsorted, [torch.sort(floats((count,))).values, values([nan, inf, -inf, 0.])], right=right, out="i32")
    case("bucketize", torch.bucketize, [floats((2, 3)), torch.sort(floats((count,))).values], right=right, out="i32")
    case("bucketize", torch.bucketize, [ints((4,)), torch.sort(ints((count,))).values], right=right, out="i32")
case("searchsorted", torch.searchsorted, [values([]), floats((2,))], out="i32")
case("searchsorted", torch.searchsorted, [values([1.]), floats(())], out="i32")
case("bucketize", torch.bucketize, [transposed(floats((2, 3))), values([-1., 0., 1.])], out="i32")
case("bucketize", torch.bucketize, [floats((1,)), values([-1., 0., 1.])], out="i32")

for length, least in [(9, 0), (5, 12), (1, 0), (0, 0), (0, 3)]:
    numbered = ints((length,), 0, 7, "i64")
    case("bincount", torch.bincount, [numbered], minlength=least, out="i32")
    if length:  # torch forgets the weights of nothing
        case("bincount", torch.bincount, [numbered, floats((length,))], minlength=least, grad=False)
case("bincount", torch.bincount, [ints((6,), 0, 4, "u8"), ints((6,))])
case("bincount", torch.bincount, [strided(ints((9,), 0, 4, "i32"), 2)], out="i32")

for bins, least, most in [(4, 0, 0), (5, -2, 2), (3, -1, 4), (1, 0, 0), (100, -3, 3)]:
    case("histc", torch.histc, [floats((3, 4))], bins=bins, min=least, max=most, grad=False)
case("histc", torch.histc, [values([1., 1., 1.])], bins=3, min=0, max=0, grad=False)
case("histc", torch.histc, [values([0., 1., 2., 3., 4.])], bins=4, min=0, max=4, grad=False)
case("histc", torch.histc, [transposed(floats((3, 4), dtype="f64"))], bins=4, min=-1, max=1, grad=False)


def histogram(x, weight, bins, low=None, high=None, density=False):
    bounds = None if low is None else (low, high)
    return list(torch.histogram(x, bins, range=bounds, weight=weight, density=density))


for density in [False, True]:
    case("histogram", histogram, [floats((3, 4)), None], bins=4, density=density, grad=False)
    case("histogram", histogram, [floats((7,)), floats((7,), 0, 1)], bins=5, density=density, grad=False)
    case("histogram", histogram, [floats((9,)), None], bins=3, low=-1.5, high=2.0, density=density, grad=False)
    case("histogram", lambda x, weight, edges, density: list(torch.histogram(x, edges, weight=weight, density=density)),
         [floats((9,)), floats((9,), 0, 1), values([-2., -1., 0.5, 2.])], density=density, grad=False)
case("histogram", histogram, [values([1., 1.]), None], bins=2, grad=False)
case("histogram", histogram, [values([0., 1., 2., 3., 4.]), None], bins=4, grad=False)
case("histogram", histogram, [floats((1,), dtype="f64"), None], bins=3, low=-4.0, high=4.0, grad=False)
case("histogram", histogram, [transposed(floats((3, 4))), None], bins=4, grad=False)


def unique(x):
    return list(torch.unique(x, return_inverse=True, return_counts=True))


for dtype in ["i8", "u8", "i32", "i64", "f16", "f32", "f64"]:
    case("unique", unique, [ints((3, 4), -3, 4, dtype)], out=[dtype, "i32", "i32"], grad=False)
case("unique", unique, [bools((5,))], out=["bool", "i32", "i32"])
case("unique", unique, [transposed(ints((3, 4), 0, 4))], out=["i32", "i32", "i32"])
case("unique", unique, [ints((0,))], out=["i32", "i32", "i32"])
case("unique", unique, [values([5, 2**40 + 1, 2**40, 5, -2**62], "i64")], out=["i64", "i32", "i32"])
case("unique", unique, [values([1., nan, -inf, nan, 1., inf, -0., 0.])], out=["f32", "i32", "i32"], grad=False)
