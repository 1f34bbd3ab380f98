#!/usr/bin/env python3
"""Write a network of the shape that drives a car, with random weights:  driving.py OUT [small]

Two cameras' frames, each twice and as six planes of YUV 4:2:0, go through a trunk of inverted residuals with
squeeze and excitation, as EfficientNet-B2 has them. What it sees becomes 512 numbers; attention looks at those of
the last hundred frames, and heads say where to drive, where lanes and the car ahead are, and how the car moves.
Needs numpy and onnx.
"""
import math
import sys
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


@dataclass(frozen=True)
class Size:
    """How large it is."""
    frame: tuple  # planes, rows, columns of each camera
    stem: int
    blocks: tuple  # expansion, channels, repeats, stride, kernel
    seen: int  # channels behind the trunk
    squeezed: int  # of them, for each place
    features: int
    frames: int  # that attention looks at
    layers: int
    heads: int
    outputs: dict  # of each head: numbers within, and out


FULL = Size(frame=(12, 128, 256), stem=32,
            blocks=((1, 16, 2, 1, 3), (6, 24, 3, 2, 3), (6, 48, 3, 2, 5), (6, 88, 4, 2, 3),
                    (6, 120, 4, 1, 5), (6, 208, 5, 2, 5), (6, 352, 2, 1, 3)),
            seen=1408, squeezed=32, features=512, frames=100, layers=2, heads=8,
            outputs={"plan": (256, 4955), "lane_lines": (128, 536), "road_edges": (128, 264),
                     "lead": (128, 174), "pose": (64, 12), "meta": (64, 48)})
SMALL = Size(frame=(12, 32, 64), stem=8,
             blocks=((1, 8, 1, 1, 3), (4, 12, 2, 2, 3), (4, 16, 1, 2, 5), (4, 24, 2, 2, 3)),
             seen=64, squeezed=8, features=32, frames=10, layers=1, heads=4,
             outputs={"plan": (32, 66), "lane_lines": (16, 40), "road_edges": (16, 20),
                      "lead": (16, 24), "pose": (16, 12), "meta": (16, 8)})
DESIRES, CONVENTIONS = 8, 2


