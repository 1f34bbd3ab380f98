"""Products, windows and what is made of them: convolutions, pools, normalisation, attention."""

import torch
import torch.nn.functional as F

from cases import *

PRODUCTS = [
    ((2, 3), (3, 4)),
    ((3,), (3,)),
    ((3,), (3, 2)),
    ((2, 3), (3,)),
    ((2, 3, 4), (2, 4, 2)),
    ((1, 3, 4), (2, 4, 2)),
    ((2, 2, 3, 4), (4, 2)),
    ((1, 1), (1, 1)),
    ((1, 3), (3, 1)),
    ((0, 3), (3, 2)),
    ((2, 0), (0, 3)),
    ((3,), (2, 3, 4)),
    ((2, 1, 3, 2), (3, 2, 4)),
    ((17, 19), (19, 5)),
]
for name in ["matmul", "dot"]:
    for a, b in PRODUCTS:
        case(name, torch.matmul, [floats(a), floats(b)], atol=1e-5)
    for dtype in ["f16", "bf16", "f64"]:
        case(name, torch.matmul, [floats((3, 4), dtype=dtype), floats((4, 2), dtype=dtype)])
        case(name, torch.matmul, [floats((5,), dtype=dtype), floats((5,), dtype=dtype)])
    for dtype, out in [("i32", "i32"), ("i64", "i64"), ("i8", "i32"), ("u8", "u32")]:
        case(
            name,
            lambda a, b: torch.matmul(a.long(), b.long()),
            [ints((3, 4), dtype=dtype), ints((4, 2), dtype=dtype)],
            out=out,
        )
    case(name, torch.matmul, [transposed(floats((3, 2))), transposed(floats((4, 3)))])
    case(name, torch.matmul, [expanded(floats((1, 3)), 2, 3), floats((3, 2))])
    case(name, torch.matmul, [strided(floats((4, 6)), 2, 2), flipped(floats((3, 2)), 0)])
    case(
        name,
        lambda a, b, dtype: a.float() @ b.float(),
        [floats((3, 4), dtype="f16"), floats((4, 2), dtype="f16")],
        dtype="f32",
    )
case("matmul", torch.matmul, [floats((40, 33)), floats((33, 50))], atol=1e-4)
for a, b in PRODUCTS[:5]:
    case("image_dot", torch.matmul, [floats(a), floats(b)], atol=1e-5)
case("image_dot", torch.matmul, [transposed(floats((3, 2))), floats((3, 1), dtype="f32")])

# Weights of weft's linear() are (in, out).
for x, w, bias in [
    ((2, 3), (3, 4), True),
    ((2, 3), (3, 4), False),
    ((3,), (3, 2), True),
    ((2, 2, 3), (3, 1), True),
    ((2, 3), (3,), True),
    ((0, 3), (3, 2), True),
    ((1, 1), (1, 1), False),
]:
    for dtype in ["f32", "f64"]:
        case(
            "linear",
            lambda x, w, b: (x * w if w.dim() == 1 else x @ w) + (0 if b is None else b),
            [floats(x, dtype=dtype), floats(w, dtype=dtype), floats(w[-1:], dtype=dtype) if bias else None],
            atol=1e-5,
        )
case(
    "linear",
    lambda x, w, b: x @ w + b,
    [transposed(floats((3, 2))), transposed(floats((4, 3))), floats((4,))],
)
case(
    "linear",
    lambda x, w, b: x @ w + b,
    [floats((2, 3), dtype="f16"), floats((3, 4), dtype="f16"), floats((4,), dtype="f16")],
)


def conv(x, w, b, groups=1, stride=1, dilation=1, padding=0):
    """Numbers are before and after each dimension from the last on where there are two for each."""
    n = w.dim() - 2
    return [F.conv1d, F.conv2d, F.conv3d][n - 1](x, w, b, stride, padding, dilation, groups)


