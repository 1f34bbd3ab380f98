"""Order along an axis: sorted, the first of it, what stands at one place of it, what is different."""

import torch

from cases import *

nan, inf = float("nan"), float("inf")
SHAPES_AXES = [((5,), 0), ((3, 4), 0), ((3, 4), -1), ((2, 3, 4), 1), ((1,), 0), ((0, 3), 0), ((3, 0), 1), ((3, 0), 0)]
NUMBERS = ["bool", "i8", "u8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"]


def sort(x, dim=-1, descending=False):
    return list(torch.sort(x, dim=dim, descending=descending, stable=True))


def argsort(x, dim=-1, descending=False):
    return torch.argsort(x, dim=dim, descending=descending, stable=True)


def sort_anything(x, descending):
    """Of dtypes that torch does not sort: as f64, which holds them all (u64 up to 2^53)."""
    values, indices = torch.sort(x.double(), descending=descending, stable=True)
    return [x[indices], indices]


def pair(function):
    return lambda *inputs, **arguments: list(function(*inputs, **arguments))


two = [None, "i32"]
for descending in [False, True]:
    for shape, dim in SHAPES_AXES:
        case("sort", sort, [distinct(shape)], dim=dim, descending=descending, out=two)
        case("argsort", argsort, [floats(shape)], dim=dim, descending=descending, out="i32")
    for dtype in NUMBERS:
        few = bools((3, 7)) if dtype == "bool" else ints((3, 7), -3, 4, dtype)  # many are equal
        case("sort", sort, [few], descending=descending, grad=False, out=two)
        case("argsort", argsort, [numbers((70,), dtype)], descending=descending, out="i32")
        if dtype != "bool":
            case("sort", sort, [specials(dtype)], descending=descending, grad=False, out=two)
    for dtype in ["u16", "u32", "u64", "f8e4m3", "f8e5m2"]:
        some = ints((90,), 0, 40, dtype) if dtype in INTS else floats((90,), dtype=dtype)
        case("sort", sort_anything, [some], descending=descending, out=two)
    for x in [values(2.5), transposed(distinct((3, 4))), flipped(distinct((6,)), 0), expanded(distinct((1, 3)), 4, 3)]:
        case("sort", sort, [x], descending=descending, out=two)
        case("argsort", argsort, [x], descending=descending, out="i32")
    case("sort", sort, [values([1., nan, -inf, nan, inf, 0., -0., -1.])], descending=descending, grad=False, out=two)
    for count in [64, 65, 129, 200]:
        case("sort", sort, [distinct((count,), dtype="f64")], descending=descending, out=two)
        case("sort", sort, [ints((2, count), -9, 10)], descending=descending, out=two)
        case("sort", sort, [distinct((count, 2))], dim=0, descending=descending, out=two)
for large in [2**62, 2**31, 255]:
    case("sort", sort, [ints((100,), -large, large, "i64")], out=two)
for x in [distinct((4, 3)), ints((5,)), distinct((1,)), transposed(distinct((2, 3))), distinct((70, 2), dtype="f64"), ints((0, 2))]:
    case("msort", torch.msort, [x])

