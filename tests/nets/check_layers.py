"""Products and layers of networks for check_oracle.py: by NumPy, and by PyTorch where it is there."""
import math

import numpy as np

from oracle_dtypes import Unsupported, cast, contracted, float_like, is_float, promoted

try:
    import torch
    import torch.nn.functional as F
except ImportError:  # what only PyTorch has is left out then
    torch = F = None


def by_torch(compute, *values):
    """In f64, so that the oracle's bounds are what counts."""
    if torch is None:
        raise Unsupported("PyTorch")
    wide = [torch.from_numpy(np.ascontiguousarray(v.astype(np.float64) if is_float(v.dtype) else v.astype(np.int64)))
            for v in values]
    return compute(*wide).numpy()


def product(compute, values):
    """Of one or two operands, in the dtype that sums of products are taken in."""
    joint = values[0].dtype if len(values) == 1 else promoted(values[0].dtype, values[1].dtype)
    within = contracted(joint)
    wide = np.float64 if is_float(within) else within
    found = np.asarray(compute(*(cast(v, within).astype(wide) for v in values)))
    return found.astype(within).astype(joint if is_float(joint) else within)


def added(step, values):
    x, a, b = (v.astype(np.float64) for v in values)
    return (float(step.literal) * x + step.k * np.matmul(a, b)).astype(values[0].dtype)


def cross(step, x, y):
    dtype = promoted(x.dtype, y.dtype)
    wide = np.float64 if is_float(dtype) else dtype
    a, b = (np.moveaxis(cast(v, dtype).astype(wide), step.i, -1) for v in (x, y))
    parts = [a[..., (i + 1) % 3] * b[..., (i + 2) % 3] - a[..., (i + 2) % 3] * b[..., (i + 1) % 3] for i in range(3)]
    return np.moveaxis(np.stack(parts, -1), -1, step.i).astype(dtype)


def attention(step, q, k, v):
    wide = [x.astype(np.float64) for x in (q, k, v)]
    scores = np.einsum("bqw,bkw->bqk", wide[0], wide[1]) / math.sqrt(q.shape[-1])
    if step.kind.endswith("causal"):
        scores = np.where(np.tril(np.ones(scores.shape[1:], bool)), scores, -np.inf)
    weights = np.exp(scores - np.max(scores, -1, keepdims=True))
    weights /= np.sum(weights, -1, keepdims=True)
    return np.einsum("bqk,bkv->bqv", weights, wide[2]).astype(q.dtype)


def rmsnorm(step, x):
    wide = x.astype(np.float64)
    return (wide / np.sqrt(np.mean(wide * wide, step.i, keepdims=True) + 1e-6)).astype(x.dtype)


def group_norm(step, x):
    wide = x.astype(np.float64).reshape(x.shape[0], step.k, -1)
    far = wide - np.mean(wide, -1, keepdims=True)
    return (far / np.sqrt(np.mean(far * far, -1, keepdims=True) + 1e-5)).reshape(x.shape).astype(x.dtype)


def batchnorm(step, values):
    x = values[0].astype(np.float64)
    weight, bias, mean, invstd = (v.astype(np.float64).reshape((1, -1) + (1,) * (x.ndim - 2)) for v in values[1:])
    return ((x - mean) * invstd * weight + bias).astype(values[0].dtype)