class Network:
    def __init__(self, size, seed):
        self.size, self.random = size, np.random.default_rng(seed)
        self.nodes, self.weights, self.inputs, self.outputs = [], [], [], []

    # --- Nodes. Each returns the name of its output ----------------------------------------------------

    def node(self, op, *inputs, **attributes):
        name = f"{op}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def constant(self, values):
        name = f"constant_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def weight(self, *shape, fan_in):
        values = self.random.standard_normal(shape) * math.sqrt(1.8 / fan_in)
        return self.constant(values.astype(np.float32))

    def bias(self, count):
        return self.constant((self.random.standard_normal(count) * 0.1).astype(np.float32))

    def input(self, name, shape, kind=TensorProto.FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def output(self, name, value, shape):
        self.nodes.append(helper.make_node("Identity", [value], [name], name=name))
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def reshape(self, x, *shape):
        return self.node("Reshape", x, self.constant(np.array(shape, np.int64)))

    def linear(self, x, inner, outer):
        product = self.node("MatMul", x, self.weight(inner, outer, fan_in=inner))
        return self.node("Add", product, self.bias(outer))

    def conv(self, x, inner, outer, kernel=1, stride=1, groups=1):
        weight = self.weight(outer, inner // groups, kernel, kernel,
                             fan_in=inner // groups * kernel**2)
        before = (kernel - 1) // 2
        return self.node("Conv", x, weight, self.bias(outer), kernel_shape=[kernel] * 2,
                         strides=[stride] * 2, pads=[before] * 4, group=groups)

    def swish(self, x):
        return self.node("Mul", x, self.node("Sigmoid", x))

    def norm(self, x, width):
        scale = self.constant(self.random.uniform(0.8, 1.2, width).astype(np.float32))
        return self.node("LayerNormalization", x, scale, self.bias(width), axis=-1)

    # --- What is seen ------------------------------------------------------------------------------------

    def frames(self):
        """Bytes of both cameras, from -1 to 1."""
        half = self.constant(np.float32(127.5))
        planes = []
        for name in ("road", "wide_road"):
            pixels = self.input(name, [1, *self.size.frame], TensorProto.UINT8)
            numbers = self.node("Cast", pixels, to=TensorProto.FLOAT)
            planes.append(self.node("Div", self.node("Sub", numbers, half), half))
        return self.node("Concat", *planes, axis=1)

    def excited(self, x, channels, inner):
        mean = self.node("GlobalAveragePool", x)
        narrow = self.swish(self.conv(mean, channels, inner))
        return self.node("Mul", x, self.node("Sigmoid", self.conv(narrow, inner, channels)))

    def inverted_residual(self, x, inner, outer, stride, kernel, expansion):
        wide = inner * expansion
        y = x if expansion == 1 else self.swish(self.conv(x, inner, wide))
        y = self.swish(self.conv(y, wide, wide, kernel, stride, groups=wide))
        y = self.conv(self.excited(y, wide, max(1, inner // 4)), wide, outer)
        return self.node("Add", x, y) if stride == 1 and inner == outer else y

    def features(self):
        size = self.size
        x = self.swish(self.conv(self.frames(), 2 * size.frame[0], size.stem, 3, 2))
        inner, scale = size.stem, 2
        for expansion, channels, repeats, stride, kernel in size.blocks:
            for repeat in range(repeats):
                x = self.inverted_residual(x, inner, channels, 1 if repeat else stride, kernel,
                                           expansion)
                inner = channels
            scale *= stride
        x = self.conv(self.swish(self.conv(x, inner, size.seen)), size.seen, size.squeezed)
        places = (size.frame[1] // scale) * (size.frame[2] // scale)
        x = self.reshape(x, 1, 1, size.squeezed * places)
        return self.node("Tanh", self.linear(x, size.squeezed * places, size.features))

    # --- What came before --------------------------------------------------------------------------------

    def split_heads(self, x):
        size = self.size
        shaped = self.reshape(x, 1, size.frames, size.heads, size.features // size.heads)
        return self.node("Transpose", shaped, perm=[0, 2, 1, 3])

    def attention(self, x):
        size, width = self.size, self.size.features
        normal = self.norm(x, width)
        query, key, value = (self.split_heads(self.linear(normal, width, width)) for _ in range(3))
        scores = self.node("MatMul", query, self.node("Transpose", key, perm=[0, 1, 3, 2]))
        scale = self.constant(np.float32(1 / math.sqrt(width / size.heads)))
        shares = self.node("Softmax", self.node("Mul", scores, scale), axis=-1)
        heard = self.node("Transpose", self.node("MatMul", shares, value), perm=[0, 2, 1, 3])
        merged = self.reshape(heard, 1, size.frames, width)
        return self.node("Add", x, self.linear(merged, width, width))

    def layer(self, x):
        width = self.size.features
        x = self.attention(x)
        inner = self.swish(self.linear(self.norm(x, width), width, 2 * width))
        return self.node("Add", x, self.linear(inner, 2 * width, width))

    def summary(self, features):
        """Of all frames, in the place of the last."""
        size, width = self.size, self.size.features
        before = self.input("features_buffer", [1, size.frames - 1, width])
        x = self.node("Concat", before, features, axis=1)
        desire = self.linear(self.input("desire", [1, size.frames, DESIRES]), DESIRES, width)
        places = self.weight(1, size.frames, width, fan_in=100)
        x = self.node("Add", self.node("Add", x, desire), places)
        for _ in range(size.layers):
            x = self.layer(x)
        last = self.node("Gather", self.norm(x, width), self.constant(np.int64(size.frames - 1)),
                         axis=1)
        convention = self.input("traffic_convention", [1, CONVENTIONS])
        return self.node("Concat", last, convention, axis=-1)

    def model(self):
        features = self.features()
        state, width = self.summary(features), self.size.features + CONVENTIONS
        for name, (inner, count) in self.size.outputs.items():
            hidden = self.node("Relu", self.linear(state, width, inner))
            hidden = self.node("Add", hidden, self.swish(self.linear(hidden, inner, inner)))
            self.output(name, self.linear(hidden, inner, count), [1, count])
        self.output("hidden_state", features, [1, 1, self.size.features])
        graph = helper.make_graph(self.nodes, "driving", self.inputs, self.outputs, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8,
                                 producer_name="")


def driving(size=FULL, seed=1):
    return Network(size, seed).model()


def main():
    onnx.save(driving(SMALL if "small" in sys.argv[2:] else FULL), sys.argv[1])


if __name__ == "__main__":
    main()
