#!/usr/bin/env python3
"""Writes written.onnx: what onnx makes of the model that writer_test.cpp writes, attributes of every kind among it.

    tests/onnx/make_written.py

The test wants the same bytes. Needs numpy and onnx.
"""

import pathlib

import numpy as np
import onnx
import onnx.helper as make
from onnx import TensorProto as T
from onnx.numpy_helper import from_array


def attribute(name, value):
    return make.make_attribute(name, value)


def node(op, inputs, outputs, name, attributes, domain=""):
    result = make.make_node(op, inputs, outputs, name=name, domain=domain or None)
    result.attribute.extend(attributes)
    return result


weights = from_array(np.array([[1, -2.5], [0.1, 3e38]], np.float32), "w")
small = from_array(np.array([-1, 0, 127], np.int8), "")
words = make.make_tensor("words", T.STRING, [2], [b"one", b""])


def named(tensor, name):
    result = onnx.TensorProto()
    result.CopyFrom(tensor)
    result.name = name
    return result


branch = make.make_graph(
    [node("Relu", ["scaled"], ["Relu_1_out"], "Relu_1", []),
     node("Identity", ["w"], ["inner"], "Identity_1", [])],
    "branch", [make.make_tensor_value_info("b", T.BOOL, [])],
    [onnx.ValueInfoProto(name="inner")])

nodes = [
    node("Mul", ["x", "w"], ["scaled"], "Mul_1", []),
    node("Anything", ["scaled", "", "words"], ["first", "", "third"], "of_every_kind", [
        attribute("int", -3),
        attribute("bool", 1),
        attribute("real", 0.1),
        attribute("string", "text"),
        attribute("type", int(T.FLOAT16)),
        attribute("tensor", named(small, "tensor")),
        attribute("graph", branch),
        attribute("ints", [1, -1, 1 << 40]),
        attribute("reals", [0.5, 1.0, -2.0]),
        attribute("strings", ["a", ""]),
        attribute("tensors", [named(small, "tensors"), named(words, "tensors")]),
    ], "test.weft"),
    node("Identity", ["scaled"], ["again"], "Identity_2", []),
]
graph = make.make_graph(
    nodes, "written",
    [make.make_tensor_value_info("x", T.FLOAT, ["batch", 1, 2]),
     make.make_tensor_value_info("unnamed", T.BFLOAT16, [None, 2])],
    [make.make_tensor_value_info("scaled", T.FLOAT, ["batch", 2, 2]),
     make.make_tensor_value_info("third", T.STRING, []),
     make.make_tensor_value_info("again", T.FLOAT, ["batch", 2, 2])],
    [weights, words])
opsets = [make.make_opsetid("", 22), make.make_opsetid("test.weft", 3)]
model = make.make_model(graph, opset_imports=opsets, ir_version=10, producer_name="weft")
make.set_model_props(model, {"author": "nobody"})
onnx.checker.check_model(model)
path = pathlib.Path(__file__).with_name("written.onnx")
path.write_bytes(model.SerializeToString(deterministic=True))
