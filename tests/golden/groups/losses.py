"""Losses."""

import torch
import torch.nn.functional as F

from cases import *

REDUCTIONS = [None, "mean", "sum", "none"]

for reduction, shape in product(REDUCTIONS, [(2, 3), (), (1,), (4, 1, 2)]):
    reduced = {"reduction": reduction}
    case(
        "binary_crossentropy",
        lambda x, y, reduction: F.binary_cross_entropy(x, y, reduction=reduction or "mean"),
        [floats(shape, 0.1, 0.9), floats(shape, 0, 1)],
        **reduced
    )
    case(
        "binary_crossentropy_logits",
        lambda x, y, reduction: F.binary_cross_entropy_with_logits(x, y, reduction=reduction or "mean"),
        [floats(shape, -5, 5), floats(shape, 0, 1)],
        **reduced
    )
    case(
        "mse_loss",
        lambda x, y, reduction: F.mse_loss(x, y, reduction=reduction or "mean"),
        [floats(shape), floats(shape)],
        **reduced
    )
for name, function, low, high in [
    ("binary_crossentropy", F.binary_cross_entropy, 0.2, 0.8),
    ("binary_crossentropy_logits", F.binary_cross_entropy_with_logits, -3, 3),
]:
    case(name, lambda x, y: function(x, y), [floats((2, 3), low, high, "f64"), floats((2, 3), 0, 1, "f64")])
    case(
        name,
        lambda x, y, reduction: function(x, y, reduction=reduction),
        [floats((0, 3), low, high), floats((0, 3), 0, 1)],
        reduction="sum",
    )
    case(
        name,
        lambda x, y: function(x, y),
        [transposed(floats((2, 3), low, high)), transposed(floats((2, 3), 0, 1))],
    )
case(
    "binary_crossentropy_logits",
    lambda x, y: F.binary_cross_entropy_with_logits(x, y),
    [values([-200.0, -50, 50, 200]), values([0.0, 1, 0, 1])],
)


def shapes(x):
    """Scores (batch, classes, sizes ...) and the shape of their classes."""
    return x[:1] + x[2:] if len(x) > 1 else ()


def nll(x, y, w=None, ignore_index=None, reduction=None):
    """PyTorch has no gradient of the weights."""
    return F.nll_loss(
        x,
        y.long(),
        None if w is None else w.detach(),
        reduction=reduction or "mean",
        ignore_index=-100 if ignore_index is None else ignore_index,
    )


SCORES = [(3, 4), (2, 5, 3), (1, 1), (4,), (2, 3, 2, 2)]
for shape, reduction in product(SCORES, REDUCTIONS):
    classes = shape[1] if len(shape) > 1 else shape[0]
    target = lambda: ints(shapes(shape), 0, classes)
    for weighted, ignore_index in [(False, None), (True, None), (False, 0), (True, 0)]:
        if ignore_index == 0 and classes == 1:
            continue
        case(
            "nll_loss",
            nll,
            [
                floats(shape),
                ints(shapes(shape), 1 if ignore_index == 0 and len(shape) == 1 else 0, classes),
                floats((classes,), 0.5, 2) if weighted else None,
            ],
            ignore_index=ignore_index,
            reduction=reduction,
        )
    for smoothing in [None, 0.2]:
        case(
            "cross_entropy",
            lambda x, y, label_smoothing, reduction: F.cross_entropy(
                x, y.long(), label_smoothing=label_smoothing or 0.0, reduction=reduction or "mean"
            ),
            [floats(shape), target()],
            label_smoothing=smoothing,
            reduction=reduction,
        )
        case(
            "cross_entropy",
            lambda x, y, label_smoothing, reduction: F.cross_entropy(
                x, y, label_smoothing=label_smoothing or 0.0, reduction=reduction or "mean"
            ),
            [floats(shape), floats(shape, 0, 1)],
            label_smoothing=smoothing,
            reduction=reduction,
        )
for dtype in ["f16", "f64"]:
    case(
        "cross_entropy",
        lambda x, y: F.cross_entropy(x, y.long()),
        [floats((3, 4), dtype=dtype), ints((3,), 0, 4)],
        grad=dtype == "f64",
    )
case(
    "cross_entropy", lambda x, y: F.cross_entropy(x, y), [transposed(floats((4, 3))), ints((3,), 0, 4, "i64")]
)
case(
    "cross_entropy",
    lambda x, y, reduction: F.cross_entropy(x, y.long(), reduction=reduction),
    [floats((0, 3)), ints((0,))],
    reduction="none",
)
case("nll_loss", nll, [floats((0, 3)), ints((0,)), None], reduction="none")
case("nll_loss", nll, [transposed(floats((4, 3))), ints((3,), 0, 4, "i64"), None])
for reduction in REDUCTIONS:
    case(
        "nll_loss",
        nll,
        [floats((4, 3)), values([0, 2, 1, 2], "i32"), floats((3,), 0.5, 2)],
        ignore_index=2,
        reduction=reduction,
    )
    case(
        "nll_loss",
        nll,
        [floats((4, 3)), values([0, 2, -1, -1], "i32"), None],
        ignore_index=-1,
        reduction=reduction,
    )


def sparse(x, y, ignore_index=-1, label_smoothing=0.0, reduction="mean"):
    """Over the last axis. PyTorch's own mean counts weights in the same way."""
    flat = F.cross_entropy(
        x.reshape(-1, x.shape[-1]),
        y.long().reshape(-1),
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
        reduction=reduction,
    )
    return flat.reshape(y.shape) if reduction == "none" else flat


for shape, reduction, smoothing in product([(3, 4), (2, 3, 5), (1, 1), (4,)], REDUCTIONS, [None, 0.3]):
    case(
        "sparse_categorical_crossentropy",
        lambda x, y, reduction, label_smoothing: sparse(
            x, y, -1, label_smoothing or 0.0, reduction or "mean"
        ),
        [floats(shape), ints(shape[:-1], 0, shape[-1])],
        reduction=reduction,
        label_smoothing=smoothing,
    )
for reduction in REDUCTIONS:
    for ignore in [None, 2]:
        case(
            "sparse_categorical_crossentropy",
            lambda x, y, ignore_index, reduction: sparse(
                x, y, -1 if ignore_index is None else ignore_index, 0.0, reduction or "mean"
            ),
            [floats((4, 3)), values([0, 2, 1, 2] if ignore else [0, -1, 2, -1], "i32")],
            ignore_index=ignore,
            reduction=reduction,
        )
case("sparse_categorical_crossentropy", sparse, [transposed(floats((4, 3))), ints((3,), 0, 4)])

# Certain ones, right and wrong.
certain = [values([0.0, 1.0, 0.0, 1.0, 0.5]), values([0.0, 1.0, 1.0, 0.0, 1.0])]
case("binary_crossentropy", lambda x, y, reduction: F.binary_cross_entropy(x, y.detach(), reduction=reduction), certain,
     reduction="none")
