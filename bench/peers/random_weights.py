#!/usr/bin/env python3
"""Give a network random weights for those that are one number throughout:  random_weights.py IN OUT

The standard's light models have every weight from a ConstantOfShape, so that whole layers are one number.
Here they are numbers of a size that keeps activations finite, the same in every run. Needs numpy and onnx.
"""
import math
import sys
import zlib

import numpy as np
import onnx
from onnx import numpy_helper

# The inputs of BatchNormalization.
SCALE, BIAS, MEAN, VARIANCE = 1, 2, 3, 4


def role_of(graph, name):
    """Who reads a weight, and as which input; behind what only changes its shape."""
    for node in graph.node:
        if name in node.input:
            if node.op_type in ("Unsqueeze", "Reshape"):
                return role_of(graph, node.output[0])
            return node.op_type, list(node.input).index(name)
    return "", 0


def weights(role, shape, random):
    op, place = role
    if op in ("Conv", "Gemm") and place == 1:
        return random.standard_normal(shape) / math.sqrt(math.prod(shape[1:]))
    if op == "Mul" or (op, place) == ("BatchNormalization", SCALE):
        return random.uniform(0.8, 1.2, shape)
    if (op, place) == ("BatchNormalization", VARIANCE):
        return random.uniform(0.5, 1.5, shape)
    return random.standard_normal(shape) * 0.1


def with_random_weights(model):
    """The model itself, changed."""
    graph = model.graph
    known = {each.name: each for each in graph.initializer}
    found = {}  # shapes by name
    for each in graph.initializer:
        if each.data_type == onnx.TensorProto.FLOAT:
            found[each.name] = list(each.dims)
    for node in [node for node in graph.node if node.op_type == "ConstantOfShape"]:
        found[node.output[0]] = numpy_helper.to_array(known[node.input[0]]).tolist()
        graph.node.remove(node)
    for name, shape in found.items():
        random = np.random.default_rng(zlib.crc32(name.encode()))
        values = weights(role_of(graph, name), shape, random).astype(np.float32)
        if name in known:
            graph.initializer.remove(known[name])
        graph.initializer.append(numpy_helper.from_array(values, name))
    for port in [port for port in graph.input if port.name in known or port.name in found]:
        graph.input.remove(port)  # what may be given by a caller is no constant
    model.ir_version = max(model.ir_version, 4)  # since then initialisers need not be inputs
    return model


def main():
    onnx.save(with_random_weights(onnx.load(sys.argv[1])), sys.argv[2])


if __name__ == "__main__":
    main()
