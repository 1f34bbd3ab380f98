"""Convolutions, transposed ones, and their windows side by side."""

import torch
import torch.nn.functional as F

from cases import *


def per_side(x, sides):
    """Padded with sides [[before, after], ...]."""
    return F.pad(x, [n for pair in reversed(sides) for n in pair])


def conv(x, w, b, groups=1, stride=1, dilation=1, padding=0, sides=None, mode=None):
    x = x if sides is None else per_side(x, sides)
    function = [F.conv1d, F.conv2d, F.conv3d][w.dim() - 3]
    return function(x, w, b, stride, mode or padding, dilation, groups)


def transposed_conv(x, w, b, groups=1, stride=1, dilation=1, padding=0, output_padding=0):
    function = [F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d][w.dim() - 3]
    return function(x, w, b, stride, padding, output_padding, groups, dilation)


def convs(name, function, rows, bias_axis):
    for x, w, options in rows:
        groups = options.get("groups", 1)
        channels = w[0] if bias_axis == 0 else w[1] * groups
        for bias in [True, False]:
            case(name, function, [floats(x), floats(w), floats((channels,)) if bias else None], atol=1e-5, rtol=1e-4, **options)


NAMES = {3: "conv1d", 4: "conv2d", 5: "conv3d"}
ROWS = [
    # one dimension
    ((1, 2, 7), (3, 2, 3), {}), ((2, 4, 8), (4, 2, 2), {"groups": 2, "stride": 2}), ((1, 2, 9), (2, 2, 3), {"dilation": 3, "padding": 2}),
    ((1, 2, 6), (2, 2, 4), {"mode": "same"}), ((1, 2, 6), (2, 2, 3), {"mode": "same", "dilation": 2}), ((1, 1, 1), (1, 1, 1), {}),
    ((1, 1, 5), (1, 1, 3), {"sides": [[2, 0]]}), ((2, 5), (3, 2, 2), {}), ((0, 2, 5), (3, 2, 2), {}),
    # two
    ((2, 3, 5, 4), (4, 3, 3, 2), {}), ((1, 4, 5, 5), (6, 2, 3, 3), {"groups": 2}), ((1, 3, 4, 4), (6, 1, 2, 2), {"groups": 3}),
    ((1, 2, 7, 6), (3, 2, 3, 2), {"stride": [2, 3]}), ((1, 2, 6, 7), (2, 2, 2, 3), {"dilation": [3, 2]}), ((1, 2, 3, 4), (2, 2, 3, 3), {"padding": [2, 1]}),
    ((2, 4, 6, 6), (4, 2, 3, 3), {"groups": 2, "stride": 2, "padding": 1, "dilation": 2}), ((1, 2, 4, 5), (3, 2, 3, 2), {"mode": "same"}),
    ((1, 2, 4, 5), (3, 2, 3, 2), {"mode": "valid", "stride": 2}), ((1, 2, 4, 4), (2, 2, 3, 3), {"sides": [[1, 2], [0, 1]], "stride": 2}),
    ((1, 2, 4, 4), (3, 2, 4, 4), {}), ((2, 4, 4), (3, 2, 2, 2), {}), ((0, 2, 4, 4), (3, 2, 2, 2), {}), ((1, 1, 1, 1), (1, 1, 1, 1), {}),
    # three
    ((1, 2, 3, 4, 3), (2, 2, 2, 2, 2), {}), ((1, 2, 4, 3, 4), (2, 1, 2, 3, 2), {"groups": 2, "padding": 1, "stride": [2, 1, 2]}),
    ((1, 2, 3, 3, 4), (2, 2, 2, 3, 2), {"mode": "same"}), ((2, 3, 3, 3), (1, 2, 2, 2, 2), {}), ((1, 1, 4, 4, 4), (1, 1, 2, 2, 2), {"dilation": [1, 2, 3]}),
]
for row in ROWS:
    convs(NAMES[len(row[1])], conv, [row], 0)
