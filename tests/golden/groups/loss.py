"""Losses beyond the methods of Tensor, and their further options."""

import torch
import torch.nn.functional as F

from cases import *

REDUCTIONS = ["mean", "sum", "none"]
REDUCED = lambda reduction: {} if reduction == "mean" else {"reduction": reduction}
SHAPES = [(2, 3), (), (1,), (4, 1, 2), (0, 3)]


def classes_of(shape):
    return shape[:1] + shape[2:] if len(shape) > 1 else ()


def of_classes(function):
    """PyTorch wants i64, and has no gradient of weights."""
    return lambda x, y, w, **options: function(
        x, y.long() if not y.is_floating_point() else y, None if w is None else w.detach(), **options
    )


def weighted(function):
    return lambda x, y, w, **options: function(x, y, None if w is None else w.detach(), **options)


# --- Classes ----------------------------------------------------------------------------------------

for shape, reduction in product([(3, 4), (2, 5, 3), (1, 1), (4,), (2, 3, 2, 2)], REDUCTIONS):
    count = shape[1] if len(shape) > 1 else shape[0]
    for weights, smoothing, ignore in [(1, None, None), (1, 0.3, None), (None, 0.1, 0), (1, 0.2, 0)]:
        if ignore == 0 and (count == 1 or len(shape) == 1):
            continue
        target = ints(classes_of(shape), 0, count)
        if ignore == 0 and len(shape) > 1:
            target.view(-1)[0] = 1  # not all of them
        case(
            "cross_entropy",
            of_classes(F.cross_entropy),
            [floats(shape), target, floats((count,), 0.5, 2) if weights else None],
            ignore_index=ignore if ignore is not None else -100,
            label_smoothing=smoothing or 0.0,
            **REDUCED(reduction),
        )
    case(
        "cross_entropy",
        of_classes(F.cross_entropy),
        [floats(shape), floats(shape, 0, 1), floats((count,), 0.5, 2)],
        label_smoothing=0.2,
        **REDUCED(reduction),
    )
    case(
        "nll_loss",
        of_classes(F.nll_loss),
        [floats(shape), ints(classes_of(shape), 0, count), floats((count,), 0.5, 2)],
        **REDUCED(reduction),
    )
INF = float("inf")
case("cross_entropy", of_classes(F.cross_entropy), [values([[1.0, -INF, 2], [-INF, 0, -INF]]), values([2, 1], "i32"), None])
case("cross_entropy", of_classes(F.cross_entropy), [values([[1.0, 300, -200], [1e30, 0, -1e30]]), values([2, 0], "i32"), None])
case("cross_entropy", of_classes(F.cross_entropy), [floats((3, 2)), values([-100, -100, -100], "i32"), None], grad=False)
case("cross_entropy", of_classes(F.cross_entropy), [floats((3, 4), dtype="f64"), values([1, -100, 3], "i64"), None])
case("cross_entropy", of_classes(F.cross_entropy), [transposed(floats((4, 3))), ints((3,), 0, 4), floats((4,), 0.5, 2)])
case("nll_loss", of_classes(F.nll_loss), [floats((3, 2)), values([0, -100, 1], "i32"), None])

for p, margin, weights, reduction in product([1, 2], [1.0, 0.5], [None, 1], REDUCTIONS):
    case(
        "multi_margin_loss",
        lambda x, y, w, p, margin, reduction="mean": F.multi_margin_loss(
            x, y.long(), p, margin, None if w is None else w.detach(), reduction=reduction
        ),
        [floats((3, 4)), ints((3,), 0, 4), floats((4,), 0.5, 2) if weights else None],
        p=p,
        margin=margin,
        **REDUCED(reduction),
    )
for shape in [(4,), (1, 1), (1, 5)]:
    case(
        "multi_margin_loss",
        lambda x, y, w: F.multi_margin_loss(x, y.long()),
        [floats(shape), ints(shape[:-1], 0, shape[-1]), None],
    )
LABELS = [[[3, 0, -1, 1], [1, -1, 0, 2], [-1, 0, 0, 0]], [[0, 1, 2, 3]], [2, 2, -1, 0], [0], [-1]]
for labels, reduction in product(LABELS, REDUCTIONS):
    target = values(labels, "i32")
    case(
        "multilabel_margin_loss",
        lambda x, y, **options: F.multilabel_margin_loss(x, y.long(), **options),
        [floats(tuple(target.shape)), target],
        **REDUCED(reduction),
    )
