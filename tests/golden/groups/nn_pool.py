"""Pools."""

import torch
import torch.nn.functional as F

from cases import *

MAX = [None, F.max_pool1d, F.max_pool2d, F.max_pool3d]
AVG = [None, F.avg_pool1d, F.avg_pool2d, F.avg_pool3d]

MAX_ROWS = {
    1: [((1, 2, 7), 2, {}), ((1, 2, 7), 3, {"stride": 2, "ceil_mode": True}), ((2, 8), 3, {"padding": 1, "stride": 2}), ((1, 1, 9), 3, {"dilation": 3, "stride": 1}),
        ((1, 1, 1), 1, {}), ((2, 2, 8), 3, {"stride": 3, "padding": 1, "ceil_mode": True}), ((1, 1, 5), 5, {}),
        ((1, 2, 1), 2, {"stride": 3, "ceil_mode": True}), ((1, 2, 4), 5, {"stride": 2, "ceil_mode": True})],
    2: [((1, 2, 4, 4), 2, {}), ((2, 1, 5, 7), 3, {}), ((1, 2, 6, 6), [2, 3], {"stride": 1}), ((1, 2, 5, 5), 3, {"stride": 2, "padding": 1}),
        ((1, 1, 7, 7), 2, {"dilation": 2, "stride": 1}), ((1, 1, 7, 7), [3, 2], {"dilation": [2, 1], "padding": [1, 0], "stride": 2}),
        ((1, 2, 5, 6), 2, {"ceil_mode": True}), ((1, 2, 5, 6), 3, {"stride": 2, "padding": 1, "ceil_mode": True}), ((2, 5, 5), 2, {}), ((1, 1, 1, 1), 1, {}),
        ((1, 1, 4, 4), 1, {"stride": 3, "ceil_mode": True}), ((1, 1, 6, 6), 3, {"stride": 3, "padding": 1, "dilation": 2, "ceil_mode": True}), ((0, 2, 4, 4), 2, {}),
        ((1, 1, 2, 5), 3, {"stride": 2, "ceil_mode": True})],
    3: [((1, 2, 4, 4, 4), 2, {}), ((1, 1, 3, 4, 5), [2, 3, 2], {"stride": 1}), ((1, 1, 5, 5, 5), 3, {"stride": 2, "padding": 1}),
        ((1, 1, 3, 5, 4), 2, {"ceil_mode": True}), ((2, 2, 4, 4), [1, 2, 2], {}), ((1, 1, 1, 1, 1), 1, {}), ((1, 1, 5, 5, 5), 2, {"dilation": 2})],
}
for dims, rows in MAX_ROWS.items():
    for shape, kernel, options in rows:
        size = [kernel] * dims if isinstance(kernel, int) else kernel
        call = lambda x, kernel_size, **o: MAX[dims](x, kernel_size, **o)
        case(f"max_pool{dims}d", call, [distinct(shape)], kernel_size=size, **options)
        if 0 not in shape:
            case("max_pool_with_indices", lambda x, kernel_size, **o: MAX[dims](x, kernel_size, return_indices=True, **o),
                 [distinct(shape)], kernel_size=size, out=["f32", "i32"], **options)
for dtype in ["f16", "bf16", "f64"]:
    case("max_pool1d", F.max_pool1d, [distinct((1, 2, 8), dtype=dtype)], kernel_size=[2])
    case("max_pool2d", F.max_pool2d, [distinct((1, 1, 4, 4), dtype=dtype)], kernel_size=[2, 2])
    case("max_pool3d", F.max_pool3d, [distinct((1, 1, 4, 4, 2), dtype=dtype)], kernel_size=[2, 2, 2])
for dtype in ["i32", "u8"]:
    case("max_pool2d", lambda x, kernel_size, padding: F.max_pool2d(x.float(), kernel_size, padding=padding).to(x.dtype),
         [ints((1, 1, 4, 4), dtype=dtype)], kernel_size=[2, 2], padding=1 if dtype == "u8" else 0)
case("max_pool2d", F.max_pool2d, [transposed(distinct((1, 2, 4, 6)))], kernel_size=[2, 2])
case("max_pool1d", F.max_pool1d, [strided(distinct((1, 2, 8)), 1, 1, 2)], kernel_size=[2])
case("max_pool3d", F.max_pool3d, [flipped(distinct((1, 1, 2, 4, 4)), 3)], kernel_size=[2, 2, 2])
inf, nan = float("inf"), float("nan")
odd = values([[[1.0, nan, 2.0, 3.0, -inf, -inf, inf, 5.0]]])
case("max_pool1d", F.max_pool1d, [odd], kernel_size=[2], grad=False)
same = values([[[[1.0, 1.0, 2.0, 0.0], [1.0, 1.0, 2.0, 2.0], [0.0, 3.0, 3.0, 3.0], [0.0, 0.0, 3.0, 3.0]]]])
case("max_pool_with_indices", lambda x, kernel_size, **o: F.max_pool2d(x, kernel_size, return_indices=True, **o), [same], kernel_size=[2, 2],
     out=["f32", "i32"], grad=False)
