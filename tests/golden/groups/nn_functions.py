"""Activations beyond the common ones, normalisation, embeddings."""

import torch
import torch.nn.functional as F

from cases import *


def activation(name, function, kinks=(), low=-4, high=4, **arguments):
    """At kinks as well, where the gradient is a matter of convention."""
    for x in [floats((2, 3), low, high), floats((), low, high), floats((0, 3)), floats((1,), low, high), floats((4,), low, high, "f64"),
              transposed(floats((3, 2), low, high)), expanded(floats((1, 3), low, high), 2, 3), strided(flipped(floats((7,), low, high), 0), 3)]:
        case(name, function, [x], **arguments)
    wide = lambda x, **o: function(x.float(), **o).to(x.dtype)
    for dtype in ["f16", "bf16"]:
        case(name, wide, [floats((5,), low, high, dtype)], **arguments)
    if kinks:
        case(name, function, [values(list(kinks))], **arguments)
    case(name, function, [values([float("nan"), float("inf"), float("-inf"), -0.0])], grad=False, **arguments)


activation("hardsigmoid", lambda x: F.relu6(x + 3) / 6, [-3.0, 0.0, 3.0])  # F.hardsigmoid has a slope of 1/6 in f32
activation("hardsigmoid", lambda x, alpha, beta: torch.clamp(x * alpha + beta, 0, 1), alpha=0.2, beta=0.4)
activation("hardswish", F.hardswish, [-3.0, 3.0, 0.0])
for alpha in [1.0, 0.5, -2.0]:
    activation("celu", F.celu, [0.0, -0.0], alpha=alpha)
activation("selu", F.selu, [0.0, -0.0])
activation("selu", lambda x, alpha, gamma: gamma * F.elu(x, alpha), [0.0], alpha=1.5, gamma=0.7)
for alpha in [1.0, 0.3]:
    activation("elu", F.elu, [0.0, -0.0], alpha=alpha)
for slope in [0.01, 0.3]:
    activation("leaky_relu", lambda x, neg_slope: F.leaky_relu(x, neg_slope), [0.0, -0.0], neg_slope=slope)
activation("relu", F.relu, [0.0, -0.0])
activation("relu6", F.relu6, [0.0, 6.0], -8, 8)
activation("hardtanh", F.hardtanh, [-1.0, 1.0])
activation("softsign", F.softsign, [0.0])
activation("quick_gelu", lambda x: x * torch.sigmoid(1.702 * x), [0.0])
activation("functional.hardshrink", lambda x, lambd: F.hardshrink(x, lambd), [0.5, -0.5, 0.0], lambd=0.5)
activation("functional.hardshrink", lambda x, lambd: F.hardshrink(x, lambd), [1.5, -1.5], lambd=1.5)
activation("functional.softshrink", lambda x, lambd: F.softshrink(x, lambd), [0.5, -0.5, 0.0], lambd=0.5)
activation("functional.softshrink", lambda x, lambd: F.softshrink(x, lambd), lambd=0.0)
activation("functional.tanhshrink", F.tanhshrink, [0.0])
activation("functional.threshold", lambda x, least, value: F.threshold(x, least, value), [1.0, 0.0], least=1.0, value=-7.0)
activation("functional.rrelu", lambda x, lower, upper: F.rrelu(x, lower, upper), [0.0], lower=0.1, upper=0.3)
activation("functional.log_sigmoid", F.logsigmoid, [0.0, -80.0, 80.0])

for shape, weight in [((2, 3), (3,)), ((2, 3), (1,)), ((2, 3, 4), (3,)), ((4,), (1,)), ((), (1,)), ((0, 3), (3,)), ((1, 1), (1,))]:
    case("functional.prelu", F.prelu, [floats(shape), floats(weight, 0, 1)])
case("functional.prelu", F.prelu, [values([[0.0, -0.0, -1.0, 2.0]]), values([0.3])])
case("functional.prelu", F.prelu, [transposed(floats((3, 2), dtype="f64")), floats((3,), dtype="f64")])

for shape, axis in [((2, 4), -1), ((4, 3), 0), ((2, 6, 3), 1), ((2,), 0), ((0, 4), 1), ((1, 2, 1), 1)]:
    for dtype in ["f32", "f64"]:
        case("functional.glu", lambda x, axis: F.glu(x, axis), [floats(shape, dtype=dtype)], axis=axis)
case("functional.glu", lambda x, axis: F.glu(x, axis), [transposed(floats((4, 3)))], axis=-1)
for shape, axis in [((2, 4), -1), ((4, 3), 0), ((5,), 0), ((1, 1), 1), ((2, 0), 0), ((2, 3, 2), 1)]:
    for dtype in ["f32", "f64"]:
        case("softmin", lambda x, axis: F.softmin(x, axis), [floats(shape, dtype=dtype)], axis=axis)
case("softmin", lambda x, axis: F.softmin(x, axis), [transposed(floats((4, 3)))], axis=-1)

# --- Normalisation --------------------------------------------------------------------------------------

