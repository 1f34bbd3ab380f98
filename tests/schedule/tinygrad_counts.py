#!/usr/bin/env python3
"""How many kernels tinygrad makes of the expressions of beside_tinygrad_test.cpp:

    tinygrad_counts.py > tinygrad_counts.txt

By name, of tensors in memory; written against tinygrad 0.14.0.
"""
import os

os.environ["DEV"] = "NULL"
from tinygrad import Tensor, dtypes  # noqa: E402
from tinygrad.uop.ops import Ops  # noqa: E402


def real(*shape):
    return Tensor.empty(*shape)


def whole(*shape):
    return Tensor.empty(*shape, dtype=dtypes.int32)


x, y, row = real(64, 100), real(64, 100), real(100)
a, b = real(64, 128), real(128, 32)
line, image = real(4096), real(2, 8, 16, 16)
weight, bias, channel = real(12, 8, 3, 3), real(12), real(8)
classes, words, table = whole(64), whole(4, 6), real(50, 16)
q, k, v = real(2, 4, 64, 32), real(2, 4, 64, 32), real(2, 4, 64, 32)
rows = whole(7)


def gradient(loss, *targets):
    return loss.gradient(*targets)


expressions = {
    "add": lambda: x + y,
    "chain": lambda: ((x * 2 + y).relu() - 1).exp(),
    "where": lambda: (x > 0).where(x, y),
    "clamp": lambda: x.clip(0, 1),
    "gelu": lambda: x.gelu(),
    "silu": lambda: x.silu(),
    "mish": lambda: x.mish(),
    "softplus": lambda: x.softplus(),
    "tanh": lambda: x.tanh(),
    "erf": lambda: x.erf(),
    "permute": lambda: x.permute(1, 0).contiguous(),
    "flip": lambda: x.flip(1).contiguous(),
    "pad": lambda: x.pad(((1, 1), (2, 2))).contiguous(),
    "cat": lambda: x.cat(y, dim=1),
    "stack": lambda: x.stack(y),
    "repeat": lambda: x.repeat(2, 2),
    "roll": lambda: x.roll(3, 1),
    "tril": lambda: a.matmul(b).tril(),
    "diagonal": lambda: x[:, :64].diagonal(),
    "sum": lambda: x.sum(1),
    "sum of all": lambda: line.sum(),
    "mean": lambda: x.mean(1),
    "max": lambda: x.max(1),
    "prod": lambda: x.prod(1),
    "var": lambda: x.var(1),
    "std": lambda: x.std(1),
    "any": lambda: (x > 0).any(1),
    "argmax": lambda: x.argmax(1),
    "argmin": lambda: x.argmin(1),
    "logsumexp": lambda: x.logsumexp(1),
    "softmax": lambda: x.softmax(1),
    "log_softmax": lambda: x.log_softmax(1),
    "cumsum": lambda: x.cumsum(1),
    "cumsum of many": lambda: line.cumsum(),
    "cumprod": lambda: x.cumprod(1),
    "cummax": lambda: x.cummax(1)[0],
    "logcumsumexp": lambda: x.logcumsumexp(1),
    "matmul": lambda: a @ b,
    "matmul, bias, relu": lambda: (a @ b + real(32)).relu(),
    "linear": lambda: a.linear(b, real(32)),
    "dot of vectors": lambda: row.dot(row),
    "conv2d": lambda: image.conv2d(weight, bias),
    "conv2d, relu": lambda: image.conv2d(weight, bias, padding=1).relu(),
    "conv_transpose2d": lambda: image.conv_transpose2d(real(8, 12, 3, 3), bias),
    "max_pool2d": lambda: image.max_pool2d((2, 2)),
    "avg_pool2d": lambda: image.avg_pool2d((2, 2)),
    "interpolate": lambda: image.interpolate((32, 32)),
    "layernorm": lambda: x.layernorm(),
    "batchnorm": lambda: image.batchnorm(channel, channel, channel, channel),
    "normalize": lambda: x.normalize(),
    "attention": lambda: q.scaled_dot_product_attention(k, v),
    "attention, causal": lambda: q.scaled_dot_product_attention(k, v, is_causal=True),
    "cross_entropy": lambda: x.cross_entropy(classes),
    "sparse_categorical_crossentropy": lambda: x.sparse_categorical_crossentropy(classes),
    "binary_crossentropy_logits": lambda: x.binary_crossentropy_logits(y),
    "nll_loss": lambda: x.log_softmax(1).nll_loss(classes),
    "one_hot": lambda: classes.one_hot(100).cast(dtypes.int32),
    "gather": lambda: x.gather(1, whole(64, 5)),
    "embedding": lambda: table[words],
    "rows by a tensor": lambda: x[rows],
    "masked_fill": lambda: x.masked_fill(y > 0, 0),
    "scatter": lambda: x.scatter(1, whole(64, 5), real(64, 5)),
    "scatter_reduce": lambda: x.scatter_reduce(1, whole(64, 5), real(64, 5), reduce="sum"),
    "sort": lambda: x.sort(1)[0],
    "argsort": lambda: x.argsort(1),
    "topk": lambda: x.topk(5, 1)[0],
    "randn": lambda: Tensor.randn(1000),
    "randperm": lambda: Tensor.randperm(1000),
    "einsum": lambda: Tensor.einsum("ij,jk->ki", a, b),
    "gradient of softmax": lambda: gradient((x.softmax(1) * y).sum(), x)[0],
    "gradient of layernorm": lambda: gradient((x.layernorm() * y).sum(), x)[0],
    "gradient of cross_entropy": lambda: gradient(x.cross_entropy(classes), x)[0],
    "gradients of linear": lambda: gradient((a @ b).relu().sum(), a, b),
    "gradients of conv2d": lambda: gradient(image.conv2d(weight, bias).relu().sum(), image, weight),
    "gradient of max_pool2d": lambda: gradient(image.max_pool2d((2, 2)).square().sum(), image)[0],
    "gradient of embedding": lambda: gradient(table[words].square().sum(), table)[0],
}


def kernels(value):
    first, *rest = value if isinstance(value, list) else [value]
    return sum(u.src[0].op is Ops.SINK for u in first.schedule_linear(*rest).src)


print("# By tinygrad_counts.py.")
for name, call in expressions.items():
    Tensor.manual_seed(0)
    print(f"{kernels(call()):3} {name}")
