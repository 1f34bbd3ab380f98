#!/usr/bin/env python3
"""Write an encoder of BERT-base's shape, with random weights:  encoder.py OUT

Twelve layers of attention with twelve heads and of two products with GELU between them, as exporters write both, behind
embeddings of 128 tokens. Needs numpy and onnx.
"""
import math
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LAYERS, TOKENS, WIDTH, HEADS, INNER = 12, 128, 768, 12, 3072
DEVIATION = 0.02  # of weights


class Writer:
    def __init__(self):
        self.random = np.random.default_rng(1)
        self.nodes, self.constants = [], []

    def constant(self, name, array):
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, op, inputs, output, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [output], **attributes))
        return output

    def linear(self, x, name, wide, out):
        weights = self.random.standard_normal((wide, out), dtype=np.float32) * np.float32(DEVIATION)
        bias = self.random.standard_normal(out, dtype=np.float32) * np.float32(DEVIATION)
        product = self.node("MatMul", [x, self.constant(f"{name}.weight", weights)], f"{name}.product")
        return self.node("Add", [product, self.constant(f"{name}.bias", bias)], name)

    def heads(self, x, name, axes):
        apart = self.node("Reshape", [x, "heads"], f"{name}.apart")
        return self.node("Transpose", [apart], f"{name}.heads", perm=axes)

    def norm(self, x, name):
        scale = self.constant(f"{name}.scale", np.ones(WIDTH, np.float32))
        bias = self.constant(f"{name}.bias", np.zeros(WIDTH, np.float32))
        return self.node("LayerNormalization", [x, scale, bias], name, axis=-1, epsilon=1e-12)

    def attention(self, x, name):
        queries, keys, values = (self.linear(x, f"{name}.{which}", WIDTH, WIDTH) for which in "qkv")
        queries = self.heads(queries, f"{name}.q", [0, 2, 1, 3])
        keys = self.heads(keys, f"{name}.k", [0, 2, 3, 1])
        values = self.heads(values, f"{name}.v", [0, 2, 1, 3])
        products = self.node("MatMul", [queries, keys], f"{name}.products")
        scores = self.node("Mul", [products, "scale"], f"{name}.scores")
        shares = self.node("Softmax", [scores], f"{name}.shares", axis=-1)
        seen = self.node("MatMul", [shares, values], f"{name}.seen")
        together = self.node("Transpose", [seen], f"{name}.together", perm=[0, 2, 1, 3])
        rows = self.node("Reshape", [together, "rows"], f"{name}.rows")
        return self.linear(rows, f"{name}.out", WIDTH, WIDTH)

    def gelu(self, x, name):
        erf = self.node("Erf", [self.node("Div", [x, "root"], f"{name}.small")], f"{name}.erf")
        share = self.node("Add", [erf, "one"], f"{name}.share")
        return self.node("Mul", [self.node("Mul", [x, share], f"{name}.double"), "half"], name)

    def layer(self, x, name):
        seen = self.attention(x, f"{name}.attention")
        x = self.norm(self.node("Add", [seen, x], f"{name}.first"), f"{name}.norm1")
        inner = self.gelu(self.linear(x, f"{name}.up", WIDTH, INNER), f"{name}.gelu")
        down = self.linear(inner, f"{name}.down", INNER, WIDTH)
        return self.norm(self.node("Add", [down, x], f"{name}.second"), f"{name}.norm2")


def encoder():
    writer = Writer()
    writer.constant("heads", np.array([1, TOKENS, HEADS, WIDTH // HEADS], np.int64))
    writer.constant("rows", np.array([1, TOKENS, WIDTH], np.int64))
    writer.constant("scale", np.float32(1 / math.sqrt(WIDTH // HEADS)))
    writer.constant("root", np.float32(math.sqrt(2)))
    writer.constant("one", np.float32(1))
    writer.constant("half", np.float32(0.5))
    x = "embeddings"
    for number in range(LAYERS):
        x = writer.layer(x, f"layer{number}")
    shapes = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, TOKENS, WIDTH])
              for name in ("embeddings", x)]
    graph = helper.make_graph(writer.nodes, "encoder", shapes[:1], shapes[1:], writer.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    return model


if __name__ == "__main__":
    onnx.save(encoder(), sys.argv[1])