for dtype in ["f16", "bf16", "f64"]:
    case("conv1d", conv, [floats((1, 2, 6), -1, 1, dtype), floats((3, 2, 2), -1, 1, dtype), floats((3,), -1, 1, dtype)])
    case("conv2d", conv, [floats((1, 2, 4, 4), -1, 1, dtype), floats((3, 2, 2, 2), -1, 1, dtype), floats((3,), -1, 1, dtype)])
case("conv1d", conv, [transposed(floats((1, 5, 2))), transposed(floats((3, 2, 2))), floats((3,))], atol=1e-5)
case("conv2d", conv, [transposed(floats((1, 2, 4, 5))), transposed(floats((3, 2, 2, 3))), floats((3,))], atol=1e-5)
case("conv2d", conv, [expanded(floats((1, 1, 4, 4)), 2, 3, 4, 4), floats((2, 3, 2, 2)), None], atol=1e-5)
case("conv2d", lambda x, w, b, dtype: F.conv2d(x.float(), w.float()),
     [floats((1, 2, 3, 3), dtype="f16"), floats((1, 2, 2, 2), dtype="f16"), None], dtype="f32", grad=False)
case("conv3d", conv, [permuted(floats((1, 2, 3, 3, 2)), 0, 1, 4, 3, 2), floats((1, 2, 2, 2, 2)), None], atol=1e-5)

NAMES = {3: "conv_transpose1d", 4: "conv_transpose2d", 5: "conv_transpose3d"}
ROWS = [
    ((1, 2, 5), (2, 3, 3), {}), ((2, 4, 4), (4, 1, 2), {"groups": 2, "stride": 2}), ((1, 2, 4), (2, 2, 3), {"stride": 3, "dilation": 2}),
    ((1, 2, 4), (2, 2, 3), {"dilation": 2, "padding": 1}), ((1, 2, 3), (2, 1, 4), {"stride": 2, "padding": 1, "output_padding": 1}),
    ((1, 1, 1), (1, 1, 1), {}), ((2, 3), (2, 2, 2), {"stride": 3}), ((1, 1, 3), (1, 1, 2), {"stride": 4, "output_padding": 3}),
    ((1, 2, 3, 4), (2, 3, 2, 3), {}), ((2, 3, 3, 3), (3, 2, 3, 3), {"stride": 2, "padding": 1, "output_padding": 1}),
    ((1, 4, 3, 2), (4, 3, 3, 2), {"groups": 2, "stride": [2, 1], "padding": [0, 1]}), ((1, 2, 2, 3), (2, 1, 2, 2), {"stride": [3, 2], "output_padding": [2, 0]}),
    ((1, 2, 3, 3), (2, 2, 4, 4), {"stride": 2, "padding": 1}), ((1, 2, 3, 3), (2, 1, 2, 3), {"dilation": [2, 1], "output_padding": [1, 0]}),
    ((1, 2, 3, 3), (2, 2, 2, 2), {"stride": 2, "dilation": 3}), ((0, 2, 3, 3), (2, 1, 2, 2), {}), ((1, 1, 1, 1), (1, 1, 2, 2), {}), ((2, 3, 3), (2, 1, 2, 2), {}),
    ((1, 2, 4, 4), (2, 2, 3, 3), {"padding": 2}),
    ((1, 2, 2, 3, 2), (2, 2, 2, 2, 2), {}), ((1, 2, 2, 2, 2), (2, 1, 3, 2, 2), {"stride": 2, "padding": [1, 0, 1], "output_padding": [1, 0, 0]}),
    ((1, 2, 2, 2, 2), (2, 2, 2, 1, 2), {"groups": 2, "stride": [1, 2, 3]}), ((1, 2, 2, 2), (1, 1, 2, 2, 2), {}), ((1, 1, 1, 1, 1), (1, 1, 1, 1, 1), {}),
]
for row in ROWS:
    convs(NAMES[len(row[1])], transposed_conv, [row], 1)
for dtype in ["f16", "bf16", "f64"]:
    case("conv_transpose1d", transposed_conv, [floats((1, 2, 4), -1, 1, dtype), floats((2, 2, 2), -1, 1, dtype), floats((2,), -1, 1, dtype)], stride=2)
    case("conv_transpose2d", transposed_conv, [floats((1, 2, 3, 3), -1, 1, dtype), floats((2, 2, 2, 2), -1, 1, dtype), None], stride=2)