for weights, reduction in product([None, 1], REDUCTIONS):
    for shape in [(2, 3), (1, 1), (3, 2, 4), (4,)]:
        case(
            "multilabel_soft_margin_loss",
            lambda x, y, w, **options: F.multilabel_soft_margin_loss(x, y.detach(), None if w is None else w.detach(), **options),
            [floats(shape), bools(shape).to(torch.float32), floats(shape[-1:], 0.5, 2) if weights else None],
            **REDUCED(reduction),
        )

# --- Numbers ------------------------------------------------------------------------------------------

for shape, reduction in product(SHAPES, REDUCTIONS):
    if 0 in shape and reduction == "mean":
        continue
    reduced = REDUCED(reduction)
    pair = lambda low=-3, high=3: [floats(shape, low, high), floats(shape, low, high)]
    case("mse_loss", F.mse_loss, pair(), **reduced)
    case("l1_loss", F.l1_loss, pair(), **reduced)
    for beta in [None, 0.5, 0.0, 3.0]:
        case(
            "smooth_l1_loss",
            lambda x, y, beta=1.0, reduction="mean": F.smooth_l1_loss(x, y, beta=beta, reduction=reduction),
            pair(),
            **({} if beta is None else {"beta": beta}),
            **reduced,
        )
    for delta in [None, 0.5, 3.0]:
        case(
            "huber_loss",
            lambda x, y, delta=1.0, reduction="mean": F.huber_loss(x, y, delta=delta, reduction=reduction),
            pair(),
            **({} if delta is None else {"delta": delta}),
            **reduced,
        )
    for log_input, full in product([True, False], [True, False]):
        # The gradient by the target jumps where Stirling's formula sets in.
        case(
            "poisson_nll_loss",
            lambda x, y, **options: F.poisson_nll_loss(x, y.detach(), **options),
            [floats(shape, 0.2, 3), floats(shape, 0, 5)],
            log_input=log_input,
            full=full,
            **reduced,
        )
    for full in [True, False]:
        case(
            "gaussian_nll_loss",
            F.gaussian_nll_loss,
            pair() + [floats(shape, 0.2, 2)],
            full=full,
            **reduced,
        )
    for log_target in [True, False]:
        case(
            "kl_div",
            F.kl_div,
            [floats(shape, -3, 0), floats(shape, -3, 0) if log_target else floats(shape, 0.1, 1)],
            log_target=log_target,
            **reduced,
        )
    for weights in [None, 1]:
        case(
            "binary_cross_entropy",
            weighted(F.binary_cross_entropy),
            [floats(shape, 0.1, 0.9), floats(shape, 0, 1), floats(shape, 0.5, 2) if weights else None],
            **reduced,
        )
    case(
        "binary_cross_entropy_with_logits",
        lambda x, y, w, p, reduction="mean": F.binary_cross_entropy_with_logits(
            x, y, w.detach(), reduction=reduction, pos_weight=p.detach()
        ),
        [floats(shape, -5, 5), floats(shape, 0, 1), floats(shape, 0.5, 2), floats(shape[-1:], 0.5, 3)],
        **reduced,
    )
    case("soft_margin_loss", lambda x, y, **options: F.soft_margin_loss(x, y.detach(), **options), [floats(shape), bools(shape).to(torch.float32) * 2 - 1], **reduced)
    case(
        "hinge_embedding_loss",
        lambda x, y, **options: F.hinge_embedding_loss(x, y.detach(), **options),
        [floats(shape), bools(shape).to(torch.float32) * 2 - 1],
        margin=0.7,
        **reduced,
    )
    case(
        "margin_ranking_loss",
        lambda a, b, y, **options: F.margin_ranking_loss(a, b, y.detach(), **options),
        pair() + [bools(shape).to(torch.float32) * 2 - 1],
        margin=0.3,
        **reduced,
    )
for name, function in [("mse_loss", F.mse_loss), ("l1_loss", F.l1_loss)]:
    case(name, function, [floats((2, 3), dtype="f64"), floats((2, 3), dtype="f64")])
    case(name, function, [transposed(floats((2, 3))), floats((3, 2))])
    case(name, function, [floats((4,), dtype="f16"), floats((4,), dtype="f16")], grad=False)
