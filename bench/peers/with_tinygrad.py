"""tinygrad by its TinyJit, which replays the kernels alone."""
import os
import subprocess
from importlib.metadata import version

import numpy as np
from tinygrad import Context, Device, Tensor, TinyJit, nn
from tinygrad.helpers import BEAM, NUM_CPU_THREADS
from tinygrad.nn.onnx import OnnxRunner

import train_models

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


class ConvBlock:
    def __init__(self, inputs, out):
        self.conv, self.norm = nn.Conv2d(inputs, out, 3, padding=1), nn.BatchNorm(out)

    def __call__(self, x):
        return self.norm(self.conv(x)).relu()


class Mnist:
    """examples/models/mnist.h, one step in each call. The loss is the first one's."""

    def __init__(self, batch):
        self.block1, self.block2, self.block3 = ConvBlock(1, 32), ConvBlock(32, 64), ConvBlock(64, 128)
        self.hidden, self.out = nn.Linear(128 * 7 * 7, 256), nn.Linear(256, 10)
        theirs = nn.state.get_state_dict(self)
        like = dict(train_models.initialised(train_models.Mnist()).named_parameters())
        for name, tensor in theirs.items():
            if name in like:
                tensor.assign(like[name].detach().numpy())
        self.optimizer = nn.optim.Adam([theirs[name] for name in like], lr=3e-4)
        self.inputs = [Tensor(of.numpy()).realize() for of in (
            train_models.images(batch, 1, 28), train_models.classes(batch, 10))]
        self.step, self.first = TinyJit(self.train), None

    def train(self, images, classes):
        with Context(TRAINING=1):
            self.optimizer.zero_grad()
            half = self.block1(images / 255).max_pool2d()
            quarter = self.block2(half).max_pool2d()
            scores = self.out(self.hidden(self.block3(quarter).flatten(1)).relu())
            loss = scores.sparse_categorical_crossentropy(classes).backward()
            return loss.realize(*self.optimizer.schedule_step())

    def __call__(self):
        loss = self.step(*self.inputs)
        if self.first is None:
            self.first = Tensor(loss.numpy().reshape(1))
        return self.first


def network(case, arrays):
    runner = OnnxRunner(case["file"])
    inputs = {one["name"]: Tensor(array).realize() for one, array in zip(case["inputs"], arrays)}

    @TinyJit
    def replayed(**given):
        outputs = runner(given)
        return [outputs[name].contiguous().realize() for name in case["outputs"]]

    for _ in range(2):  # the first call runs, the second is recorded
        replayed(**inputs)
    return lambda: replayed(**inputs)


class Peer:
    def __init__(self, _threads):
        pass

    @staticmethod
    def configuration():
        compiler = Device[Device.DEFAULT].renderer.compiler
        said = subprocess.run([os.environ["CC"], "--version"], capture_output=True, text=True, check=True)
        return {"version": version("tinygrad"), "threads": NUM_CPU_THREADS.value, "device": Device.DEFAULT,
                "compiler": f"{said.stdout.splitlines()[0]} {' '.join(compiler.args)}", "BEAM": BEAM.value}

    def build(self, case, arrays):
        if case["op"] == "train":
            return Mnist(case["batch"])
        if case["op"] == "network":
            return network(case, arrays)
        inputs = [Tensor(array).realize() for array in arrays]
        function = matmul if case["op"] == "matmul" else FUNCTIONS[case["op"]]
        replayed = TinyJit(lambda *inputs: function(case, *inputs).realize())
        for _ in range(2):  # the first call runs, the second is recorded
            replayed(*inputs)
        return lambda: replayed(*inputs)

    @staticmethod
    def array(result):
        if isinstance(result, list):
            return np.concatenate([each.numpy().astype(np.float32).ravel() for each in result])
        return result.numpy().astype(np.float32)