for shape, axes in [((2, 3), [-1]), ((2, 3, 4), [1, 2]), ((2, 3, 4), [-1]), ((3, 1), [-1]), ((5,), [0]), ((0, 3), [-1])]:
    count = [shape[axis] for axis in axes]
    for weight, bias in [(True, True), (True, False), (False, True)]:
        case("layernorm", lambda x, w, b, axis, eps: F.layer_norm(x, count, w, b, eps),
             [floats(shape), floats(count) if weight else None, floats(count) if bias else None], axis=axes, eps=1e-3, atol=1e-5, rtol=1e-4)
    if len(axes) == 1:
        for w in [floats(count), None]:
            case("rmsnorm", lambda x, w, axis, eps: F.rms_norm(x, count, w, eps), [floats(shape), w], axis=axes[0], eps=1e-3, atol=1e-5, rtol=1e-4)
case("layernorm", lambda x, w, b, axis: F.layer_norm(x.transpose(1, 2), [3], w, b).transpose(1, 2), [floats((2, 3, 4)), floats((3,)), floats((3,))], axis=[1],
     atol=1e-5, rtol=1e-4)
for dtype in ["f16", "bf16"]:
    case("rmsnorm", lambda x, w: F.rms_norm(x.float(), [4], w.float(), 1e-6).to(x.dtype), [floats((3, 4), dtype=dtype), floats((4,), dtype=dtype)])
    case("layernorm", lambda x, w, b: F.layer_norm(x.float(), [4], w.float(), b.float()).to(x.dtype),
         [floats((3, 4), dtype=dtype), floats((4,), dtype=dtype), floats((4,), dtype=dtype)])
case("rmsnorm", lambda x, w: F.rms_norm(x, [4], w, 1e-6), [transposed(floats((4, 3))), floats((4,))], atol=1e-5, rtol=1e-4)

for p, (shape, axis) in product([2.0, 1.0, 3.0, float("inf"), 0.5], [((2, 3), 1), ((2, 3, 2), -1), ((4,), 0), ((1, 1), 0), ((0, 3), 1)]):
    if not (p == float("inf") and 0 in shape):
        case("normalize", lambda x, p, axis: F.normalize(x, p, axis), [distinct(shape, 0.3, 3) if p == 0.5 else distinct(shape)], p=p, axis=axis, atol=1e-5, rtol=1e-4)
case("normalize", F.normalize, [values([[0.0, 0.0], [3.0, 4.0], [1e-20, 0.0]])])
case("normalize", lambda x, eps: F.normalize(x, eps=eps), [floats((2, 3))], eps=2.5)
case("normalize", F.normalize, [transposed(floats((3, 2)))])
case("normalize", F.normalize, [floats((3, 2), dtype="f64")])

for shape in [(2, 3), (2, 3, 4), (2, 3, 2, 2), (1, 2, 5), (3, 1)]:
    n = shape[1]
    for weight in [True, False]:
        affine = [floats((n,)) if weight else None, floats((n,)) if weight else None]
        stats = [floats((n,)), floats((n,), 0.5, 2)]
        case("functional.batch_norm", lambda x, m, v, w, b, training, eps: F.batch_norm(x, m.detach(), v.detach(), w, b, training, eps=eps),
             [floats(shape)] + stats + affine, training=False, eps=1e-3, atol=1e-5, rtol=1e-4)

        def train(x, m, v, w, b, momentum, **_):
            m, v = m.detach().clone(), v.detach().clone()
            y = F.batch_norm(x, m, v, w, b, True, momentum)
            return y, m, v
        case("functional.batch_norm", train, [floats(shape)] + stats + affine, training=True, momentum=0.3, atol=1e-5, rtol=1e-4, grad=False)
        case("functional.batch_norm", lambda x, m, v, w, b, **_: F.batch_norm(x, None, None, w, b, True),
             [floats(shape), None, None] + affine, training=True, atol=1e-4, rtol=1e-3)
case("functional.batch_norm", lambda x, m, v, w, b, **_: F.batch_norm(x, None, None, training=True), [transposed(floats((2, 4, 3), dtype="f64"))] + [None] * 4,
     training=True)

for shape, groups in [((2, 4), 2), ((2, 4, 3), 2), ((1, 6, 2, 2), 3), ((1, 3, 2), 1), ((2, 2, 3), 2), ((1, 1, 2), 1)]:
    for weight in [True, False]:
        affine = [floats((shape[1],)) if weight else None, floats((shape[1],)) if weight else None]
        case("functional.group_norm", lambda x, w, b, groups, eps: F.group_norm(x, groups, w, b, eps), [floats(shape)] + affine, groups=groups, eps=1e-3,
             atol=1e-5, rtol=1e-4)
case("functional.group_norm", lambda x, w, b, groups: F.group_norm(x, groups), [transposed(floats((2, 3, 4), dtype="f64")), None, None], groups=2)
for shape in [(2, 3, 4), (1, 2, 3, 2), (2, 1, 5), (1, 1, 2, 2, 2), (1, 1, 2)]:
    for weight in [True, False]:
        affine = [floats((shape[1],)) if weight else None, floats((shape[1],)) if weight else None]
        case("functional.instance_norm", lambda x, w, b, eps: F.instance_norm(x, weight=w, bias=b, eps=eps), [floats(shape)] + affine, eps=1e-3, atol=1e-5, rtol=1e-4)
