"""Optimisers, over 20 steps of a small problem, and the rates of schedules."""

import math
import os
import types

import torch
from torch.optim import lr_scheduler

os.environ["DEV"] = "PYTHON"  # tinygrad's device that needs no compiler
import tinygrad
from tinygrad.nn import optim as tinygrad_optim

from cases import *


# PyTorch rounds to bf16 within Muon, which weft leaves to the dtype of the parameter.
class InF32(types.ModuleType):
    bfloat16 = torch.float32

    def __getattr__(self, name):
        return getattr(torch, name)


torch.optim._muon.torch = InF32("torch")
STEPS = 20


def by_torch(rule, options, w, b, x, y):
    parameters = [w.detach().clone().requires_grad_(), b.detach().clone().requires_grad_()]
    w, b = parameters
    # torch has Muon for matrices only.
    optimizer = getattr(torch.optim, rule)(parameters[:1] if rule == "Muon" else parameters, **options)
    for step in range(STEPS):
        optimizer.zero_grad()
        ((x @ w + b).tanh() - y).square().sum().backward()
        optimizer.step()
        if step == 0:
            first = w.detach().clone()
    return first, w.detach(), b.detach()


def one_cycle(rule, options, cycle, w, b, x, y):
    """The parameters, and the momentum at each step."""
    w, b = [w.detach().clone().requires_grad_(), b.detach().clone().requires_grad_()]
    optimizer = getattr(torch.optim, rule)([w, b], **options)
    schedule = lr_scheduler.OneCycleLR(optimizer, max_lr=0.05, total_steps=STEPS + 1, **cycle)
    found = []
    for _ in range(STEPS):
        group = optimizer.param_groups[0]
        found.append(group["betas"][0] if "betas" in group else group["momentum"])
        optimizer.zero_grad()
        ((x @ w + b).tanh() - y).square().sum().backward()
        optimizer.step()
        schedule.step()
    return w.detach(), b.detach(), torch.tensor(found, dtype=torch.float32)


def by_tinygrad(rule, options, *inputs):
    w, b, x, y = (tinygrad.Tensor(value.numpy(), device="PYTHON") for value in inputs)
    w, b = w.is_param_(), b.is_param_()
    optimizer = getattr(tinygrad_optim, rule)([w, b], **options)
    with tinygrad.Context(TRAINING=1):
        for step in range(STEPS):
            optimizer.zero_grad()
            ((x @ w + b).tanh() - y).square().sum().backward()
            optimizer.step()
            if step == 0:
                first = w.numpy()
    return tuple(torch.from_numpy(value.copy()) for value in (first, w.numpy(), b.numpy()))


def optimizer(rule, by=by_torch, **options):
    """betas become beta1 and beta2."""
    inputs = [floats((3, 2), -1, 1), floats((2,), -1, 1), floats((4, 3)), floats((4, 2), -1, 1)]
    arguments = dict(options)
    arguments.pop("tcoef", None), arguments.pop("betas", None), arguments.pop("b1", None), arguments.pop("b2", None)
    if "betas" in options:
        arguments["beta1"], arguments["beta2"] = options["betas"]
    if "b1" in options:
        arguments["beta1"], arguments["beta2"] = options["b1"], options["b2"]
    if "tcoef" in options:
        arguments["trust"] = options["tcoef"]
    given = lambda w, b, x, y, **_: by(rule, options, w, b, x, y)
    case("optimizer", given, inputs, grad=False, rtol=1e-4, atol=1e-5, rule=rule, **arguments)


for options in [
    {"lr": 0.05},
    {"lr": 0.02, "momentum": 0.9},
    {"lr": 0.02, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1},
    {"lr": 0.02, "momentum": 0.8, "nesterov": True, "weight_decay": 0.05},
    {"lr": 0.001, "momentum": 0.5, "maximize": True},
]:
    optimizer("SGD", **options)
for options in [
    {"lr": 0.05},
    {"lr": 0.05, "betas": (0.7, 0.9), "eps": 1e-3, "weight_decay": 0.1},
    {"lr": 0.05, "betas": (0.5, 0.6), "amsgrad": True},
    {"lr": 0.01, "maximize": True},
]:
    optimizer("Adam", **options)
    optimizer("AdamW", **options)
for options in [
    {"lr": 0.02},
    {"lr": 0.02, "alpha": 0.8, "eps": 1e-3, "weight_decay": 0.1, "momentum": 0.5},
    {"lr": 0.02, "alpha": 0.9, "eps": 1e-2, "centered": True},
    {"lr": 0.01, "eps": 1e-2, "centered": True, "momentum": 0.9, "maximize": True},
]:
    optimizer("RMSprop", **options)