case("gaussian_nll_loss", F.gaussian_nll_loss, [floats((2, 3)), floats((2, 3)), floats((2,), 0.2, 2)])
case("gaussian_nll_loss", F.gaussian_nll_loss, [floats((2, 3)), floats((2, 3)), floats((2, 1), 0.2, 2)])
case("gaussian_nll_loss", F.gaussian_nll_loss, [floats((2,)), floats((2,)), values([0.0, 0.01])], eps=0.1)
case("kl_div", lambda x, y, batch_mean: F.kl_div(x, y, reduction="batchmean"), [floats((3, 4), -3, 0), floats((3, 4), 0.1, 1)], batch_mean=True)
case("kl_div", lambda x, y: F.kl_div(x, y.detach()), [floats((4,), -3, 0), values([0.0, 0.5, 0, 0.5])])
case("binary_cross_entropy", lambda x, y, w: F.binary_cross_entropy(x, y), [values([0.0, 1, 0, 1]), values([0.0, 1, 1, 0]), None], grad=False)
case("binary_cross_entropy_with_logits", lambda x, y, w, p: F.binary_cross_entropy_with_logits(x, y, pos_weight=p.detach()), [values([-200.0, -50, 50, 200]), values([0.0, 1, 0, 1]), None, values([2.0])])


def focal(x, y, alpha=0.25, gamma=2.0, reduction="none"):
    """As torchvision.ops.sigmoid_focal_loss."""
    p = torch.sigmoid(x)
    ce = F.binary_cross_entropy_with_logits(x, y, reduction="none")
    right = p * y + (1 - p) * (1 - y)
    loss = ce * (1 - right) ** gamma
    if alpha >= 0:
        loss = (alpha * y + (1 - alpha) * (1 - y)) * loss
    return {"none": loss, "mean": loss.mean(), "sum": loss.sum()}[reduction]


for shape, alpha, gamma in product([(2, 3), (1,), (0, 2), ()], [0.25, 0.7, -1.0], [2.0, 0.5, 0.0]):
    case("sigmoid_focal_loss", focal, [floats(shape), bools(shape).to(torch.float32)], alpha=alpha, gamma=gamma)
for reduction in REDUCTIONS:
    case("sigmoid_focal_loss", focal, [floats((2, 3)), bools((2, 3)).to(torch.float32)], reduction=reduction)


def dice(x, y, smooth=1.0, reduction="mean"):
    both = (x * y).flatten(1).sum(1)
    loss = 1 - (2 * both + smooth) / (x.flatten(1).sum(1) + y.flatten(1).sum(1) + smooth)
    return {"none": loss, "mean": loss.mean(), "sum": loss.sum()}[reduction]


for shape, reduction in product([(2, 3), (1, 1), (2, 2, 3), (3, 0)], REDUCTIONS):
    case("dice_loss", dice, [floats(shape, 0, 1), floats(shape, 0, 1)], smooth=0.5, **REDUCED(reduction))
case("dice_loss", dice, [floats((2, 3), 0, 1), floats((2, 3), 0, 1)])

# --- Pairs --------------------------------------------------------------------------------------------

for reduction in REDUCTIONS:
    for shape in [(3, 4), (1, 2), (4,)]:
        case(
            "cosine_embedding_loss",
            lambda a, b, y, **options: F.cosine_embedding_loss(a, b, y.detach(), **options),
            [floats(shape), floats(shape), bools(shape[:-1]).to(torch.float32) * 2 - 1],
            margin=0.1,
            **REDUCED(reduction),
        )
    for p, swap in product([2.0, 1.0, 3.0], [True, False]):
        case(
            "triplet_margin_loss",
            F.triplet_margin_loss,
            [floats((3, 4)) for _ in range(3)],
            p=p,
            swap=swap,
            margin=2.5,
            **REDUCED(reduction),
        )
