"""Resampling: interpolation, pixels and channels that change places, grids."""

import torch
import torch.nn.functional as F

from cases import *

LINEAR = {1: "linear", 2: "bilinear", 3: "trilinear"}


def interpolate(x, sizes=None, mode="linear", align_corners=False, antialias=False, scale_factor=None, recompute_scale_factor=None):
    dims = len(sizes or scale_factor)
    name = {"linear": LINEAR[dims], "cubic": "bicubic"}.get(mode, mode)
    extra = {"align_corners": align_corners} if mode in ("linear", "cubic") else {}
    if antialias:
        extra["antialias"] = True
    return F.interpolate(x, sizes, scale_factor, name, recompute_scale_factor=recompute_scale_factor, **extra)


ROWS = [
    ((1, 2, 5), [8]), ((2, 1, 8), [3]), ((1, 2, 4), [4]), ((1, 1, 1), [5]), ((1, 2, 3), [6]), ((1, 1, 7), [1]),
    ((1, 2, 3, 4), [5, 7]), ((2, 1, 6, 5), [3, 2]), ((1, 1, 4, 4), [8, 8]), ((1, 2, 5, 3), [5, 6]), ((1, 1, 1, 1), [2, 3]), ((1, 1, 2, 7), [4, 3]), ((0, 2, 3, 3), [4, 4]),
    ((1, 1, 2, 3, 2), [3, 4, 3]), ((1, 2, 3, 2, 4), [2, 4, 2]), ((1, 1, 2, 2, 2), [4, 4, 4]), ((1, 1, 1, 1, 1), [1, 2, 1]),
]
for shape, sizes in ROWS:
    for mode in ["nearest", "nearest-exact", "linear", "area"]:
        case("interpolate", interpolate, [floats(shape)], sizes=sizes, mode=mode, atol=1e-5)
    case("interpolate", interpolate, [floats(shape)], sizes=sizes, mode="linear", align_corners=True, atol=1e-5)
    if len(sizes) == 2:
        for align, antialias in [(False, False), (True, False), (False, True)]:
            if antialias and 0 in shape:
                continue
            case("interpolate", interpolate, [floats(shape)], sizes=sizes, mode="cubic", align_corners=align, antialias=antialias, atol=1e-5)
        if 0 not in shape:
            case("interpolate", interpolate, [floats(shape)], sizes=sizes, mode="linear", antialias=True, atol=1e-5)
for scale in [[2.0], [1.5], [0.6], [0.5], [3.0]]:
    for mode in ["nearest", "nearest-exact", "linear"]:
        case("interpolate", interpolate, [floats((1, 2, 7))], scale_factor=scale, mode=mode, atol=1e-5)
for scale in [[2.0, 2.0], [1.3, 0.7], [0.5, 2.5]]:
    for mode in ["nearest", "linear", "cubic", "area"]:
        for recompute in [None, True]:
            case("interpolate", interpolate, [floats((1, 1, 5, 6))], scale_factor=scale, mode=mode, recompute_scale_factor=recompute, atol=1e-5)
for size in [224, 37, 100]:  # where the nearest element is a matter of rounding
    for mode in ["nearest", "nearest-exact"]:
        case("interpolate", interpolate, [floats((1, 1, 61))], sizes=[size], mode=mode, grad=False)
for dtype in ["f64", "f16"]:
    for mode in ["linear", "cubic", "nearest"]:
        wide = lambda x, **o: interpolate(x if dtype == "f64" else x.float(), **o).to(x.dtype)
        case("interpolate", wide, [floats((1, 1, 4, 3), dtype=dtype)], sizes=[6, 5], mode=mode)
case("interpolate", interpolate, [transposed(floats((1, 2, 4, 3)))], sizes=[6, 5], mode="linear")
case("interpolate", interpolate, [ints((1, 1, 3, 3), dtype="u8")], sizes=[5, 4], mode="nearest")

