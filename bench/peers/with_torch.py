"""torch, eager or compiled, for inference, into memory that is there already where it can."""
import os
import re
import subprocess
import sys

import torch
import torch.nn.functional as F

import train_models

EAGER, COMPILED = False, True


class Training:
    """A model, and steps that change its weights; each call is one of them. The loss is the first one's."""

    def __init__(self, case, compiled):
        model, self.inputs, self.optimizer = getattr(self, case["model"])(case["batch"])
        self.loss = torch.compile(model.loss) if compiled else model.loss
        self.first = None

    @staticmethod
    def gpt(batch):
        model = train_models.initialised(train_models.Gpt(65, 6, 192, 6, 128))
        text = train_models.characters(65, 0, batch, 129)
        return (model, (text[:, :-1].contiguous(), text[:, 1:].contiguous()),
                torch.optim.AdamW(model.parameters(), lr=1e-3))

    @staticmethod
    def resnet18(batch):
        model = train_models.initialised(train_models.small_resnet18())
        return (model, (train_models.images(batch, 3, 32), train_models.classes(batch, 10)),
                torch.optim.SGD(model.parameters(), lr=5e-4, momentum=0.9, weight_decay=1e-4))

    @staticmethod
    def mnist(batch):
        model = train_models.initialised(train_models.Mnist())
        return (model, (train_models.images(batch, 1, 28), train_models.classes(batch, 10)),
                torch.optim.Adam(model.parameters(), lr=3e-4))

    @torch.enable_grad()
    def __call__(self):
        self.optimizer.zero_grad()
        loss = self.loss(*self.inputs)
        loss.backward()
        self.optimizer.step()
        if self.first is None:
            self.first = loss.detach().clone().reshape(1)
        return self.first


def out(function):
    kept = function(out=None)
    return lambda: function(out=kept)


class Convolution(torch.nn.Module):
    """With a constant weight, which a compiler may lay out as it likes."""

    def __init__(self, case, weight):
        super().__init__()
        self.weight = torch.nn.Parameter(weight, requires_grad=False)
        self.case = case

    def forward(self, x):
        case = self.case
        if case["op"] == "conv_transpose":
            return F.conv_transpose2d(x, self.weight, stride=case["stride"])
        return F.conv2d(x, self.weight, None, case["stride"], case["padding"], 1, case["groups"])


def attention(case):
    def heads(x):
        return x.view(1, x.shape[1], case["heads"], -1).transpose(1, 2)

    def all_heads(q, k, v):
        y = F.scaled_dot_product_attention(heads(q), heads(k), heads(v), is_causal=case["causal"])
        return y.transpose(1, 2).reshape(q.shape)

    return all_heads


def function_of(case, inputs):
    """The case as a function of tensors, and the tensors."""
    op, x = case["op"], inputs[0]
    if op == "matmul":
        inputs = [i.mT if lies else i for i, lies in zip(inputs, case["transposed"])]
        return torch.matmul, inputs
    if op.startswith("conv"):
        return Convolution(case, inputs[1]).eval(), [x]
    if op == "attention":
        return attention(case), inputs
    axis, axes = case.get("axis"), case.get("axes")
    functions = {
        "add": torch.add,
        "muladd": lambda x, y, z: torch.addcmul(z, x, y),
        "gelu": lambda x: F.gelu(x, approximate="tanh"),
        "softmax": lambda x: torch.softmax(x, axis),
        "layernorm": lambda x: F.layer_norm(x, [x.shape[i] for i in axes]),
        "sum": lambda x: torch.sum(x, axes),
        "max": lambda x: torch.amax(x, axes),
        "permute": lambda x: x.permute(axes).contiguous(),
        "cumsum": lambda x: torch.cumsum(x, axis),
    }
    return functions[op], inputs


def into_memory(case, inputs):
    """The same with a place for the result, for eager calls that take one."""
    axis, axes = case.get("axis"), case.get("axes")
    if case["op"] == "matmul":
        a, b = (i.mT if lies else i for i, lies in zip(inputs, case["transposed"]))
        return out(lambda out: torch.matmul(a, b, out=out))
    if case["op"] == "permute":
        view = inputs[0].permute(axes)
        target = torch.empty(view.shape)
        return lambda: target.copy_(view)
    functions = {
        "add": lambda out: torch.add(*inputs, out=out),
        "muladd": lambda out: torch.addcmul(inputs[2], inputs[0], inputs[1], out=out),
        "softmax": lambda out: torch.softmax(inputs[0], axis, out=out),
        "sum": lambda out: torch.sum(inputs[0], axes, out=out),
        "max": lambda out: torch.amax(inputs[0], axes, out=out),
        "cumsum": lambda out: torch.cumsum(inputs[0], axis, out=out),
    }
    return out(functions[case["op"]]) if case["op"] in functions else None


def code_paths():
    """The processors that oneMKL and oneDNN compute for, as they say themselves in a verbose process."""
    product = "torch.ones(64, 64) @ torch.ones(64, 64)"
    conv = "torch.conv2d(torch.ones(1, 16, 64, 64), torch.ones(64, 16, 3, 3))"
    said = subprocess.run([sys.executable, "-c", f"import torch; {product}; {conv}"],
                          capture_output=True, text=True, check=False,
                          env={**os.environ, "MKL_VERBOSE": "1", "ONEDNN_VERBOSE": "1"}).stdout
    wanted = {"oneMKL for": r"oneMKL .* 64 architecture (.*?),", "oneDNN for": r"info,cpu,isa:(.*)"}
    return {name: found[1] for name, pattern in wanted.items() if (found := re.search(pattern, said))}


class Peer:
    def __init__(self, threads, compiled=EAGER):
        torch.set_num_threads(threads)
        torch.set_num_interop_threads(1)
        torch.set_grad_enabled(False)
        torch.optim.SGD([torch.zeros(1)], lr=0)  # the first imports much, which is no case's memory
        self.compiled = compiled
        if compiled:
            import torch._inductor.config as config
            config.freezing = True
            config.cpp.threads = threads

    def configuration(self):
        facts = {"version": torch.__version__, "threads": torch.get_num_threads(),
                 "kernels for": torch.backends.cpu.get_cpu_capability()}
        return {**facts, **({"compiled": "max-autotune, freezing"} if self.compiled else code_paths())}

    def build(self, case, arrays):
        if case["op"] == "train":
            if self.compiled:
                torch._dynamo.reset()
            return Training(case, self.compiled)
        inputs = [torch.from_numpy(array) for array in arrays]
        if self.compiled:
            torch._dynamo.reset()
            function, inputs = function_of(case, inputs)
            function = torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)
            function(*inputs)  # compiles
            return lambda: function(*inputs)
        run = into_memory(case, inputs)
        if run is None:
            function, inputs = function_of(case, inputs)
            run = lambda: function(*inputs)  # noqa: E731
        return run

    @staticmethod
    def array(result):
        return result.contiguous().numpy()