case("max_pool_with_indices", lambda x, kernel_size, **o: F.max_pool2d(x, kernel_size, return_indices=True, **o), [transposed(same)], kernel_size=[3, 3],
     stride=1, out=["f32", "i32"], grad=False)

AVG_ROWS = {
    1: [((1, 2, 7), 2, {}), ((1, 2, 7), 3, {"stride": 2, "ceil_mode": True}), ((2, 8), 3, {"padding": 1, "stride": 2, "count_include_pad": False}),
        ((1, 1, 8), 4, {"stride": 3, "padding": 2, "ceil_mode": True}), ((1, 1, 1), 1, {}), ((1, 2, 8), 4, {"stride": 3, "padding": 2, "ceil_mode": True, "count_include_pad": False}),
        ((1, 2, 2), 3, {"stride": 2, "ceil_mode": True}), ((1, 2, 2), 5, {"stride": 2, "padding": 1, "ceil_mode": True})],
    2: [((1, 2, 4, 4), 2, {}), ((1, 2, 6, 6), [2, 3], {"stride": 1}), ((1, 2, 5, 5), 3, {"stride": 2, "padding": 1}),
        ((1, 2, 5, 5), 3, {"stride": 2, "padding": 1, "count_include_pad": False}), ((1, 2, 5, 6), 2, {"ceil_mode": True}),
        ((1, 2, 5, 6), 3, {"stride": 2, "padding": 1, "ceil_mode": True}), ((1, 2, 5, 6), [3, 2], {"stride": 2, "padding": [1, 0], "ceil_mode": True, "count_include_pad": False}),
        ((1, 1, 4, 4), 2, {"divisor_override": 3}), ((1, 1, 5, 5), 3, {"padding": 1, "ceil_mode": True, "divisor_override": 7}), ((2, 5, 5), 2, {}), ((1, 1, 1, 1), 1, {}),
        ((0, 2, 4, 4), 2, {})],
    3: [((1, 2, 4, 4, 4), 2, {}), ((1, 1, 3, 4, 5), [2, 3, 2], {"stride": 1}), ((1, 1, 5, 5, 5), 3, {"stride": 2, "padding": 1, "count_include_pad": False}),
        ((1, 1, 3, 5, 4), 2, {"ceil_mode": True}), ((2, 2, 4, 4), [1, 2, 2], {}), ((1, 1, 1, 1, 1), 1, {}), ((1, 1, 4, 4, 4), 2, {"divisor_override": 5})],
}
for dims, rows in AVG_ROWS.items():
    for shape, kernel, options in rows:
        size = [kernel] * dims if isinstance(kernel, int) else kernel
        case(f"avg_pool{dims}d", lambda x, kernel_size, **o: AVG[dims](x, kernel_size, **o), [floats(shape)], kernel_size=size, **options)
for dtype in ["f16", "bf16", "f64"]:
    wide = lambda function: lambda x, kernel_size: function(x.to(torch.promote_types(x.dtype, torch.float32)), kernel_size).to(x.dtype)
    case("avg_pool1d", wide(F.avg_pool1d), [floats((1, 2, 8), dtype=dtype)], kernel_size=[2])
    case("avg_pool2d", wide(F.avg_pool2d), [floats((1, 1, 4, 4), dtype=dtype)], kernel_size=[2, 2])
    case("avg_pool3d", wide(F.avg_pool3d), [floats((1, 1, 4, 4, 2), dtype=dtype)], kernel_size=[2, 2, 2])
case("avg_pool2d", F.avg_pool2d, [transposed(floats((1, 2, 4, 6)))], kernel_size=[2, 2])
case("avg_pool1d", F.avg_pool1d, [strided(floats((1, 2, 8)), 1, 1, 2)], kernel_size=[2])
case("avg_pool3d", F.avg_pool3d, [flipped(floats((1, 1, 2, 4, 4)), 3)], kernel_size=[2, 2, 2])