CONVS = [
    ((1, 1, 3, 3), (1, 1, 2, 2), {}),
    ((2, 3, 5, 4), (4, 3, 3, 2), {}),
    ((1, 4, 5, 5), (6, 2, 3, 3), {"groups": 2}),
    ((1, 3, 4, 4), (3, 1, 2, 2), {"groups": 3}),
    ((1, 2, 7, 6), (3, 2, 3, 3), {"stride": 2}),
    ((1, 2, 7, 6), (3, 2, 3, 2), {"stride": [2, 3]}),
    ((1, 2, 7, 7), (2, 2, 3, 3), {"dilation": 2}),
    ((1, 2, 6, 7), (2, 2, 2, 3), {"dilation": [3, 2]}),
    ((1, 2, 3, 4), (2, 2, 3, 3), {"padding": 1}),
    ((1, 2, 3, 4), (2, 2, 3, 3), {"padding": [2, 1]}),
    ((2, 4, 6, 6), (4, 2, 3, 3), {"groups": 2, "stride": 2, "padding": 1, "dilation": 2}),
    ((1, 2, 1, 1), (3, 2, 1, 1), {}),
    ((1, 2, 4, 4), (3, 2, 4, 4), {}),
    ((0, 2, 4, 4), (3, 2, 2, 2), {}),
    ((1, 2, 7), (3, 2, 3), {}),
    ((2, 2, 7), (4, 1, 2), {"groups": 2, "stride": 3, "padding": 1}),
    ((1, 2, 6), (3, 2, 2), {"dilation": 3}),
    ((1, 2, 3, 4, 3), (2, 2, 2, 2, 2), {}),
    ((1, 2, 4, 3, 4), (2, 1, 2, 3, 2), {"groups": 2, "padding": 1, "stride": [2, 1, 2]}),
    ((1, 1, 1), (1, 1, 1), {"padding": 2}),
]
for x, w, options in CONVS:
    for bias in [True, False]:
        case("conv2d", conv, [floats(x), floats(w), floats(w[:1]) if bias else None], atol=1e-5, **options)
for dtype in ["f16", "bf16", "f64"]:
    case(
        "conv2d",
        conv,
        [floats((1, 2, 4, 4), -1, 1, dtype), floats((3, 2, 2, 2), -1, 1, dtype), floats((3,), -1, 1, dtype)],
    )
case(
    "conv2d",
    conv,
    [transposed(floats((1, 2, 4, 5))), transposed(floats((3, 2, 2, 3))), floats((3,))],
    atol=1e-5,
)
case("conv2d", conv, [expanded(floats((1, 1, 4, 4)), 2, 3, 4, 4), floats((2, 3, 2, 2)), None], atol=1e-5)

POOLS = [
    ((1, 2, 4, 4), {}),
    ((2, 1, 5, 7), {"kernel_size": 3}),
    ((1, 2, 6, 6), {"kernel_size": [2, 3]}),
    ((1, 1, 6, 6), {"kernel_size": 2, "stride": 1}),
    ((1, 1, 7, 6), {"kernel_size": [3, 2], "stride": [1, 2]}),
    ((1, 2, 5, 5), {"kernel_size": 3, "padding": 1}),
    ((1, 2, 5, 5), {"kernel_size": 3, "stride": 2, "padding": 1}),
    ((1, 1, 1, 1), {"kernel_size": 1}),
    ((0, 2, 4, 4), {}),
    ((2, 5, 5), {"kernel_size": 2}),
]
for name, function in [("max_pool2d", F.max_pool2d), ("avg_pool2d", F.avg_pool2d)]:
    call = lambda x, kernel_size=2, **options: function(x, kernel_size, **options)
    for shape, options in POOLS:
        case(name, call, [distinct(shape)], **options)
    for dtype in ["f16", "bf16", "f64"]:
        case(name, call, [distinct((1, 1, 4, 4), dtype=dtype)])
    case(name, call, [transposed(distinct((1, 2, 4, 6)))])
    case(name, call, [strided(distinct((1, 2, 4, 8)), 1, 1, 1, 2)])
for dilation in [2, [1, 2]]:
    case("max_pool2d", F.max_pool2d, [distinct((1, 2, 6, 6))], kernel_size=2, dilation=dilation)
    case(
        "max_pool2d",
        F.max_pool2d,
        [distinct((1, 1, 7, 7))],
        kernel_size=3,
        stride=1,
        padding=1,
        dilation=dilation,
    )