def pool(step, x):
    """One axis after the other: how large sums and counts are is a product over axes, and maxima are maxima of maxima."""
    own = float_like(x.dtype)
    is_max = step.kind.startswith("max")
    dilation, counts = step.i if is_max else 1, np.ones((), np.float64)
    result = x if is_max else cast(x, own).astype(np.float64)
    for i, kernel in enumerate(step.n):
        axis = x.ndim - len(step.n) + i
        size, span = x.shape[axis], dilation * (kernel - 1) + 1
        room = size + 2 * step.k - span
        out = (-(-room // step.j) if step.flag else room // step.j) + 1
        if step.flag and (out - 1) * step.j >= size + step.k:
            out -= 1
        rows, seen = [], []
        for o in range(out):
            begin = o * step.j - step.k
            places = [begin + k * dilation for k in range(kernel)]
            inside = [p for p in places if 0 <= p < size]
            part = np.take(result, inside, axis)
            rows.append(np.max(part, axis) if is_max else np.sum(part, axis))
            beside = 0 if step.kind == "avg_pool_inside" else step.k
            seen.append(sum(-beside <= p < size + beside for p in places))
        result = np.stack(rows, axis)
        counts = np.multiply.outer(counts, np.array(seen, np.float64))
    return result if is_max else (result / counts).astype(own)


def conv_transpose(step, x, weight):
    apply = {3: "conv_transpose1d", 4: "conv_transpose2d", 5: "conv_transpose3d"}[x.ndim]
    found = by_torch(lambda a, b: getattr(F, apply)(a, b, None, step.j, step.k, step.n[0], step.i), x, weight)
    return found.astype(promoted(x.dtype, weight.dtype))


def nearest(step, x):
    for i, size in enumerate(step.n):
        axis = x.ndim - len(step.n) + i
        scale = np.float32(x.shape[axis]) / np.float32(size)
        places = np.minimum((np.arange(size).astype(np.float32) * scale).astype(np.int64), x.shape[axis] - 1)
        x = np.take(x, places, axis)
    return x


def linear(step, x):
    result = x.astype(np.float64)
    for i, size in enumerate(step.n):
        axis = x.ndim - len(step.n) + i
        count, new = x.shape[axis], np.arange(size)
        if step.flag:
            middle = new * ((count - 1) / (size - 1) if size > 1 else 0)
        else:
            middle = np.clip((new + 0.5) * count / size - 0.5, 0, count - 1)
        low = np.minimum(np.floor(middle).astype(np.int64), count - 1)
        rest = (middle - low).reshape((-1,) + (1,) * (x.ndim - axis - 1))
        result = np.take(result, low, axis) * (1 - rest) + np.take(result, np.minimum(low + 1, count - 1), axis) * rest
    return result.astype(x.dtype)


def reduced(step, loss, dtype):
    loss = np.mean(loss) if step.k == 0 else np.sum(loss) if step.k == 1 else loss
    return np.asarray(loss).astype(dtype)


def pair_loss(step, x, target):
    a, t = x.astype(np.float64), target.astype(np.float64)
    off = np.abs(a - t)
    loss = {"mse_loss": lambda: off * off, "l1_loss": lambda: off,
            "smooth_l1_loss": lambda: np.where(off < 1, off * off / 2, off - 0.5),
            "huber_loss": lambda: np.where(off <= 1, off * off / 2, off - 0.5),
            "logits_loss": lambda: np.maximum(a, 0) - t * a + np.log1p(np.exp(-np.abs(a)))}[step.kind]()
    return reduced(step, loss, x.dtype)


def class_loss(step, x, target):
    rows = np.moveaxis(x.astype(np.float64), 1, -1)
    smoothing = 0
    if step.kind == "cross_entropy":
        smoothing = float(step.literal)
        rows = rows - np.max(rows, -1, keepdims=True)
        rows = rows - np.log(np.sum(np.exp(rows), -1, keepdims=True))
    if np.any((target < 0) | (target >= rows.shape[-1])):
        raise Unsupported("classes that are not there")
    own = np.take_along_axis(rows, target.astype(np.int64)[..., None], -1)[..., 0]
    loss = -own if smoothing == 0 else -(1 - smoothing) * own - smoothing * np.mean(rows, -1)
    return reduced(step, loss, x.dtype)


COMPUTED = {
    "tensordot": lambda s, v: product(lambda a, b: np.tensordot(a, b, s.k), v),
    "inner": lambda s, v: product(np.inner, v), "dot": lambda s, v: product(np.dot, v),
    "mv": lambda s, v: product(np.dot, v), "addmm": added, "baddbmm": added,
    "linear": lambda s, v: (np.matmul(v[0].astype(np.float64), v[1].astype(np.float64)) + v[2]).astype(v[0].dtype),
    "cross": lambda s, v: cross(s, *v), "attention": lambda s, v: attention(s, *v),
    "attention_causal": lambda s, v: attention(s, *v), "rmsnorm": lambda s, v: rmsnorm(s, v[0]),
    "group_norm": lambda s, v: group_norm(s, v[0]), "batchnorm": batchnorm,
    "max_pool_form": lambda s, v: pool(s, v[0]), "avg_pool_form": lambda s, v: pool(s, v[0]),
    "avg_pool_inside": lambda s, v: pool(s, v[0]), "conv_transpose": lambda s, v: conv_transpose(s, *v),
    "interpolate_nearest": lambda s, v: nearest(s, v[0]), "interpolate_linear": lambda s, v: linear(s, v[0]),
    "cross_entropy": lambda s, v: class_loss(s, *v), "nll_loss": lambda s, v: class_loss(s, *v),
    **{name: lambda s, v: pair_loss(s, *v)
       for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "logits_loss")},
}


def einsum(step, values):
    return product(lambda *v: np.einsum(step.kind.removeprefix("einsum:"), *v), values)