for shape, kernel, options in [((1, 2, 4, 4), [2, 2], {}), ((1, 1, 6, 6), [3, 3], {}), ((2, 1, 4, 6), [2, 2], {}), ((1, 1, 6, 4), [3, 2], {}), ((1, 1, 1, 1), [1, 1], {}),
                               ((1, 1, 5, 5), [2, 2], {"output_size": [5, 5]}), ((1, 1, 6, 6), [2, 2], {"stride": 3, "output_size": [6, 6]}), ((1, 1, 7, 7), [3, 3], {"stride": 2, "padding": 1})]:
    found, places = F.max_pool2d(distinct(shape), kernel, options.get("stride"), options.get("padding", 0), return_indices=True)
    if options.get("padding"):  # windows share elements: equal places have equal values
        case("max_unpool2d", F.max_unpool2d, [found, places], kernel_size=kernel, grad=False, **options)
    else:
        case("max_unpool2d", F.max_unpool2d, [found, places], kernel_size=kernel, **options)
found, places = F.max_pool2d(distinct((1, 2, 4, 4)), 2, return_indices=True)
case("max_unpool2d", lambda x, at, kernel_size: F.max_unpool2d(x.contiguous(), at.contiguous(), kernel_size), [transposed(found), transposed(places)],
     kernel_size=[2, 2])
for dims, shape in [(1, (1, 2, 6)), (3, (1, 1, 4, 2, 2))]:
    found, places = MAX[dims](distinct(shape), 2, return_indices=True)
    case("functional.max_unpool", [None, F.max_unpool1d, F.max_unpool2d, F.max_unpool3d][dims], [found, places], kernel_size=[2] * dims)

ADAPTIVE = {
    1: [((1, 2, 8), [4]), ((1, 2, 7), [3]), ((2, 5), [5]), ((1, 2, 3), [5]), ((1, 1, 1), [1]), ((1, 1, 1), [3]), ((2, 1, 11), [4])],
    2: [((1, 2, 6, 4), [3, 2]), ((1, 2, 7, 5), [3, 3]), ((1, 2, 4, 5), [1, 1]), ((2, 5, 6), [2, 4]), ((1, 1, 1, 1), [2, 2]), ((1, 2, 3, 7), [5, 2]), ((0, 2, 5, 5), [2, 2])],
    3: [((1, 1, 4, 4, 2), [2, 2, 1]), ((1, 2, 3, 5, 4), [2, 2, 3]), ((1, 2, 3, 3), [2, 1, 2]), ((1, 1, 1, 1, 1), [1, 1, 1]), ((1, 1, 2, 3, 2), [3, 2, 3])],
}
for dims, rows in ADAPTIVE.items():
    avg = [None, F.adaptive_avg_pool1d, F.adaptive_avg_pool2d, F.adaptive_avg_pool3d][dims]
    most = [None, F.adaptive_max_pool1d, F.adaptive_max_pool2d, F.adaptive_max_pool3d][dims]
    for shape, sizes in rows:
        case(f"functional.adaptive_avg_pool{dims}d", avg, [floats(shape)], output_size=sizes)
        case(f"functional.adaptive_max_pool{dims}d", most, [distinct(shape)], output_size=sizes)
        if 0 not in shape:
            case("functional.adaptive_max_pool_with_indices", lambda x, output_size: most(x, output_size, return_indices=True), [distinct(shape)],
                 output_size=sizes, out=["f32", "i32"])
    for dtype in ["f16", "f64"]:
        x = {1: (1, 2, 7), 2: (1, 1, 5, 4), 3: (1, 1, 3, 3, 4)}[dims]
        case(f"functional.adaptive_avg_pool{dims}d", avg, [floats(x, dtype=dtype)], output_size=[3] * dims)
        case(f"functional.adaptive_max_pool{dims}d", most, [distinct(x, dtype=dtype)], output_size=[3] * dims)
case("functional.adaptive_avg_pool2d", F.adaptive_avg_pool2d, [transposed(floats((1, 2, 5, 7)))], output_size=[3, 2])
case("functional.adaptive_max_pool2d", F.adaptive_max_pool2d, [transposed(distinct((1, 2, 5, 7)))], output_size=[3, 2])
case("functional.adaptive_avg_pool2d", lambda x, output_size: F.adaptive_avg_pool2d(x, (None, 2)), [floats((1, 2, 5, 7))], output_size=[-1, 2])

LP = [None, F.lp_pool1d, F.lp_pool2d]
for dims, shape, p, kernel, options in [(1, (1, 2, 7), 2.0, [2], {}), (1, (1, 2, 7), 3.0, [3], {"stride": 2}), (2, (1, 2, 5, 5), 2.0, [2, 2], {"ceil_mode": True}),
                                        (2, (1, 1, 6, 6), 1.5, [3, 2], {"stride": 1}), (2, (1, 1, 1, 1), 2.0, [1, 1], {}), (1, (2, 1, 8), 1.0, [4], {})]:
    case("functional.lp_pool", lambda x, p, kernel_size, **o: LP[dims](x, p, kernel_size if dims == 2 else kernel_size[0], **o),
         [floats(shape, 0.2, 3)], p=p, kernel_size=kernel, atol=1e-5, **options)