case("max_pool2d", F.max_pool2d, [ints((1, 1, 4, 4), dtype="i32").float()], kernel_size=4)
case("max_pool2d", F.max_pool2d, [ints((1, 1, 4, 4), dtype="i32")], kernel_size=3, padding=1)

for shape, axis in [
    ((2, 3), None),
    ((2, 3), -1),
    ((2, 3, 4), [1, 2]),
    ((2, 3, 4), [-1]),
    ((3, 1), -1),
    ((5,), 0),
    ((0, 3), -1),
]:
    count = lambda x, axis: list(x.shape[-len(axis) :] if isinstance(axis, list) else x.shape[-1:])
    call = lambda x, axis=None, eps=1e-5: F.layer_norm(x, count(x, axis), eps=eps)
    for eps in [None, 0.1]:
        case(
            "layernorm",
            lambda x, axis, eps: call(x, axis, 1e-5 if eps is None else eps),
            [floats(shape)],
            axis=axis,
            eps=eps,
            atol=1e-5,
        )
for dtype in ["f16", "bf16", "f64"]:
    case("layernorm", lambda x: F.layer_norm(x, [4]), [floats((3, 4), dtype=dtype)], grad=dtype == "f64")
case("layernorm", lambda x: F.layer_norm(x, [4]), [transposed(floats((4, 3)))], atol=1e-5)


def batchnorm(x, weight, bias, mean, invstd, axis=1):
    along = lambda v: v.reshape([-1 if i == axis % x.dim() else 1 for i in range(x.dim())])
    normal = (x - along(mean)) * along(invstd)
    normal = normal if weight is None else normal * along(weight)
    return normal if bias is None else normal + along(bias)


for shape, axis in [
    ((2, 3), None),
    ((2, 3, 4, 2), None),
    ((2, 4, 3), 2),
    ((1, 1), None),
    ((0, 3, 2), None),
    ((3, 2), 0),
]:
    n = shape[1 if axis is None else axis]
    for weight, bias in [(True, True), (False, False), (True, False)]:
        case(
            "batchnorm",
            lambda *xs, axis: batchnorm(*xs, axis=1 if axis is None else axis),
            [
                floats(shape),
                floats((n,)) if weight else None,
                floats((n,)) if bias else None,
                floats((n,)),
                floats((n,), 0.5, 2),
            ],
            axis=axis,
        )
case(
    "batchnorm",
    batchnorm,
    [transposed(floats((2, 4, 3))), floats((3,)), floats((3,)), floats((3,)), floats((3,), 0.5, 2)],
)


def attention(q, k, v, mask, is_causal=False):
    return F.scaled_dot_product_attention(q, k, v, mask, is_causal=is_causal)


for q, k, v in [
    ((2, 3), (4, 3), (4, 5)),
    ((1, 2, 3, 4), (1, 2, 5, 4), (1, 2, 5, 4)),
    ((2, 1, 1), (2, 1, 1), (2, 1, 1)),
    ((2, 2, 4), (2, 3, 4), (2, 3, 2)),
]:
    for mask in ["none", "add", "bool", "causal"]:
        mask_of = {"add": floats, "bool": lambda shape: torch.ones(shape, dtype=torch.bool).tril(1)}.get(
            mask, lambda shape: None
        )
        case(
            "scaled_dot_product_attention",
            attention,
            [floats(q), floats(k), floats(v), mask_of((q[-2], k[-2]))],
            is_causal=mask == "causal",
            atol=1e-5,
        )
for dtype in ["f16", "bf16", "f64"]:
    case(
        "scaled_dot_product_attention",
        attention,
        [floats((2, 3, 4), dtype=dtype) for _ in range(3)] + [None],
        grad=dtype == "f64",
    )
case(
    "scaled_dot_product_attention",
    attention,
    [transposed(floats((4, 3))), transposed(floats((4, 3))), transposed(floats((2, 3))), None],
    atol=1e-5,
)

# By the identity, of what counts, of zeros.
for x, y in [(torch.arange(64.0).reshape(8, 8), torch.eye(8)), (torch.arange(56.0).reshape(7, 8), torch.arange(72.0).reshape(8, 9)), (floats((9, 9)), floats((9, 9)))]:
    case("matmul", torch.matmul, [x, y], atol=1e-4)
