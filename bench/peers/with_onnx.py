"""onnxruntime and openvino: models of one layer, or whole ones, between memory that is there already.

The weights of a convolution are constants, which both lay out as they like before the first run.
"""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


PROVIDERS = ["CPUExecutionProvider"]


def model_of(case, arrays):
    """The model, and the arrays that are its inputs."""
    names = ["a", "b"]
    nodes, constants = [], []
    if case["op"] == "attention":
        return attention_model(case), arrays
    if case["op"] == "matmul":
        for place, lies in enumerate(case["transposed"]):
            if lies:
                axes = list(range(arrays[place].ndim))
                axes[-2:] = reversed(axes[-2:])
                nodes.append(helper.make_node("Transpose", [names[place]], [names[place] + "t"],
                                              perm=axes))
                names[place] += "t"
        nodes.append(helper.make_node("MatMul", names, ["y"]))
        inputs = arrays
    else:
        attributes = {"strides": [case["stride"]] * 2, "pads": [case["padding"]] * 4,
                      "group": case["groups"], "kernel_shape": arrays[1].shape[2:]}
        kind = "Conv" if case["op"] == "conv" else "ConvTranspose"
        nodes.append(helper.make_node(kind, names, ["y"], **attributes))
        constants.append(numpy_helper.from_array(arrays[1], "b"))
        inputs = arrays[:1]
    described = [helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape)
                 for name, array in zip("ab", inputs)]
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "case", described, [result], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    return onnx.shape_inference.infer_shapes(model), inputs


def attention_model(case):
    """Its own operator, which is one kernel there. The standard has none that it fuses for float inputs."""
    node = helper.make_node("MultiHeadAttention", ["a", "b", "c"], ["y"], domain="com.microsoft",
                            num_heads=case["heads"], unidirectional=int(case["causal"]))
    shapes = [helper.make_tensor_value_info(name, TensorProto.FLOAT, case["inputs"][0])
              for name in "abcy"]
    graph = helper.make_graph([node], "case", shapes[:3], shapes[3:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17),
                                                    helper.make_opsetid("com.microsoft", 1)])
    model.ir_version = 8
    return model


def result_shape(model):
    return [size.dim_value for size in model.graph.output[0].type.tensor_type.shape.dim]


class OnnxRuntime:
    def __init__(self, threads):
        import onnxruntime
        self.runtime = onnxruntime
        self.options = onnxruntime.SessionOptions()
        self.options.intra_op_num_threads = threads
        self.options.inter_op_num_threads = 1
        self.options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL

    def configuration(self):
        return {"version": self.runtime.__version__, "threads": self.options.intra_op_num_threads,
                "providers": " ".join(PROVIDERS), "optimisations": self.options.graph_optimization_level.name}

    def build(self, case, arrays):
        if case["op"] == "network":
            return self.network(case, arrays)
        model, inputs = model_of(case, arrays)
        session = self.runtime.InferenceSession(model.SerializeToString(), self.options,
                                                providers=PROVIDERS)
        bound = [self.runtime.OrtValue.ortvalue_from_numpy(array)
                 for array in (*inputs, np.empty(result_shape(model), np.float32))]
        binding = session.io_binding()
        for name, value in zip("abc", bound[:-1]):
            binding.bind_ortvalue_input(name, value)
        binding.bind_ortvalue_output("y", bound[-1])

        def run():  # holds what is bound, which the binding does not
            session.run_with_iobinding(binding)
            return bound[-1]

        return run

    def network(self, case, arrays):
        session = self.runtime.InferenceSession(case["file"], self.options,
                                                providers=PROVIDERS)
        bound = [self.runtime.OrtValue.ortvalue_from_numpy(array) for array in arrays]
        binding = session.io_binding()
        for one, value in zip(case["inputs"], bound):
            binding.bind_ortvalue_input(one["name"], value)
        for name in case["outputs"]:
            binding.bind_output(name)

        def run():  # holds what is bound, which the binding does not
            session.run_with_iobinding(binding)
            return bound and binding.get_outputs()

        return run

    @staticmethod
    def array(result):
        if isinstance(result, list):
            return np.concatenate([each.numpy().ravel() for each in result])
        return result.numpy()


class OpenVino:
    def __init__(self, threads):
        import openvino
        self.openvino = openvino
        self.core = openvino.Core()
        self.settings = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY",
                         "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"}

    def configuration(self):
        return {"version": self.openvino.__version__.split("-")[0],
                "threads": self.settings["INFERENCE_NUM_THREADS"],
                "its CPU plugin computes in": " ".join(self.core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")),
                "hints": f"{self.settings['PERFORMANCE_HINT']}, {self.settings['INFERENCE_PRECISION_HINT']}"}

    def build(self, case, arrays):
        if case["op"] == "network":
            return self.network(case, arrays)
        model, inputs = model_of(case, arrays)
        compiled = self.core.compile_model(self.core.read_model(model.SerializeToString()), "CPU",
                                           self.settings)
        request = compiled.create_infer_request()
        bound = [*inputs, np.empty(result_shape(model), np.float32)]
        tensors = [self.openvino.Tensor(array, shared_memory=True) for array in bound]
        for place, tensor in enumerate(tensors[:-1]):
            request.set_input_tensor(place, tensor)
        request.set_output_tensor(tensors[-1])

        def run():  # holds the memory, which the tensors do not
            request.infer()
            return bound[-1]

        return run

    def network(self, case, arrays):
        model = self.core.read_model(case["file"])
        shapes = {one["name"]: one["shape"] for one in case["inputs"]}
        if any(port.get_partial_shape().is_dynamic for port in model.inputs):
            model.reshape(shapes)
        precision = {"INFERENCE_PRECISION_HINT": case.get("precision", "f32")}
        compiled = self.core.compile_model(model, "CPU", {**self.settings, **precision})
        request = compiled.create_infer_request()
        tensors = [self.openvino.Tensor(array, shared_memory=True) for array in arrays]
        for one, tensor in zip(case["inputs"], tensors):
            request.set_tensor(one["name"], tensor)
        outputs = range(len(case["outputs"]))

        def run():  # holds the memory, which the tensors do not
            request.infer()
            return arrays and [request.get_output_tensor(place).data for place in outputs]

        return run

    @staticmethod
    def array(result):
        if isinstance(result, list):
            return np.concatenate([each.ravel() for each in result])
        return result