case("functional.lp_pool", lambda x, p, kernel_size: F.lp_pool2d(x, p, kernel_size), [transposed(floats((1, 1, 4, 6)))], p=2.0, kernel_size=[2, 2])
for shape in [(2, 3, 4, 5), (1, 2, 7), (1, 1, 2, 3, 2), (1, 1, 1), (2, 1, 1, 3)]:
    axes = list(range(2, len(shape)))
    case("functional.global_avg_pool", lambda x: x.mean(axes, True), [floats(shape)])
    case("functional.global_max_pool", lambda x: x.amax(axes, True), [distinct(shape)])

# Of equal elements the first has the gradient; of padding, none.
TIES = {1: (2, 2, 9), 2: (1, 2, 6, 5), 3: (1, 1, 4, 5, 4)}
for dims, pool, adaptive in [(1, F.max_pool1d, F.adaptive_max_pool1d), (2, F.max_pool2d, F.adaptive_max_pool2d), (3, F.max_pool3d, F.adaptive_max_pool3d)]:
    for options in [{"stride": 1}, {"stride": 2, "padding": 1}, {"stride": 2, "ceil_mode": True}, {"stride": 1, "dilation": 2 if dims < 3 else 1}]:
        tied = ints(TIES[dims], 0, 3, "f32")
        case(f"max_pool{dims}d", lambda x, kernel_size, **o: pool(x, kernel_size, **o), [tied], kernel_size=[2] * dims, **options)
    least = torch.full(TIES[dims], -inf)
    case(f"max_pool{dims}d", lambda x, kernel_size, **o: pool(x, kernel_size, **o), [least], kernel_size=[2] * dims, padding=1)
    for sizes in [[2] * dims, [3] * dims, [4] * dims]:
        case(f"functional.adaptive_max_pool{dims}d", adaptive, [ints(TIES[dims], 0, 3, "f32")], output_size=sizes)


# Padded by other numbers on each side.
def padded(x, sides, value):
    return F.pad(x, [n for pair in reversed(sides) for n in pair], value=value)


def max_of_padded(x, kernel_size, sides, **options):
    return MAX[len(sides)](padded(x, sides, -inf), kernel_size, **options)


def mean_of_padded(x, kernel_size, sides, count_include_pad=True, **options):
    pool = lambda x: AVG[len(sides)](padded(x, sides, 0), kernel_size, **options)
    return pool(x) if count_include_pad else pool(x) / pool(torch.ones_like(x))


for shape, kernel, sides, options in [
    ((1, 2, 6), [4], [[2, 0]], {"stride": 1}), ((1, 1, 7), [3], [[0, 1]], {"stride": 2}), ((1, 2, 4, 5), [2, 2], [[0, 1], [1, 0]], {}),
    ((1, 1, 5, 5), [3, 4], [[1, 0], [2, 1]], {"stride": 2}), ((2, 1, 3, 6), [4, 2], [[2, 1], [0, 1]], {"stride": 1}), ((1, 1, 1, 1), [2, 2], [[1, 0], [0, 1]], {}),
    ((1, 1, 3, 3, 4), [2, 2, 2], [[0, 1], [1, 0], [1, 1]], {}),
]:
    case(f"max_pool{len(sides)}d", max_of_padded, [distinct(shape)], kernel_size=kernel, sides=sides, **options)
    for count in [True, False]:
        case(f"avg_pool{len(sides)}d", mean_of_padded, [floats(shape)], kernel_size=kernel, sides=sides, count_include_pad=count, atol=1e-5, **options)

# Infinities go where they came from.
odd = values([[[[inf, 1.0, -inf, 2.0], [0.0, 3.0, 4.0, -1.0], [-inf, -inf, inf, 5.0], [-inf, -inf, 6.0, 7.0]]]])
found, places = F.max_pool2d(odd, 2, return_indices=True)
case("max_unpool2d", F.max_unpool2d, [found, places], kernel_size=[2, 2])
case("max_unpool2d", F.max_unpool2d, [values([[[[inf, -inf], [inf, 0.0]]]]), places], kernel_size=[2, 2])
case("max_unpool2d", F.max_unpool2d, [values([[[[-inf, -inf], [nan, inf]]]]), places], kernel_size=[2, 2], output_size=[5, 5])
for p in [2.0, 3.0]:
    case("functional.lp_pool", lambda x, p, kernel_size: F.lp_pool1d(x, p, kernel_size[0]), [values([[[0, 0, 1, 2]]])], p=p, kernel_size=[2])