for name, function, rows in [
    ("pixel_shuffle", F.pixel_shuffle, [((1, 8, 2, 3), 2), ((2, 9, 1, 2), 3), ((4, 3, 2), 2), ((1, 1, 1, 1), 1), ((0, 4, 2, 2), 2)]),
    ("pixel_unshuffle", F.pixel_unshuffle, [((1, 2, 4, 6), 2), ((2, 1, 3, 6), 3), ((3, 4, 2), 2), ((1, 1, 1, 1), 1)]),
    ("channel_shuffle", F.channel_shuffle, [((1, 6, 2, 2), 2), ((2, 6, 3), 3), ((1, 4, 1, 1), 4), ((1, 1, 2), 1), ((0, 4, 2), 2)]),
]:
    for shape, number in rows:
        for dtype in ["f32", "i64"] if name != "channel_shuffle" else ["f32"]:
            case(f"functional.{name}", lambda x, by: function(x, by), [numbers(shape, dtype)], by=number, grad=None if all(shape) else False)
    case(f"functional.{name}", lambda x, by: function(x.contiguous(), by), [transposed(floats((1, 4, 4, 2)))], by=2)

for (x, grid), mode, outside, align in product(
        [((2, 2, 4, 5), (2, 3, 4)), ((1, 1, 1, 1), (1, 1, 2))],
        ["linear", "nearest", "cubic"], ["zeros", "border", "reflection"], [False, True]):
    name = {"linear": "bilinear", "cubic": "bicubic"}.get(mode, mode)
    case("functional.grid_sample", lambda x, grid, padding_mode, align_corners, **_: F.grid_sample(x, grid, name, padding_mode, align_corners),
         [floats(x), floats(grid + (2,), -1.6, 1.6)], mode=mode, padding_mode=outside, align_corners=align, atol=1e-4, rtol=1e-4)
for mode, outside, align in product(["linear", "nearest"], ["zeros", "border", "reflection"], [False, True]):
    name = {"linear": "bilinear"}.get(mode, mode)
    case("functional.grid_sample", lambda x, grid, padding_mode, align_corners, **_: F.grid_sample(x, grid, name, padding_mode, align_corners),
         [floats((1, 2, 2, 3, 2)), floats((1, 2, 2, 3, 3), -1.5, 1.5)], mode=mode, padding_mode=outside, align_corners=align, atol=1e-4, rtol=1e-4)
case("functional.grid_sample", lambda x, grid, **_: F.grid_sample(x, grid, align_corners=False), [transposed(floats((1, 2, 4, 3))), floats((1, 2, 2, 2), -1, 1)],
     mode="linear", atol=1e-5)
case("functional.grid_sample", lambda x, grid, **_: F.grid_sample(x, grid, align_corners=False), [floats((1, 1, 3, 3), dtype="f64"), floats((1, 2, 2, 2), -1, 1, "f64")],
     mode="linear")
far = values([[[[1e9, 0.0], [-1e9, 1e9], [0.0, -3e4]]]])
for outside in ["zeros", "border"]:
    case("functional.grid_sample", lambda x, grid, padding_mode, **_: F.grid_sample(x, grid, padding_mode=padding_mode, align_corners=False),
         [floats((1, 1, 3, 3)), far], mode="linear", padding_mode=outside, grad=False)

for sizes, align in product([[2, 3, 3, 4], [1, 1, 2, 2], [1, 2, 1, 5], [2, 1, 2, 3, 2], [1, 1, 1, 1, 1]], [False, True]):
    case("functional.affine_grid", lambda theta, sizes, align_corners: F.affine_grid(theta, sizes, align_corners),
         [floats((sizes[0], len(sizes) - 2, len(sizes) - 1))], sizes=sizes, align_corners=align, atol=1e-5)
case("functional.affine_grid", lambda theta, sizes: F.affine_grid(theta, sizes, align_corners=False), [floats((1, 2, 3), dtype="f64")], sizes=[1, 1, 2, 3])
case("functional.affine_grid", lambda theta, sizes: F.affine_grid(theta, sizes, align_corners=False), [transposed(floats((1, 3, 2)))], sizes=[1, 1, 2, 3])
# Bytes: elements that are only chosen stay bytes, others are computed as floats.
for shape, sizes in [((1, 2, 4, 3), [7, 5]), ((2, 1, 5, 6), [2, 4]), ((1, 1, 1, 1), [3, 2])]:
    for mode in ["nearest", "nearest-exact"]:
        case("interpolate", interpolate, [ints(shape, 0, 256, "u8")], sizes=sizes, mode=mode)
    for align in [False, True]:
        case("interpolate", lambda x, **o: interpolate(x.float(), **o), [ints(shape, 0, 256, "u8")], sizes=sizes, mode="linear", align_corners=align, atol=1e-3)
