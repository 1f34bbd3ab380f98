#!/usr/bin/env python3
"""Write a recurrent layer with random weights:  recurrent.py LSTM|GRU STEPS BATCH HIDDEN OUT

As many inputs as it has cells. A GRU multiplies before it resets, as PyTorch's does. Needs numpy and onnx.
"""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

GATES = {"LSTM": 4, "GRU": 3}
DEVIATION = 0.1  # of weights


def recurrent(kind, steps, batch, hidden):
    random = np.random.default_rng(1)
    rows = GATES[kind] * hidden
    shapes = {"weights": (1, rows, hidden), "own": (1, rows, hidden), "biases": (1, 2 * rows)}
    constants = [numpy_helper.from_array(
        random.standard_normal(shape, dtype=np.float32) * np.float32(DEVIATION), name)
        for name, shape in shapes.items()]
    options = {"linear_before_reset": 1} if kind == "GRU" else {}
    node = helper.make_node(kind, ["x", *shapes], ["y", "last"], hidden_size=hidden, **options)
    values = {"x": [steps, batch, hidden], "y": [steps, 1, batch, hidden],
              "last": [1, batch, hidden]}
    x, *results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
                   for name, shape in values.items()]
    graph = helper.make_graph([node], kind.lower(), [x], results, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    return model


if __name__ == "__main__":
    onnx.save(recurrent(sys.argv[1], *map(int, sys.argv[2:5])), sys.argv[5])
