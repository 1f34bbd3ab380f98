#!/usr/bin/env python3
"""Networks of bytes, as onnxruntime's quantiser writes them:  quantised_networks.py IN OUT

QuantizeLinear and DequantizeLinear stand around what computes: activations are u8, weights i8 with a scale for each
channel. Ranges are those of a few random inputs. Needs numpy, onnx and onnxruntime.
"""
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnx.version_converter
from onnx import TensorProto, helper

import values
from driving import Network

CALLS = 4  # that ranges are seen in

# Expansion, channels, repeats, stride.
MOBILENET_V2 = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                (6, 160, 3, 2), (6, 320, 1, 1))


class MobileNet(Network):
    """MobileNetV2 of width 1, with random weights."""

    def clipped(self, x):
        return self.node("Clip", x, self.constant(np.float32(0)), self.constant(np.float32(6)))

    def residual(self, x, inner, outer, stride, expansion):
        wide = inner * expansion
        y = x if expansion == 1 else self.clipped(self.conv(x, inner, wide))
        y = self.clipped(self.conv(y, wide, wide, 3, stride, groups=wide))
        y = self.conv(y, wide, outer)
        return self.node("Add", x, y) if stride == 1 and inner == outer else y

    def model(self):
        x = self.clipped(self.conv(self.input("image", [1, 3, 224, 224]), 3, 32, 3, 2))
        inner = 32
        for expansion, outer, repeats, stride in MOBILENET_V2:
            for repeat in range(repeats):
                x = self.residual(x, inner, outer, 1 if repeat else stride, expansion)
                inner = outer
        x = self.node("GlobalAveragePool", self.clipped(self.conv(x, inner, 1280)))
        self.output("classes", self.linear(self.node("Flatten", x), 1280, 1000), [1, 1000])
        graph = helper.make_graph(self.nodes, "mobilenet_v2", self.inputs, self.outputs,
                                  initializer=self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


def mobilenet_v2():
    return MobileNet(None, 7).model()


def quantised(path):
    """The network in the file, quantised."""
    import onnxruntime
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

    class Reader(CalibrationDataReader):
        def __init__(self, ports):
            self.ports, self.calls = ports, 0

        def get_next(self):
            self.calls += 1
            if self.calls > CALLS:
                return None
            return {port.name: values.input_values(
                [size.dim_value for size in port.type.tensor_type.shape.dim], self.calls - 1)
                for port in self.ports}

    with tempfile.TemporaryDirectory() as folder:
        now, joined, result = (Path(folder) / name for name in ("now.onnx", "joined.onnx", "result.onnx"))
        # One scale for each channel is something that opsets have since 13.
        onnx.save(onnx.version_converter.convert_version(onnx.load(path), 17), now)
        options = onnxruntime.SessionOptions()  # batch norms become parts of convolutions
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = str(joined)
        onnxruntime.InferenceSession(str(now), options, providers=["CPUExecutionProvider"])
        model = onnx.load(joined)
        stored = {each.name for each in model.graph.initializer}
        ports = [port for port in model.graph.input if port.name not in stored]
        assert all(port.type.tensor_type.elem_type == TensorProto.FLOAT for port in ports)
        quantize_static(str(joined), str(result), Reader(ports),
                        quant_format=QuantFormat.QDQ, per_channel=True,
                        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)
        return onnx.load(result)


def main():
    onnx.save(quantised(sys.argv[1]), sys.argv[2])


if __name__ == "__main__":
    main()