case("conv_transpose2d", transposed_conv, [transposed(floats((1, 2, 3, 2))), transposed(floats((2, 2, 2, 3))), floats((2,))], stride=2, atol=1e-5)
case("conv_transpose1d", transposed_conv, [expanded(floats((1, 1, 3)), 2, 2, 3), floats((2, 1, 2)), None], stride=2, atol=1e-5)
case("conv_transpose3d", transposed_conv, [permuted(floats((1, 2, 2, 2, 3)), 0, 1, 4, 2, 3), floats((2, 1, 2, 2, 2)), None], stride=2, atol=1e-5)

UNFOLDS = [
    ((1, 2, 4, 5), {"kernel": [2, 3]}), ((2, 1, 4, 4), {"kernel": [2, 2], "stride": 2}), ((1, 2, 5, 5), {"kernel": [3, 2], "padding": 1, "stride": [2, 1]}),
    ((1, 1, 6, 6), {"kernel": [2, 2], "dilation": [3, 2]}), ((2, 4, 4), {"kernel": [3, 3], "padding": [1, 0]}), ((1, 1, 1, 1), {"kernel": [1, 1]}),
    ((1, 3, 4, 4), {"kernel": [4, 4]}), ((1, 1, 5, 5), {"kernel": [2, 2], "stride": 3, "padding": 1, "dilation": 2}),
]
for (shape, options), dtype in product(UNFOLDS, ["f32", "f64"]):
    case("functional.unfold", lambda x, kernel, **o: F.unfold(x, kernel, **o), [floats(shape, dtype=dtype)], **options)
    places = F.unfold(torch.zeros(shape), options["kernel"], **{k: v for k, v in options.items() if k != "kernel"})
    case("functional.fold", lambda x, sizes, kernel, **o: F.fold(x, sizes, kernel, **o), [floats(places.shape, dtype=dtype)],
         sizes=list(shape[-2:]), **options)
case("functional.unfold", lambda x, kernel: F.unfold(x, kernel), [transposed(floats((1, 2, 4, 3)))], kernel=[2, 2])
case("functional.unfold", lambda x, kernel: F.unfold(x, kernel), [floats((1, 2, 3, 3), dtype="f16")], kernel=[2, 2])
case("functional.fold", lambda x, sizes, kernel: F.fold(x, sizes, kernel), [transposed(floats((1, 6, 8)))], sizes=[3, 4], kernel=[2, 2])

for x, w, options in [((2, 3, 5, 4), (4, 3, 3, 2), {}), ((1, 4, 5, 5), (6, 2, 3, 3), {"groups": 2}), ((1, 2, 7, 6), (3, 2, 3, 2), {"stride": [2, 3]}),
                      ((1, 2, 3, 4), (2, 2, 3, 3), {"padding": 1}), ((1, 1, 1, 1), (1, 1, 1, 1), {})]:
    convs("image_conv2d", conv, [(x, w, options)], 0)

# More channels, batches and elements than elsewhere; one element wide; channels last in memory.
for x, w, options in [((1, 48, 5, 5), (4, 48, 3, 3), {}), ((33, 2, 4, 4), (3, 2, 2, 2), {}), ((1, 3, 24, 24), (2, 3, 5, 5), {}),
                      ((1, 4, 5, 5), (3, 4, 1, 1), {}), ((1, 4, 3, 3), (3, 4, 1, 1), {"padding": 2}), ((4, 1, 5, 5), (6, 1, 3, 3), {})]:
    case("conv2d", conv, [floats(x), floats(w), None], rtol=1e-4, atol=1e-4, **options)
case("conv2d", conv, [permuted(floats((1, 5, 4, 3)), 0, 3, 1, 2), floats((2, 3, 2, 2)), None], rtol=1e-4, atol=1e-5)
case("conv3d", conv, [floats((1, 2, 3, 3, 3)), floats((2, 2, 2, 2, 2)), None], padding=1, rtol=1e-4, atol=1e-5)
