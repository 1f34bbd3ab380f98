"""Options that few cases of other groups have: negative padding, dtypes to compute in, orders of arguments."""

import torch
import torch.nn.functional as F

from cases import *

# --- Negative padding. PyTorch's convolutions refuse it: elements are taken away before them -------------


def widths(sides):
    return [n for pair in reversed(sides) for n in pair]


def both_sides(padding, sides, n):
    if sides is not None:
        return sides
    return [[p, p] for p in (padding if isinstance(padding, list) else [padding] * n)]


def conv(x, w, b, groups=1, stride=1, dilation=1, padding=0, sides=None):
    function = [F.conv1d, F.conv2d, F.conv3d][w.dim() - 3]
    return function(F.pad(x, widths(both_sides(padding, sides, w.dim() - 2))), w, b, stride, 0, dilation, groups)


def transposed_conv(x, w, b, groups=1, stride=1, dilation=1, padding=0, sides=None, output_padding=0):
    """Padding takes away of the output, so that of a negative one there is more, which only the bias reaches."""
    n = w.dim() - 2
    function = [F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d][n - 1]
    y = function(x, w, None, stride, 0, output_padding, groups, dilation)
    y = F.pad(y, [-width for width in widths(both_sides(padding, sides, n))])
    return y if b is None else y + b.reshape([-1] + [1] * n)


for x, w, options in [
    ((1, 2, 7), (3, 2, 3), {"padding": -1}),
    ((2, 4, 8), (4, 2, 2), {"groups": 2, "stride": 2, "sides": [[-3, 1]]}),
    ((1, 1, 3), (1, 1, 1), {"padding": -1}),
    ((1, 2, 6), (2, 2, 2), {"sides": [[2, -3]], "dilation": 2}),
    ((1, 2, 5, 6), (3, 2, 3, 2), {"padding": -1}),
    ((2, 2, 6, 5), (4, 1, 2, 2), {"groups": 2, "padding": [-2, 1]}),
    ((1, 2, 5, 5), (3, 2, 2, 3), {"sides": [[-1, 2], [1, -1]], "stride": 2}),
    ((1, 1, 3, 3), (1, 1, 1, 1), {"padding": -1}),
    ((0, 2, 4, 4), (3, 2, 2, 2), {"padding": -1}),
    ((1, 2, 4, 4, 5), (2, 2, 2, 2, 2), {"padding": [-1, 0, -1]}),
    ((1, 1, 3, 3, 3), (2, 1, 1, 2, 1), {"sides": [[0, -2], [1, -1], [-1, 0]]}),
]:
    name = ["conv1d", "conv2d", "conv3d"][len(w) - 3]
    for bias in [True, False]:
        case(name, conv, [floats(x), floats(w), floats(w[:1]) if bias else None], atol=1e-5, **options)
case("conv2d", conv, [transposed(floats((1, 2, 5, 6))), floats((3, 2, 2, 2)), None], padding=-1, atol=1e-5)
case("conv2d", conv, [floats((1, 2, 5, 6), dtype="f64"), floats((3, 2, 2, 2), dtype="f64"), None], padding=-1)

for x, w, options in [
    ((1, 2, 4), (2, 3, 3), {"padding": -1}),
    ((2, 4, 3), (4, 1, 2), {"groups": 2, "stride": 2, "sides": [[-2, 1]]}),
    ((1, 1, 1), (1, 1, 1), {"padding": -2}),
    ((1, 2, 4), (2, 2, 3), {"stride": 3, "dilation": 2, "sides": [[3, -2]], "output_padding": 1}),
    ((1, 2, 3, 3), (2, 2, 2, 3), {"padding": -1}),
    ((1, 2, 3, 2), (2, 1, 2, 2), {"stride": [2, 1], "padding": [-1, 1], "output_padding": [1, 0]}),
    ((2, 2, 3, 3), (2, 2, 3, 3), {"sides": [[-1, 2], [1, -3]], "stride": 2}),
    ((1, 1, 1, 1), (1, 1, 2, 2), {"padding": -1}),
    ((0, 2, 3, 3), (2, 1, 2, 2), {"padding": -1}),
    ((1, 2, 2, 2, 3), (2, 1, 2, 2, 2), {"padding": [-1, 0, -1], "stride": 2}),
    ((1, 1, 2, 2, 2), (1, 1, 2, 1, 2), {"sides": [[0, -1], [-1, 1], [1, -1]]}),
]:
    name = ["conv_transpose1d", "conv_transpose2d", "conv_transpose3d"][len(w) - 3]
    for bias in [True, False]:
        channels = (w[1] * options.get("groups", 1),)
        case(name, transposed_conv, [floats(x), floats(w), floats(channels) if bias else None], atol=1e-5, **options)