case("functional.instance_norm", lambda x, w, b: F.instance_norm(x), [transposed(floats((2, 3, 4), dtype="f64")), None, None])
for shape, size in [((2, 5, 3), 3), ((1, 4, 2, 2), 2), ((1, 3, 4), 5), ((1, 1, 1), 1), ((2, 6, 2), 4)]:
    case("functional.local_response_norm", lambda x, size, alpha, beta, k: F.local_response_norm(x, size, alpha, beta, k), [floats(shape)], size=size, alpha=0.1,
         beta=0.75, k=1.5, atol=1e-5)
case("functional.local_response_norm", lambda x, size: F.local_response_norm(x, size), [transposed(floats((1, 4, 3)))], size=2, atol=1e-5)
for shape, axis in [((3, 4), 0), ((3, 4), 1), ((2, 3, 2), 0), ((2, 1, 3), 1), ((1, 1), 0)]:
    length = [n if i == axis else 1 for i, n in enumerate(shape)]
    case("functional.weight_norm", lambda v, g, axis: torch._weight_norm(v, g, axis) if axis in (0, v.dim() - 1) else v * (g / v.norm(dim=[0, 2], keepdim=True)),
         [floats(shape), floats(length)], axis=axis, atol=1e-5)
case("functional.weight_norm", lambda v, g, axis: torch._weight_norm(v, g, axis), [transposed(floats((4, 3), dtype="f64")), floats((3, 1), dtype="f64")], axis=0)

# --- Embeddings -----------------------------------------------------------------------------------------

for shape, padding in [((3,), None), ((2, 3), None), ((), None), ((4,), 1), ((2, 2), -1), ((0,), None), ((1,), 0)]:
    for dtype in ["i64", "i32"]:
        case("functional.embedding", lambda index, weight, padding_idx: F.embedding(index, weight, padding_idx), [ints(shape, 0, 5, dtype), floats((5, 3))],
             padding_idx=padding)
case("functional.embedding", F.embedding, [transposed(ints((2, 3), 0, 4, "i64")), transposed(floats((2, 4)))])


def bag(index, weight, offsets, weights, mode, padding_idx=None, include_last_offset=False):
    return F.embedding_bag(index, weight, offsets, mode=mode, per_sample_weights=weights, padding_idx=padding_idx, include_last_offset=include_last_offset)


for mode in ["sum", "mean", "max"]:
    for padding in [None, 2]:
        case("functional.embedding_bag", bag, [ints((3, 4), 0, 6, "i64"), distinct((6, 2)), None, None], mode=mode, padding_idx=padding)
        case("functional.embedding_bag", bag, [ints((7,), 0, 6, "i64"), distinct((6, 3)), values([0, 2, 2, 5], "i64"), None], mode=mode, padding_idx=padding)
    case("functional.embedding_bag", bag, [ints((5,), 0, 4, "i64"), distinct((4, 2)), values([0, 3, 5], "i64"), None], mode=mode, include_last_offset=True)
    case("functional.embedding_bag", bag, [ints((1, 1), 0, 4, "i64"), distinct((4, 1)), None, None], mode=mode)
    case("functional.embedding_bag", bag, [transposed(ints((2, 3), 0, 4, "i64")), distinct((4, 2), dtype="f64"), None, None], mode=mode)
case("functional.embedding_bag", bag, [ints((3, 2), 0, 4, "i64"), floats((4, 2)), None, floats((3, 2))], mode="sum")
case("functional.embedding_bag", bag, [ints((5,), 0, 4, "i64"), floats((4, 2)), values([0, 1, 3], "i64"), floats((5,))], mode="sum", padding_idx=1)
case("functional.embedding_bag", bag, [ints((3, 4), 0, 3, "i64"), ints((3, 2), 0, 2, "f32"), None, None], mode="max")
case("functional.embedding_bag", bag, [ints((9,), 0, 4, "i64"), ints((4, 3), 0, 2, "f32"), values([0, 2, 2, 5], "i64"), None], mode="max")

EXACT, EXTREME = [-1.0, 0.0, 1.0], [-400.0, -300.0, -200.0, 200.0, 300.0, 400.0]
case("softsign", F.softsign, [values(EXACT)])
case("hardsigmoid", F.hardsigmoid, [values(EXTREME)])
case("quick_gelu", lambda x: x * torch.sigmoid(1.702 * x), [values(EXTREME)])

# Near 0 the result is the argument, and as precise.
for name, function, options in [("elu", F.elu, {"alpha": 1.0}), ("elu", F.elu, {"alpha": 0.3}), ("celu", F.celu, {"alpha": 1.5}), ("selu", F.selu, {})]:
    for dtype, rtol in [("f32", 1e-6), ("f64", 1e-13)]:
        case(name, function, [values([-1e-20, -1e-8, -1e-5, -1e-3, -0.1, -0.4], dtype)], **options, rtol=rtol, atol=0.0)
