#!/usr/bin/env python3
"""Time tinygrad from networks to their kernels:  tinygrad_graph.py OUT.json

The networks of graph.cpp, built the same way and brought as far: tensors built, scheduled, and every
distinct kernel lowered and rendered, without the target compiler. Written against tinygrad 0.14.0; the
device NULL renders and does not run.
"""
import json
import os
import sys
import time

os.environ["DEV"] = "NULL"
from tinygrad import Device, Tensor, dtypes  # noqa: E402
from tinygrad.codegen import to_program  # noqa: E402
from tinygrad.uop.ops import Ops  # noqa: E402


def convolution(x, out, kernel, stride):
    y = x.conv2d(Tensor.empty(out, x.shape[1], kernel, kernel), None, 1, stride, 1, kernel // 2)
    return y.batchnorm(Tensor.empty(out), Tensor.empty(out), Tensor.empty(out),
                       (Tensor.empty(out) + 1e-5).rsqrt())


def bottleneck(x, planes, stride):
    y = convolution(convolution(x, planes, 1, 1).relu(), planes, 3, stride).relu()
    same = stride == 1 and x.shape[1] == 4 * planes
    side = x if same else convolution(x, 4 * planes, 1, stride)
    return (convolution(y, 4 * planes, 1, 1) + side).relu()


def resnet50():
    x = convolution(Tensor.empty(1, 3, 224, 224), 64, 7, 2).relu().max_pool2d((3, 3), 2, 1, 1)
    for stage, blocks in enumerate([3, 4, 6, 3]):
        for block in range(blocks):
            x = bottleneck(x, 64 << stage, 2 if stage > 0 and block == 0 else 1)
    return [x.mean((2, 3)).linear(Tensor.empty(2048, 1000), Tensor.empty(1000))]


def transformer():
    layers, heads, width, words, length, batch = 12, 12, 768, 50257, 256, 4
    parameters = []

    def parameter(*shape):
        parameters.append(Tensor.empty(*shape))
        return parameters[-1]

    def project(x, out):
        return x.linear(parameter(x.shape[-1], out), parameter(out))

    def norm(x):
        return x.layernorm() * parameter(width) + parameter(width)

    def split(x):
        return x.reshape(batch, length, heads, width // heads).transpose(1, 2)

    def block(x):
        q, k, v = project(norm(x), 3 * width).chunk(3, -1)
        a = split(q).scaled_dot_product_attention(split(k), split(v), is_causal=True)
        h = x + project(a.transpose(1, 2).reshape(batch, length, width), width)
        return h + project(project(norm(h), 4 * width).gelu(), width)

    tokens = Tensor.empty(batch, length, dtype=dtypes.int32)
    targets = Tensor.empty(batch, length, dtype=dtypes.int32)
    x = parameter(words, width)[tokens] + parameter(length, width)
    for _ in range(layers):
        x = block(x)
    loss = norm(x).linear(parameter(width, words)).sparse_categorical_crossentropy(targets)
    gradients = loss.gradient(*parameters)
    return [p.detach() - g * 1e-4 for p, g in zip(parameters, gradients)] + [loss]


def measure(network):
    start = time.perf_counter()
    results = network()
    built = time.perf_counter()
    linear = results[0].schedule_linear(*results[1:])
    scheduled = time.perf_counter()
    kernels = {u.src[0].key: u.src[0] for u in linear.src if u.src[0].op is Ops.SINK}
    for kernel in kernels.values():
        to_program(kernel, Device[Device.DEFAULT].renderer)
    done = time.perf_counter()
    return {"build": built - start, "schedule": scheduled - built, "lower": done - scheduled,
            "total": done - start, "kernels": len(linear.src), "distinct": len(kernels)}


def main():
    measure(lambda: [Tensor.empty(8, 8).softmax().matmul(Tensor.empty(8, 8))])
    figures = {"resnet50": measure(resnet50), "transformer": measure(transformer)}
    with open(sys.argv[1], "w") as out:
        json.dump(figures, out, indent=1)


main()