def pad(x, padding, mode="constant", value=0):
    """As many axes in front as the mode wants."""
    y = x.reshape([1] * (4 - x.dim()) + list(x.shape))
    y = F.pad(y, padding, mode, value if mode == "constant" else None)
    return y.reshape(y.shape[4 - x.dim() :])


for mode, (shape, padding) in product(
    ["constant", "reflect", "replicate", "circular"],
    [((4, 5), [-1, 2, 1, -2]), ((4, 5), [-1, -2, -1, -1]), ((2, 4, 5), [1, -1, -2, 1]), ((3, 4), [-3, 0, 0, -2])],
):
    case("pad", pad, [floats(shape)], padding=padding, mode=mode)
    case("pad", pad, [flipped(floats(shape, dtype="f64"), 0)], padding=padding, mode=mode)
case("pad", pad, [floats((4, 5))], padding=[-2, 1, 2, -1], mode="constant", value=1.5)

# --- Dtypes to compute in ---------------------------------------------------------------------------------

for name, function in [
    ("softmax", torch.softmax),
    ("log_softmax", torch.log_softmax),
    ("softmin", lambda x, axis, dtype: torch.softmax(-x, axis, dtype=dtype)),
]:
    call = lambda x, axis, dtype: function(x, axis, dtype=DTYPES[dtype])
    for own, dtype in [("f16", "f32"), ("bf16", "f32"), ("f32", "f64"), ("i32", "f32"), ("i8", "f64"), ("f64", "f32")]:
        for shape, axis in [((2, 3), -1), ((3, 2), 0), ((1, 1), 1)]:
            # Gradients of f64 that come through f32 are no closer.
            atol = 1e-6 if own == "f64" else None
            case(name, call, [numbers(shape, own)], axis=axis, dtype=dtype, atol=atol)
    case(name, call, [transposed(floats((2, 3), dtype="f16"))], axis=0, dtype="f32")
    case(name, call, [floats((0, 3), dtype="f16")], axis=1, dtype="f32")


def linear(x, w, b, dtype):
    x, w = x.to(DTYPES[dtype]), w.to(DTYPES[dtype])
    y = x * w if w.dim() == 1 else x @ w
    return y if b is None else y + b.to(DTYPES[dtype])


for own, dtype in [("f16", "f32"), ("bf16", "f32"), ("f32", "f64"), ("i32", "f32"), ("i8", "i32")]:
    for x, w, bias in [((2, 3), (3, 4), True), ((3,), (3, 2), False), ((2, 2, 3), (3, 1), True), ((2, 3), (3,), True), ((1, 1), (1, 1), False)]:
        inputs = [numbers(x, own), numbers(w, own), numbers(w[-1:], own) if bias else None]
        case("linear", linear, inputs, dtype=dtype, atol=1e-5)
case("linear", linear, [transposed(floats((3, 2), dtype="f16")), floats((3, 4), dtype="bf16"), None], dtype="f32", atol=1e-5)

# --- PyTorch's order of arguments ----------------------------------------------------------------------------


def attention(q, k, v, mask, is_causal=False):
    return F.scaled_dot_product_attention(q, k, v, mask, 0.0, is_causal)