case("triplet_margin_loss", F.triplet_margin_loss, [floats((4,)) for _ in range(3)])
case("triplet_margin_loss", F.triplet_margin_loss, [transposed(floats((4, 2))), floats((2, 4)), floats((1, 4))])
for a, b, axis in [((3, 4), (3, 4), 1), ((3, 4), (3, 4), 0), ((4,), (4,), 0), ((2, 3, 4), (2, 3, 4), -1), ((3, 1, 4), (2, 4), 2), ((1, 1), (1, 1), 1)]:
    case("cosine_similarity", F.cosine_similarity, [floats(a), floats(b)], dim=axis)
    case("cosine_similarity", F.cosine_similarity, [floats(a, dtype="f64"), floats(b, dtype="f64")], dim=axis)
case("cosine_similarity", F.cosine_similarity, [values([[0.0, 0]]), values([[1.0, 2]])], dim=1, grad=False)
case("cosine_similarity", F.cosine_similarity, [values([[0.1, 0]]), values([[1.0, 2]])], dim=1, eps=0.5, grad=False)
for p, keepdim in product([2.0, 1.0, 3.0, 0.5, INF], [True, False]):
    case("pairwise_distance", F.pairwise_distance, [floats((3, 4)), floats((3, 4))], p=p, keepdim=keepdim)
case("pairwise_distance", F.pairwise_distance, [floats((4,)), floats((4,))])
case("pairwise_distance", F.pairwise_distance, [floats((2, 1, 3)), floats((4, 3))], eps=0.1)
case("pairwise_distance", F.pairwise_distance, [floats((1, 1)), floats((1, 1))])


def contrastive(a, b, temperature=0.07, symmetric=False, reduction="mean"):
    scores = F.normalize(a, dim=1) @ F.normalize(b, dim=1).T / temperature
    own = torch.arange(a.shape[0])
    loss = F.cross_entropy(scores, own, reduction=reduction)
    if symmetric:
        loss = (loss + F.cross_entropy(scores.T, own, reduction=reduction)) / 2
    return loss


for shape, symmetric, reduction in product([(3, 4), (1, 2), (2, 1)], [True, False], REDUCTIONS):
    case("contrastive_loss", contrastive, [floats(shape), floats(shape)], temperature=0.5, symmetric=symmetric, **REDUCED(reduction))
case("contrastive_loss", contrastive, [floats((4, 3)), floats((4, 3))], atol=1e-4)

# --- Time ---------------------------------------------------------------------------------------------


def ctc(x, target, input_lengths, target_lengths, blank=0, zero_infinity=False, reduction="mean"):
    """Of scores: PyTorch's gradient is that of log_softmax."""
    return F.ctc_loss(
        F.log_softmax(x, -1), target.long(), input_lengths.long(), target_lengths.long(), blank=blank, zero_infinity=zero_infinity, reduction=reduction
    )


i32 = lambda data: values(data, "i32")
for reduction in REDUCTIONS:
    for blank in [0, 3]:
        labels = [[1, 2, 2], [4, 1, 1]]
        case(
            "ctc_loss",
            ctc,
            [floats((6, 2, 5)), i32(labels), i32([6, 5]), i32([3, 2])],
            blank=blank,
            **REDUCED(reduction),
        )
    case("ctc_loss", ctc, [floats((5, 2, 3)), i32([[1, 1, 1], [1, 2, 1]]), i32([4, 5]), i32([3, 3])], zero_infinity=True, **REDUCED(reduction))
case("ctc_loss", ctc, [floats((4, 1, 3)), i32([[1, 2]]), i32([4]), i32([0])])
case("ctc_loss", ctc, [floats((1, 1, 3)), i32([[2]]), i32([1]), i32([1])])
case("ctc_loss", ctc, [floats((4, 1, 3)), torch.zeros((1, 0), dtype=torch.int32), i32([4]), i32([0])])
case("ctc_loss", ctc, [floats((3, 1, 3)), i32([[1, 1]]), i32([2]), i32([2])], grad=False)
case("ctc_loss", ctc, [floats((5, 3)), i32([1, 2]), values(5, "i32"), values(2, "i32")])
case("ctc_loss", ctc, [floats((4, 2, 3), dtype="f64"), i32([[1, 2], [2, 1]]), i32([4, 3]), i32([2, 1])])
case("ctc_loss", ctc, [permuted(floats((2, 3, 4)), 2, 0, 1), i32([[1, 2], [2, 1]]), i32([4, 3]), i32([2, 1])])