for options in [
    {"lr": 0.1},
    {"lr": 0.2, "lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.5, "eps": 1e-3},
    {"lr": 0.02, "maximize": True},
]:
    optimizer("Adagrad", **options)
for options in [
    {"lr": 0.01},  # five steps of Newton and Schulz make much of little: a larger rate is chaos
    {"lr": 0.01, "momentum": 0.5, "weight_decay": 0.5, "nesterov": False},
    {"lr": 0.05, "ns_steps": 3, "weight_decay": 0.0},
]:
    optimizer("Muon", **options)
for options in [{"lr": 0.05}, {"lr": 0.05, "b1": 0.7, "b2": 0.9, "eps": 1e-3, "weight_decay": 0.1}]:
    optimizer("LAMB", by_tinygrad, **options)
for options in [
    {"lr": 5.0},
    {"lr": 0.5, "tcoef": 0.1, "momentum": 0.5, "weight_decay": 0.1},
    {"lr": 0.5, "tcoef": 0.05, "momentum": 0.8, "nesterov": True},
    {"lr": 0.5, "tcoef": 0.1, "momentum": 0.0, "weight_decay": 0.01},
]:
    optimizer("LARS", by_tinygrad, **options)


# --- Rates ------------------------------------------------------------------------------------------------

MADE = {
    "LambdaLR": lambda o, root: lr_scheduler.LambdaLR(o, lambda step: 1 / math.sqrt(1 + root * step)),
    "warm-up": lambda o, warm, t_max: lr_scheduler.SequentialLR(
        o, [lr_scheduler.LinearLR(o, 0.1, total_iters=warm), lr_scheduler.CosineAnnealingLR(o, t_max)], [warm]
    ),
    "three": lambda o, first, second: lr_scheduler.SequentialLR(
        o,
        [lr_scheduler.ConstantLR(o, 0.1, 3), lr_scheduler.ExponentialLR(o, 0.9), lr_scheduler.StepLR(o, 2, 0.5)],
        [first, second],
    ),
}
NAMES = {"t_max": "T_max", "t_0": "T_0", "t_mult": "T_mult"}


def rates(name, options, steps, measured=None):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)
    if name in MADE:
        schedule = MADE[name](optimizer, **options)
    else:
        if name == "OneCycleLR":
            options = {**options, "cycle_momentum": False}
        schedule = getattr(lr_scheduler, name)(optimizer, **{NAMES.get(key, key): value for key, value in options.items()})
    found = [optimizer.param_groups[0]["lr"]]
    for step in range(steps):
        optimizer.step()
        schedule.step(*([] if measured is None else [measured[step]]))
        found.append(optimizer.param_groups[0]["lr"])
    return torch.tensor(found, dtype=torch.float32)


def schedule(name, steps=24, measured=None, **options):
    function = lambda **_: rates(name, options, steps, measured)
    case("schedule", function, [], grad=False, rtol=1e-5, atol=1e-8, kind=name, steps=steps, measured=measured, **options)


schedule("StepLR", step_size=5)
schedule("StepLR", step_size=3, gamma=0.7)
schedule("MultiStepLR", milestones=[3, 4, 15], gamma=0.3)
schedule("ExponentialLR", gamma=0.9)
schedule("LambdaLR", root=0.5)
schedule("ConstantLR", factor=0.25, total_iters=7)
schedule("LinearLR")
schedule("LinearLR", start_factor=0.1, end_factor=0.8, total_iters=11)
schedule("PolynomialLR", total_iters=15, power=2.0)
schedule("PolynomialLR", total_iters=30)
schedule("CosineAnnealingLR", t_max=9)
schedule("CosineAnnealingLR", steps=30, t_max=24, eta_min=0.01)
schedule("CosineAnnealingWarmRestarts", t_0=7)
schedule("CosineAnnealingWarmRestarts", steps=40, t_0=4, t_mult=2, eta_min=0.001)
schedule("OneCycleLR", max_lr=0.5, total_steps=24, steps=23)
schedule("OneCycleLR", max_lr=0.5, total_steps=30, pct_start=0.2, three_phase=True, div_factor=10.0, final_div_factor=100.0)
schedule("OneCycleLR", max_lr=0.2, total_steps=25, anneal_strategy="linear")
schedule("warm-up", warm=6, t_max=20)
schedule("three", first=4, second=12)
MEASURED = [5.0, 4.0, 4.0, 4.1, 3.9996, 4.2, 4.3, 4.0, 3.0, 3.1, 3.2, 3.3, 3.4, 2.0, 2.1, 2.2, 2.3, 2.4, 2.5, 2.6, 2.7, 2.8, 2.9, 3.0]
RISING = [round(5.5 - value, 4) for value in MEASURED]


def plateau(**options):
    schedule("ReduceLROnPlateau", measured=RISING if options.get("mode") == "max" else MEASURED, **options)


plateau(patience=2)
plateau(patience=1, factor=0.5, cooldown=2, min_lr=0.01)
plateau(patience=3, threshold=0.5, threshold_mode="abs")
plateau(patience=2, mode="max", factor=0.8)
plateau(patience=2, mode="max", factor=0.8, threshold=0.1, threshold_mode="abs")

# --- Momentum that goes against the rate ---------------------------------------------------------------------

for rule, options in [
    ("SGD", {"lr": 0.1, "momentum": 0.9}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    ("Adam", {"lr": 0.1}),
    ("AdamW", {"lr": 0.1, "betas": (0.8, 0.9)}),
    ("RMSprop", {"lr": 0.1, "momentum": 0.5}),
]:
    for cycle in [{}, {"three_phase": True, "base_momentum": 0.7, "max_momentum": 0.9, "anneal_strategy": "linear"}]:
        inputs = [floats((3, 2), -1, 1), floats((2,), -1, 1), floats((4, 3)), floats((4, 2), -1, 1)]
        arguments = {key: value for key, value in options.items() if key != "betas"}
        if "betas" in options:
            arguments["beta1"], arguments["beta2"] = options["betas"]
        given = lambda w, b, x, y, **_: one_cycle(rule, options, cycle, w, b, x, y)
        case("one_cycle", given, inputs, grad=False, rtol=1e-4, atol=1e-5, rule=rule, **arguments, **cycle)