for q, k, v in [((2, 3), (4, 3), (4, 5)), ((2, 2, 4, 3), (2, 2, 4, 3), (2, 2, 4, 3)), ((1, 1, 1), (1, 1, 1), (1, 1, 1))]:
    for is_causal in [False, True]:
        inputs = [floats(q), floats(k), floats(v), None]
        case("scaled_dot_product_attention", attention, inputs, is_causal=is_causal, atol=1e-5)
    case("scaled_dot_product_attention", attention, [floats(q), floats(k), floats(v), floats((q[-2], k[-2]))], atol=1e-5)

# --- Sums and counts in one write ----------------------------------------------------------------------------


def scatter_reduce(x, index, source, dim, reduce, include_self=True):
    return x.scatter_reduce(dim, index.long(), source, reduce, include_self=include_self)


for reduce, include_self in product(["mean", "amax", "amin"], [True, False]):
    for shape, index, dim in [((4, 3), (6, 3), 0), ((4, 3), (2, 2), 1), ((5,), (7,), 0), ((2, 3, 2), (2, 4, 2), -2), ((1,), (1,), 0)]:
        for dtype in ["f32", "f64"]:
            axis = dim % len(shape)
            inputs = [distinct(shape, dtype=dtype), ints(index, 0, shape[axis]), distinct(index, 3.5, 6, dtype=dtype)]
            case("scatter_reduce", scatter_reduce, inputs, dim=dim, reduce=reduce, include_self=include_self)
    for dtype in ["i32", "i64"]:
        inputs = [ints((4, 3), dtype=dtype), ints((6, 3), 0, 4), ints((6, 3), dtype=dtype)]
        case("scatter_reduce", scatter_reduce, inputs, dim=0, reduce=reduce, include_self=include_self)
    inputs = [transposed(distinct((3, 4))), ints((6, 3), 0, 4), distinct((6, 3), 3.5, 6)]
    case("scatter_reduce", scatter_reduce, inputs, dim=0, reduce=reduce, include_self=include_self)
# More of one place than f16 can count one by one.
case("scatter_reduce", lambda x, index, source, dim, reduce: scatter_reduce(x.float(), index, source.float(), dim, reduce).half(),
     [values([1.0, 2.0], "f16"), torch.zeros(3000, dtype=torch.int32), torch.ones(3000, dtype=torch.float16)], dim=0, reduce="mean", grad=False)

# --- Numbers of dimensions by name ---------------------------------------------------------------------------

for name, function, shape in [("lp_pool1d", F.lp_pool1d, (2, 2, 6)), ("lp_pool2d", F.lp_pool2d, (1, 2, 5, 6)), ("lp_pool3d", F.lp_pool3d, (1, 1, 4, 4, 4))]:
    call = lambda x, p, kernel, stride=None, ceil_mode=False: function(x, p, kernel, stride, ceil_mode)
    for options in [{}, {"stride": 1}, {"stride": 3, "ceil_mode": True}]:
        case("functional." + name, call, [floats(shape, 0.5, 3)], p=2, kernel=2, **options)
        case("functional." + name, call, [floats(shape, 0.5, 3, "f64")], p=3, kernel=2, **options)
for name, pool, function, shape in [
    ("max_unpool1d", F.max_pool1d, F.max_unpool1d, (2, 2, 6)),
    ("max_unpool2d", F.max_pool2d, F.max_unpool2d, (1, 2, 4, 6)),
    ("max_unpool3d", F.max_pool3d, F.max_unpool3d, (1, 1, 4, 4, 2)),
]:
    call = lambda x, index, kernel, **options: function(x, index.long(), kernel, **options)
    found, places = pool(distinct(shape), 2, return_indices=True)
    for options in [{}, {"stride": 2}, {"output_size": list(shape[2:])}]:
        case("functional." + name, call, [found, places.int()], kernel=2, **options)
        case("functional." + name, call, [found.double(), places.int()], kernel=2, **options)