topk = pair(torch.topk)
for largest in [True, False]:
    for shape, dim in SHAPES_AXES[:5]:
        for k in [0, 1, shape[dim] // 2, shape[dim]]:
            case("topk", topk, [distinct(shape)], k=k, dim=dim, largest=largest, out=two)
    for dtype in NUMBERS[1:]:
        case("topk", topk, [distinct((3, 20), 0, 100, dtype)], k=4, largest=largest, out=two)
    for count in [65, 150, 200]:
        for k in [1, 7, 60, count - 1]:
            case("topk", topk, [distinct((count,), dtype="f64")], k=k, largest=largest, out=two)
    case("topk", topk, [values([1., nan, inf, -inf, 2.])], k=3, largest=largest, grad=False, out=two)
    case("topk", topk, [transposed(distinct((5, 3)))], k=2, sorted=True, largest=largest, out=two)
case("topk", topk, [values(1.5)], k=1, dim=0, out=two)

for shape, dim in SHAPES_AXES[:5]:
    for k in [1, shape[dim]]:
        for keepdim in [False, True]:
            case("kthvalue", pair(torch.kthvalue), [distinct(shape)], k=k, dim=dim, keepdim=keepdim, out=two)
for dtype in NUMBERS[1:]:
    case("kthvalue", pair(torch.kthvalue), [distinct((3, 20), 0, 100, dtype)], k=4, dim=1, out=two)
case("kthvalue", pair(torch.kthvalue), [distinct((200,), dtype="f64")], k=77, dim=0, out=two)
case("kthvalue", pair(torch.kthvalue), [transposed(distinct((3, 4)))], k=2, dim=1, out=two)
case("kthvalue", pair(torch.kthvalue), [values([3., nan, 1.])], k=3, dim=0, grad=False, out=two)
case("kthvalue", pair(torch.kthvalue), [values(1.5)], k=1, dim=0, out=two)

for name in ["median", "nanmedian"]:
    median = getattr(torch, name)
    holes = distinct((3, 5))
    holes[0, 2] = holes[1, 0] = holes[1, 4] = holes[2, 1] = nan
    for shape, dim in SHAPES_AXES[:5]:
        for keepdim in [False, True]:
            case(name, pair(median), [distinct(shape)], dim=dim, keepdim=keepdim, out=two)
        case(name, lambda x: median(x), [distinct(shape)])
    for dtype in NUMBERS[1:]:
        case(name, lambda x: median(x), [ints((7,), -9, 9, dtype)], grad=False)
        case(name, pair(median), [distinct((3, 6), 0, 100, dtype)], dim=1, out=two)
    case(name, pair(median), [holes], dim=1, out=two, grad=False)
    case(name, pair(median), [values([[nan, nan, nan], [1., nan, 2.]])], dim=1, out=two, grad=False)
    case(name, pair(median), [transposed(distinct((3, 4)))], dim=1, out=two)
    case(name, lambda x: median(x), [values([2., inf, -inf, 1.])], grad=False)
    case(name, lambda x: median(x), [values(2.)])
    case(name, lambda x: median(x), [distinct((11, 13), dtype="f64")])

for shape, dim in SHAPES_AXES[:5]:
    for keepdim in [False, True]:
        case("mode", pair(torch.mode), [ints(shape, 0, 3)], dim=dim, keepdim=keepdim, out=two)
for dtype in NUMBERS:
    few = bools((9,)) if dtype == "bool" else ints((9,), -2, 3, dtype)
    case("mode", pair(torch.mode), [few], dim=0, out=two)
case("mode", pair(torch.mode), [values([3., 1., 3., 1., 2.])], dim=0, out=two)
case("mode", pair(torch.mode), [transposed(ints((3, 5), 0, 2))], dim=-1, out=two)
case("mode", lambda x, dim: [torch.mode(x, dim).values, (x == torch.mode(x, dim).values).nonzero()[-1, 0]], [ints((150,), 0, 9)], dim=0, out=two)

for name in ["quantile", "nanquantile"]:
    quantile = getattr(torch, name)
    holes = floats((4, 5))
    holes[0, 2] = holes[1, 0] = holes[1, 4] = holes[2, 1] = nan
    several = values([0., 0.25, 0.6, 1.])
    for interpolation in ["linear", "lower", "higher", "nearest", "midpoint"]:
        for q in [0., 0.3, 0.5, 1.]:
            case(name, lambda x, **how: quantile(x, **how), [distinct((3, 6))], q=q, dim=1, interpolation=interpolation)
        for keepdim in [False, True]:
            case(name, quantile, [distinct((3, 4)), several], dim=0, keepdim=keepdim, interpolation=interpolation)
            case(name, quantile, [distinct((3, 4)), several], keepdim=keepdim, interpolation=interpolation)
        case(name, lambda x, **how: quantile(x, **how), [holes], q=0.4, dim=1, interpolation=interpolation, grad=False)
    case(name, quantile, [distinct((2, 3, 4)), several], dim=1, keepdim=True)
    case(name, quantile, [transposed(distinct((3, 4), dtype="f64")), values([0.1, 0.9], "f64")], dim=-1)
    case(name, lambda x, **how: quantile(x, **how), [distinct((7,), dtype="f64")], q=0.35)
    case(name, lambda x, **how: quantile(x, **how), [values(2.)], q=0.35)
    case(name, lambda x, **how: quantile(x, **how), [values([1.])], q=0.5, dim=0, keepdim=True)
    case(name, lambda x, **how: quantile(x, **how), [distinct((200,))], q=0.123)
    case(name, lambda x, **how: quantile(x.float(), **how), [ints((3, 4))], q=0.3, dim=1)
    case(name, lambda x, **how: quantile(x.float(), **how).to(x.dtype), [distinct((3, 5), dtype="f16")], q=0.3, dim=1)
    case(name, lambda x, **how: quantile(x, **how), [values([[nan, nan], [nan, 1.]])], q=0.5, dim=1, grad=False)

unique = lambda x: list(torch.unique_consecutive(x, return_inverse=True, return_counts=True))
for dtype in NUMBERS:
    few = bools((3, 4)) if dtype == "bool" else ints((3, 4), 0, 2, dtype)
    case("unique_consecutive", unique, [few], grad=False, out=[None, "i32", "i32"])
for x in [ints((0,)), values(3), values([1., nan, nan, 2., 2., -0., 0.]), ints((100,), 0, 3)]:
    case("unique_consecutive", unique, [x], grad=False, out=[None, "i32", "i32"])

for name in ["median", "nanmedian"]:
    median = getattr(torch, name)
    for dtype in ["f16", "f32"]:  # without an index, equal ones share the gradient
        case(name, lambda x: median(x), [ints((4, 9), 0, 4, dtype)])
    case(name, lambda x: median(x), [values([1., nan, 2., 1., nan])])
