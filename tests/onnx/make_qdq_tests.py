#!/usr/bin/env python3
"""Writes qdq_tests.zip: models that onnxruntime's quantiser has made, and what onnxruntime computes of them, node by
node: its own kernels of bytes add pairs of products in 16 bits on some processors.

    tests/onnx/make_qdq_tests.py

Each case is a folder in the layout of the standard's node tests. Needs numpy, onnx and onnxruntime.
"""

import io
import logging
import pathlib
import tempfile
import zipfile

import numpy as np
import onnx
import onnx.helper as make
import onnx.numpy_helper
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

FOLDER = pathlib.Path(__file__).resolve().parent
random = np.random.default_rng(11)
logging.disable(logging.WARNING)


def floats(*shape):
    return random.standard_normal(shape).astype(np.float32)


class Samples(CalibrationDataReader):
    def __init__(self, inputs):
        self.rest = iter([{"x": x} for x in inputs])

    def get_next(self):
        return next(self.rest, None)


def session(path):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(path, options)


def model(nodes, constants, shape):
    constants = [onnx.numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = make.make_graph(
        nodes, "net", [make.make_tensor_value_info("x", onnx.TensorProto.FLOAT, shape)],
        [make.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)], constants)
    return make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8)


def add(archive, path, content):
    """With the same date each time."""
    archive.writestr(zipfile.ZipInfo(path), content, zipfile.ZIP_DEFLATED)


def case(archive, name, net, shape, **options):
    inputs = [floats(*shape) for _ in range(8)]
    with tempfile.TemporaryDirectory() as folder:
        before, after = f"{folder}/before.onnx", f"{folder}/after.onnx"
        onnx.save(net, before)
        quantize_static(before, after, Samples(inputs), quant_format=QuantFormat.QDQ, **options)
        operators = [node.op_type for node in onnx.load(after).graph.node]
        assert "DequantizeLinear" in operators and "QuantizeLinear" in operators, operators
        expected, = session(after).run(None, {"x": inputs[0]})
        add(archive, f"{name}/model.onnx", pathlib.Path(after).read_bytes())
    for kind, port, values in (("input", "x", inputs[0]), ("output", "y", expected)):
        add(archive, f"{name}/test_data_set_0/{kind}_0.pb",
            onnx.numpy_helper.from_array(values, port).SerializeToString())


class Layers:
    """Convolutions and what is between them, one after the other."""

    def __init__(self):
        self.nodes, self.constants = [], {}

    def add(self, op, inputs, **attributes):
        output = f"{op.lower()}{len(self.nodes)}"
        self.nodes.append(make.make_node(op, inputs, [output], name=f"node_{output}", **attributes))
        return output

    def constant(self, values):
        name = f"constant{len(self.constants)}"
        self.constants[name] = values
        return name

    def conv(self, x, inputs, outputs, size=3, group=1, pads=(1, 1, 1, 1), **attributes):
        weights = floats(outputs, inputs // group, size, size)
        return self.add("Conv", [x, self.constant(weights), self.constant(floats(outputs))], group=group,
                        pads=pads, **attributes)

    def model(self, output, shape):
        self.nodes[-1].output[0] = "y"
        assert self.nodes[-1].name == f"node_{output}"
        return model(self.nodes, self.constants, shape)


def residual():
    net = Layers()
    first = net.add("Relu", [net.conv("x", 3, 8)])
    total = net.add("Add", [net.conv(first, 8, 8), first])
    pooled = net.add("MaxPool", [net.add("Relu", [total])], kernel_shape=[3, 3], strides=[2, 2],
                     pads=[1, 1, 1, 1])
    flat = net.add("Flatten", [net.add("GlobalAveragePool", [net.conv(pooled, 8, 4)])])
    return net.model(net.add("Gemm", [flat, net.constant(floats(4, 6)), net.constant(floats(6))]),
                     [2, 3, 8, 8])


def separable():
    net = Layers()
    own = net.conv("x", 6, 6, group=6, strides=[2, 2], pads=[0, 0, 1, 1])
    limits = [net.constant(np.array(limit, np.float32)) for limit in (0, 6)]
    wide = net.conv(net.add("Clip", [own, *limits]), 6, 8, size=1, pads=[0, 0, 0, 0])
    scaled = net.add("Mul", [wide, net.add("Sigmoid", [wide])])
    return net.model(net.conv(scaled, 8, 4, group=2, dilations=[2, 2], pads=[2, 2, 2, 2]), [1, 6, 9, 9])


def branches():
    net = Layers()
    both = net.add("Concat", [net.conv("x", 4, 3), net.conv("x", 4, 5, size=1, pads=[0, 0, 0, 0])], axis=1)
    # Means of 9 steps are never half a step, which rounding of floats would decide.
    pooled = net.add("AveragePool", [both], kernel_shape=[3, 3], strides=[2, 2])
    return net.model(net.conv(pooled, 8, 4), [1, 4, 8, 8])


bytes_of = io.BytesIO()
with zipfile.ZipFile(bytes_of, "w", zipfile.ZIP_DEFLATED) as archive:
    product = model([make.make_node("MatMul", ["x", "w"], ["y"])], {"w": floats(48, 20)}, [6, 48])
    layers = model(
        [make.make_node("MatMul", ["x", "v"], ["a"]), make.make_node("Relu", ["a"], ["b"]),
         make.make_node("MatMul", ["b", "w"], ["c"]), make.make_node("Add", ["c", "shift"], ["y"])],
        {"v": floats(16, 32), "w": floats(32, 8), "shift": floats(8)}, [2, 3, 16])
    maps = model(
        [make.make_node("Conv", ["x", "w", "b"], ["a"], pads=[1, 1, 1, 1]),
         make.make_node("Relu", ["a"], ["y"])],
        {"w": floats(6, 3, 3, 3), "b": floats(6)}, [1, 3, 8, 8])
    dense = model([make.make_node("Gemm", ["x", "w", "b"], ["y"], transB=1)],
                  {"w": floats(10, 40), "b": floats(10)}, [5, 40])
    plain = model([make.make_node("Gemm", ["x", "w"], ["a"]), make.make_node("Relu", ["a"], ["y"])],
                  {"w": floats(40, 10)}, [5, 40])
    for activation in (QuantType.QUInt8, QuantType.QInt8):
        for by_channel in (False, True):
            for name, net, shape in (("matmul", product, (6, 48)), ("layers", layers, (2, 3, 16)),
                                     ("conv", maps, (1, 3, 8, 8)), ("dense", dense, (5, 40)),
                                     ("plain", plain, (5, 40))):
                kind = f"{activation}{'_by_channel' if by_channel else ''}".lower()
                case(archive, f"qdq_{name}_{kind}", net, shape, per_channel=by_channel,
                     activation_type=activation, weight_type=QuantType.QInt8)
    for name, net, shape in (("residual", residual(), (2, 3, 8, 8)),
                             ("separable", separable(), (1, 6, 9, 9)),
                             ("branches", branches(), (1, 4, 8, 8))):
        case(archive, f"qdq_{name}_quint8_by_channel", net, shape, per_channel=True,
             activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)
        case(archive, f"qdq_{name}_qint8", net, shape, activation_type=QuantType.QInt8,
             weight_type=QuantType.QInt8)
(FOLDER / "qdq_tests.zip").write_bytes(bytes_of.getvalue())
