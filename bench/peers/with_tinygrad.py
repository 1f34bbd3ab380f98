"""tinygrad by its TinyJit, which replays the kernels alone."""
from importlib.metadata import version

import numpy as np
from tinygrad import Device, Tensor, TinyJit

FUNCTIONS = {
    "add": lambda case, x, y: x + y,
    "muladd": lambda case, x, y, z: x * y + z,
    "gelu": lambda case, x: x.gelu(),
    "softmax": lambda case, x: x.softmax(case["axis"]),
    "layernorm": lambda case, x: x.layernorm(tuple(case["axes"])),
    "sum": lambda case, x: x.sum(tuple(case["axes"])),
    "max": lambda case, x: x.max(tuple(case["axes"])),
    "permute": lambda case, x: x.permute(*case["axes"]).contiguous(),
    "cumsum": lambda case, x: x.cumsum(case["axis"]),
    "conv": lambda case, x, w: x.conv2d(w, None, case["groups"], case["stride"], 1,
                                        case["padding"]),
    "conv_transpose": lambda case, x, w: x.conv_transpose2d(w, None, stride=case["stride"]),
}


def matmul(case, a, b):
    a, b = (x.transpose(-2, -1) if lies else x for x, lies in zip((a, b), case["transposed"]))
    return a.matmul(b)


class Peer:
    def __init__(self, _threads):
        self.versions = f"tinygrad {version('tinygrad')} on {Device.DEFAULT}"

    def build(self, case, arrays):
        inputs = [Tensor(array).realize() for array in arrays]
        function = matmul if case["op"] == "matmul" else FUNCTIONS[case["op"]]
        replayed = TinyJit(lambda *inputs: function(case, *inputs).realize())
        for _ in range(2):  # the first call runs, the second is recorded
            replayed(*inputs)
        return lambda: replayed(*inputs)

    @staticmethod
    def array(result):
        return result.numpy().astype(np.float32)
