"""Functions of each element, movement, statistics and places by NumPy, for check_oracle.py: written apart from the oracle."""
import math

import numpy as np

from oracle_dtypes import Unsupported, cast, float_like, is_float, promoted, summed, zero_where

sigmoid = lambda x: 1 / (1 + np.exp(-x))
softplus = lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))
erfc = np.vectorize(math.erfc, otypes=[np.float64])


def lgamma(x):
    def one(v):
        if math.isnan(v) or math.isinf(v):
            return abs(v)
        return math.inf if v <= 0 and v == math.floor(v) else math.lgamma(v)
    return np.vectorize(one, otypes=[np.float64])(x)


def elu(x):
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


def sinc(x):
    """0 at integers, where np.sinc is only near it."""
    whole = np.rint(x)
    sine = np.sin(np.pi * (x - whole)) * np.where(np.fmod(whole, 2) == 0, 1, -1)
    return np.where(x == 0, 1, sine / (np.pi * np.where(x == 0, 1, x)))


FLOATS = {
    "expm1": np.expm1, "log1p": np.log1p, "log10": np.log10, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos,
    "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "sinc": sinc, "erfc": erfc, "lgamma": lgamma, "deg2rad": np.deg2rad,
    "rad2deg": np.rad2deg, "frac": lambda x: x - np.trunc(x), "relu6": lambda x: np.clip(x, 0, 6),
    "hardtanh": lambda x: np.clip(x, -1, 1), "leaky_relu": lambda x: np.where(x > 0, x, x * 0.01), "elu": elu,
    "celu": elu, "selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * elu(x)),
    "mish": lambda x: x * np.tanh(softplus(x)), "softsign": lambda x: x / (1 + np.abs(x)),
    "logsigmoid": lambda x: -softplus(-x), "quick_gelu": lambda x: x * sigmoid(1.702 * x),
    "exact_gelu": lambda x: 0.5 * x * erfc(-x / math.sqrt(2)),
    "hardsigmoid": lambda x: np.clip(x / 6 + 0.5, 0, 1), "hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
}


def xlogy(x, y):
    return np.where((x == 0) & ~np.isnan(y), 0, x * np.log(y))


def next_after(x, y):
    if x.dtype == np.float64 or x.dtype == np.float32 or x.dtype == np.float16:
        return np.nextafter(x, y)
    raise Unsupported("nextafter")


WIDE_PAIRS = {"atan2": np.arctan2, "hypot": np.hypot, "logaddexp": np.logaddexp, "logaddexp2": np.logaddexp2,
              "xlogy": xlogy, "float_power": np.float_power}
PAIRS = {"gcd": np.gcd, "lcm": np.lcm, "fmax": np.fmax, "fmin": np.fmin, "copysign": np.copysign,
         "nextafter": next_after,
         "heaviside": lambda x, y: np.where(x == 0, y, np.where(x > 0, 1, np.where(x < 0, 0, x))).astype(x.dtype)}


def power(a, b):
    if is_float(a.dtype):
        return np.power(a.astype(np.float64), b.astype(np.float64)).astype(a.dtype)
    small = np.where(a == 1, 1, np.where(a + 1 == 0, np.where(b % 2 == 0, 1, -1), 0)).astype(a.dtype)
    return np.where(b < 0, small, np.power(a, np.where(b < 0, np.zeros((), b.dtype), b)))


def pair(name, a, b):
    if name == "float_power":
        return np.float_power(a.astype(np.float64), b.astype(np.float64))
    dtype = promoted(a.dtype, b.dtype)
    if name in WIDE_PAIRS:
        dtype = float_like(dtype)
        return WIDE_PAIRS[name](cast(a, dtype).astype(np.float64), cast(b, dtype).astype(np.float64)).astype(dtype)
    return PAIRS[name](cast(a, dtype), cast(b, dtype))


def close(step, a, b):
    dtype = np.promote_types(float_like(promoted(a.dtype, b.dtype)), np.float32)
    a, b = cast(a, dtype).astype(np.float64), cast(b, dtype).astype(np.float64)
    if step.kind == "isclose":
        return np.isclose(a, b)
    return np.isclose(a, b, 0.001, 0.3, bool(step.flag))


def triple(step, values):
    dtype = values[0].dtype
    for value in values[1:]:
        dtype = promoted(dtype, value.dtype)
    x, a = (cast(v, dtype).astype(np.float64) for v in values[:2])
    if step.kind == "lerp_number":
        return (x + (a - x) * float(step.literal)).astype(dtype)
    b = cast(values[2], dtype).astype(np.float64)
    if step.kind == "lerp":
        return (x + (a - x) * b).astype(dtype)
    factor = float(np.asarray(step.literal).astype(dtype))
    return (x + (a * b if step.kind == "addcmul" else a / b) * factor).astype(dtype)


def limited(step, values):
    x = values[0]
    if step.kind.startswith("clip"):
        limit = np.asarray(step.literal).astype(x.dtype)
        return np.where(x <= limit, limit, x) if step.kind == "clip_least" else np.where(x >= limit, limit, x)
    dtype = x.dtype
    for value in values[1:]:
        dtype = promoted(dtype, value.dtype)
    x, *limits = (cast(v, dtype) for v in values)
    if step.kind != "clamp_most":
        x = np.maximum(x, limits[0])
    return x if step.kind == "clamp_least" else np.minimum(x, limits[-1])


# --- Movement -------------------------------------------------------------------------------------

def split_at(step, p):
    axis, size = step.i, p.shape[step.i]
    if step.kind == "split":
        return np.split(p, range(step.j, size, step.j), axis)
    if step.kind == "split_sizes":
        return np.split(p, np.cumsum(step.n)[:-1], axis)
    if step.kind == "chunk":
        each = -(-size // step.j)
        return np.split(p, range(each, size, each), axis)
    return np.array_split(p, step.j, axis)


VIEWS = {
    "movedim": lambda s, p: np.moveaxis(p, s.i, s.j), "moveaxis": lambda s, p: np.moveaxis(p, s.i, s.j),
    "swapaxes": lambda s, p: np.swapaxes(p, s.i, s.j), "transpose": lambda s, p: np.swapaxes(p, s.i, s.j),
    "T": lambda s, p: p.T, "mT": lambda s, p: np.swapaxes(p, -1, -2), "ravel": lambda s, p: p.reshape(-1),
    "flatten": lambda s, p: p.reshape(p.shape[:s.i] + (int(np.prod(p.shape[s.i:(s.j % p.ndim) + 1])),)
                                      + p.shape[(s.j % p.ndim) + 1:]),
    "unflatten": lambda s, p: p.reshape(p.shape[:s.i % p.ndim] + tuple(s.n) + p.shape[s.i % p.ndim + 1:]),
    "open_reshape": lambda s, p: p.reshape(s.n), "squeeze_all": lambda s, p: np.squeeze(p),
    "unbind": lambda s, p: np.take(p, s.k, s.i), "split": lambda s, p: split_at(s, p)[s.k],
    "split_sizes": lambda s, p: split_at(s, p)[s.k], "chunk": lambda s, p: split_at(s, p)[s.k],
    "tensor_split": lambda s, p: split_at(s, p)[s.k], "select": lambda s, p: np.take(p, s.j, s.i),
    "narrow": lambda s, p: np.take(p, np.arange(s.j, s.j + s.k), s.i),
    "rot90": lambda s, p: np.rot90(p, s.k, (s.i, s.j)), "fliplr": lambda s, p: np.fliplr(p),
    "flipud": lambda s, p: np.flipud(p), "diagonal_axes": lambda s, p: np.diagonal(p, s.i, s.j, s.k),
    "atleast_1d": lambda s, p: np.atleast_1d(p), "atleast_2d": lambda s, p: np.atleast_2d(p),
    "atleast_3d": lambda s, p: p.reshape((1,) * (2 - p.ndim) + p.shape + (1,)) if p.ndim < 3 else p,
    "diag": lambda s, p: np.diagonal(p, s.i) if p.ndim == 2 else None,
}


def grid_view(step, views):
    """The places of one vector over all lengths."""
    shape = [v.places.size for v in views]
    own = [1] * len(shape)
    own[step.k] = -1
    grid = np.broadcast_to(views[step.k].places.reshape(own), shape)
    return views[step.k].moved(lambda p: np.swapaxes(grid, 0, 1) if step.kind.endswith("xy") else grid)


def joint_dtype(values):
    dtype = values[0].dtype
    for value in values[1:]:
        dtype = promoted(dtype, value.dtype)
    return dtype


def alike(values):
    return [cast(v, joint_dtype(values)) for v in values]


def diff(step, x, before=None):
    if before is not None:
        x = np.concatenate([cast(before, x.dtype), x], step.i)
        return np.diff(x, 1, step.i)
    return np.diff(x, step.k, step.i)


def diag_embed(x, offset):
    size = x.shape[-1] + abs(offset)
    result = np.zeros(x.shape[:-1] + (size, size), x.dtype)
    at = np.arange(x.shape[-1])
    result[..., at + max(0, -offset), at + max(0, offset)] = x
    return result


def block_diag(values):
    values = alike(values)
    rows = []
    for i, block in enumerate(values):
        rows.append(np.concatenate([block if k == i else np.zeros((block.shape[0], other.shape[1]), block.dtype)
                                    for k, other in enumerate(values)], 1))
    return np.concatenate(rows, 0)


def dstack(values):
    return np.concatenate([VIEWS["atleast_3d"](None, v) for v in alike(values)], 2)


def widths(step):
    return [(step.n[i], step.n[i + 1]) for i in range(0, len(step.n), 2)]


# --- Statistics -------------------------------------------------------------------------------------

def ordered(x, axis):
    return np.moveaxis(np.sort(x, axis=axis), axis, -1)


def numbers_along(x, axis):
    return np.sum(~np.isnan(x), axis) if is_float(x.dtype) else np.full(np.sum(x == x, axis).shape, x.shape[axis])


def ranked(step, x):
    name = step.kind.removesuffix("_along")
    axis, keep = (step.i, bool(step.flag))
    if step.kind in ("median", "nanmedian"):
        x, axis, keep = x.reshape(-1), 0, False
    rows, count, size = ordered(x, axis), numbers_along(x, axis), x.shape[axis]
    if name == "kthvalue":
        place = np.full(count.shape, step.k - 1)
    elif name == "median":
        place = np.where(count < size, count, (size - 1) // 2)
    elif name == "nanmedian":
        place = np.maximum(count - 1, 0) // 2
    else:
        flat = rows.reshape(-1, size)
        found = []
        for row in flat:
            values, counts = np.unique(row, return_counts=True, equal_nan=False)
            found.append(values[np.argmax(counts)])
        result = np.array(found, x.dtype).reshape(rows.shape[:-1])
        return np.expand_dims(result, axis) if keep else result
    result = np.take_along_axis(rows, np.asarray(place)[..., None], -1)[..., 0]
    return np.expand_dims(result, axis) if keep else result


METHODS = ["linear", "lower", "higher", "nearest", "midpoint"]


def quantile(step, x):
    own = float_like(x.dtype)
    wide = cast(x, np.promote_types(own, np.float32)).astype(np.float64)
    axis, keep = (step.i, bool(step.flag)) if step.kind != "quantile_all" else (None, False)
    method = METHODS[step.k] if step.kind != "quantile_all" else "linear"
    find = np.nanquantile if step.kind == "nanquantile" else np.quantile
    return np.asarray(find(wide, float(step.literal), axis=axis, keepdims=keep, method=method)).astype(own)


def of_axes(name, step, x):
    axes, keep = tuple(step.n), bool(step.flag)
    if name in ("max", "min"):
        return (np.max if name == "max" else np.min)(x, axis=axes, keepdims=keep)
    if name == "nansum":
        return np.nansum(x.astype(np.float64), axis=axes, keepdims=keep).astype(x.dtype)
    own = float_like(x.dtype)
    wide = cast(x, np.promote_types(own, np.float32)).astype(np.float64)
    if name == "mean":
        return np.asarray(np.mean(wide, axis=axes, keepdims=keep)).astype(own)
    if name == "nanmean":
        return np.asarray(np.nanmean(wide, axis=axes, keepdims=keep)).astype(own)
    if name == "norm":
        size, p = np.abs(wide), float(step.literal)
        if math.isinf(p):
            result = (np.max if p > 0 else np.min)(size, axis=axes, keepdims=keep)
        elif p == 0:
            result = np.sum(wide != 0, axis=axes, keepdims=keep)
        else:
            result = np.power(np.sum(np.power(size, p), axis=axes, keepdims=keep), 1 / p)
        return np.asarray(result).astype(own)
    count = np.prod([x.shape[a] for a in axes], dtype=np.int64)
    far = np.square(wide - np.mean(wide, axis=axes, keepdims=True))
    result = np.asarray(np.sum(far, axis=axes, keepdims=keep) / np.float64(max(0, count - step.k)))
    result = result.astype(np.promote_types(own, np.float32))
    return (np.sqrt(result) if name == "std" else result).astype(own)


def cdist(step, x, y):
    own = float_like(promoted(x.dtype, y.dtype))
    far = np.abs(cast(x, own).astype(np.float64)[..., :, None, :] - cast(y, own).astype(np.float64)[..., None, :, :])
    p = float(step.literal)
    if math.isinf(p):
        return np.max(far, -1).astype(own)
    return np.power(np.sum(np.power(far, p), -1), 1 / p).astype(own)


def normalize(step, x):
    wide, p = x.astype(np.float64), float(step.literal)
    length = np.power(np.sum(np.power(np.abs(wide), p), axis=tuple(step.n), keepdims=True), 1 / p)
    return (wide / np.maximum(length, 1e-12)).astype(x.dtype)


def bincount(step, values):
    x = values[0].astype(np.int64)
    if len(values) == 1:
        return np.bincount(x, minlength=step.k).astype(np.int32)
    dtype = values[1].dtype if is_float(values[1].dtype) else np.float64
    return np.bincount(x, weights=values[1].astype(np.float64), minlength=step.k).astype(dtype)


def histc(step, x):
    inside = x[(x >= -4) & (x <= 4)].astype(np.float64)
    return np.histogram(inside, bins=step.k, range=(-4, 4))[0].astype(x.dtype)


# --- Places -----------------------------------------------------------------------------------------

def whole_places(index, size):
    """Places of slices, -1 for what lies outside."""
    index = np.where(index < 0, index + size, index)
    return np.where((index >= 0) & (index < size), index, -1)


def index_of(step, values):
    x, index = values[0], values[1].astype(np.int64)
    axis = step.i % x.ndim
    places = whole_places(index, x.shape[axis])
    if step.kind == "index_select":
        found = np.take(x, np.maximum(places, 0), axis) if x.shape[axis] else np.zeros(
            x.shape[:axis] + index.shape + x.shape[axis + 1:], x.dtype)
        shape = [1] * x.ndim
        shape[axis] = -1
        return zero_where(np.broadcast_to((places < 0).reshape(shape), found.shape), found)
    wide = np.float64 if is_float(x.dtype) and step.kind == "index_add" else x.dtype
    result = np.moveaxis(x.astype(wide), axis, 0).copy()
    source = np.asarray(step.literal) if step.kind == "index_fill" else np.moveaxis(values[2], axis, 0)
    for k, place in enumerate(places):
        if place < 0:
            continue
        if step.kind == "index_fill":
            result[place] = source.astype(x.dtype)
        elif step.kind == "index_copy":
            result[place] = source[k]
        else:
            result[place] = result[place] + (source[k] * np.asarray(step.k).astype(x.dtype)).astype(wide)
    return np.moveaxis(result, 0, axis).astype(x.dtype)


def over(x, index, axis):
    shape = list(x.shape)
    shape[axis] = index.shape[axis]
    return np.broadcast_to(index, shape)


def put(step, values):
    x, index, source = values
    flat = x.reshape(-1).astype(np.float64 if is_float(x.dtype) and step.flag else x.dtype)
    for k, place in enumerate(whole_places(index.astype(np.int64), x.size)):
        if place >= 0:
            flat[place] = flat[place] + source[k] if step.flag else source[k]
    return flat.astype(x.dtype).reshape(x.shape)


def masked_scatter(x, mask, source):
    mask = np.broadcast_to(mask, x.shape)
    result, source = x.copy(), source.reshape(-1)
    count = int(mask.sum())
    result[mask] = np.concatenate([source[:count], np.zeros(max(0, count - source.size), x.dtype)])
    return result


def masked_select(step, x, mask):
    found = x[np.broadcast_to(mask, x.shape)][:step.k]
    fill = np.asarray(step.literal).astype(x.dtype)
    return np.concatenate([found, np.full(step.k - found.size, fill, x.dtype)])


def nonzero(step, x):
    found = np.argwhere(x)[:step.k]
    rest = np.full((step.k - found.shape[0], x.ndim), step.i)
    return np.concatenate([found, rest]).astype(np.int32)


def scattered(step, values):
    x, index, source = values
    axis = step.i % x.ndim
    index = whole_places(index.astype(np.int64), x.shape[axis])
    result = x.astype(np.float64) if is_float(x.dtype) else x.copy()
    counts = np.zeros(x.shape, np.int64)
    for at in np.ndindex(index.shape):
        place = index[at]
        if place < 0:
            continue
        to = at[:axis] + (place,) + at[axis + 1:]
        first = counts[to] == 0 and step.kind.endswith("only")
        if step.kind == "scatter_amax_only":
            result[to] = source[at] if first else np.maximum(result[to], source[at])
        else:
            result[to] = source[at] if first else result[to] + source[at]
        counts[to] += 1
    if step.kind == "scatter_mean":
        result = result / (counts + 1)
    return result.astype(x.dtype)


def take_along(step, x, index):
    axis = step.i % x.ndim
    index = whole_places(over(x, index.astype(np.int64), axis), x.shape[axis])
    if x.shape[axis] == 0:
        return np.zeros(index.shape, x.dtype)
    return zero_where(index < 0, np.take_along_axis(x, np.maximum(index, 0), axis))


def put_along(step, values):
    x, axis = values[0].copy(), step.i % values[0].ndim
    index = whole_places(over(x, values[1].astype(np.int64), axis), x.shape[axis])
    source = np.broadcast_to(values[2], index.shape)
    for at in np.ndindex(index.shape):
        if index[at] >= 0:
            x[at[:axis] + (index[at],) + at[axis + 1:]] = source[at]
    return x


def vander(step, x):
    """np.vander takes powers of u64 in floats."""
    wide = x.astype(np.float64) if is_float(x.dtype) else x.astype(np.int64) if x.dtype == bool else x
    columns = [wide ** wide.dtype.type(power) for power in range(step.k)]
    return np.stack(columns if step.flag else columns[::-1], 1).astype(x.dtype)


COMPUTED = {
    "isclose": lambda s, v: close(s, v[0], v[1]), "isclose_within": lambda s, v: close(s, v[0], v[1]),
    "lerp": triple, "lerp_number": triple, "addcmul": triple, "addcdiv": triple,
    "clip_least": limited, "clip_most": limited, "clamp_tensors": limited, "clamp_least": limited,
    "clamp_most": limited, "signbit": lambda s, v: np.signbit(v[0]) if is_float(v[0].dtype) else v[0] < 0,
    "nan_to_num": lambda s, v: np.nan_to_num(v[0]),
    "nan_to_num_number": lambda s, v: np.nan_to_num(v[0], nan=float(s.literal)),
    "isin": lambda s, v: np.isin(*alike(v)),
    "tile": lambda s, v: np.tile(v[0], s.n), "roll_flat": lambda s, v: np.roll(v[0], s.j),
    "roll_axes": lambda s, v: np.roll(v[0], (s.i, s.j), (0, 1)),
    "repeat_interleave_flat": lambda s, v: np.repeat(v[0], s.j), "diff": lambda s, v: diff(s, v[0]),
    "diff_prepend": lambda s, v: diff(s, v[0], v[1]),
    "trace": lambda s, v: np.trace(cast(v[0], summed(v[0].dtype)), dtype=summed(v[0].dtype)).astype(
        v[0].dtype if is_float(v[0].dtype) else summed(v[0].dtype)),
    "diag": lambda s, v: np.diag(v[0], s.i), "diag_embed": lambda s, v: diag_embed(v[0], s.i),
    "diagflat": lambda s, v: np.diagflat(v[0], s.i),
    "pad_reflect": lambda s, v: np.pad(v[0], widths(s), mode="reflect"),
    "pad_replicate": lambda s, v: np.pad(v[0], widths(s), mode="edge"),
    "pad_circular": lambda s, v: np.pad(v[0], widths(s), mode="wrap"),
    "kron": lambda s, v: np.kron(*alike(v)), "outer": lambda s, v: np.multiply.outer(*alike(v)),
    "block_diag": lambda s, v: block_diag(v), "hstack": lambda s, v: np.hstack(alike(v)),
    "vstack": lambda s, v: np.vstack(alike(v)), "dstack": lambda s, v: dstack(v),
    "column_stack": lambda s, v: np.column_stack(alike(v)),
    "vander": lambda s, v: vander(s, v[0]),
    "cartesian_prod": lambda s, v: np.stack([g.reshape(-1) for g in np.meshgrid(*alike(v), indexing="ij")], 1),
    "amax": lambda s, v: of_axes("max", s, v[0]), "amin": lambda s, v: of_axes("min", s, v[0]),
    "aminmax_least": lambda s, v: of_axes("min", s, v[0]), "aminmax_most": lambda s, v: of_axes("max", s, v[0]),
    "var_mean": lambda s, v: of_axes("var", s, v[0]), "mean_of_var": lambda s, v: of_axes("mean", s, v[0]),
    "std_mean": lambda s, v: of_axes("std", s, v[0]), "mean_of_std": lambda s, v: of_axes("mean", s, v[0]),
    "nansum": lambda s, v: of_axes("nansum", s, v[0]), "nanmean": lambda s, v: of_axes("nanmean", s, v[0]),
    "norm": lambda s, v: of_axes("norm", s, v[0]), "cdist": lambda s, v: cdist(s, *v),
    "normalize": lambda s, v: normalize(s, v[0]),
    "logcumsumexp": lambda s, v: np.logaddexp.accumulate(v[0].astype(np.float64), axis=s.i).astype(v[0].dtype),
    "median": lambda s, v: ranked(s, v[0]), "nanmedian": lambda s, v: ranked(s, v[0]),
    "median_along": lambda s, v: ranked(s, v[0]), "nanmedian_along": lambda s, v: ranked(s, v[0]),
    "kthvalue": lambda s, v: ranked(s, v[0]), "mode": lambda s, v: ranked(s, v[0]),
    "msort": lambda s, v: np.sort(v[0], axis=0), "quantile": lambda s, v: quantile(s, v[0]),
    "nanquantile": lambda s, v: quantile(s, v[0]), "quantile_all": lambda s, v: quantile(s, v[0]),
    "searchsorted": lambda s, v: np.asarray(np.searchsorted(*alike(v), "right" if s.flag else "left")).astype(np.int32),
    "bincount": bincount, "bincount_weights": bincount, "histc": lambda s, v: histc(s, v[0]),
    "index_select": index_of, "index_add": index_of, "index_copy": index_of, "index_fill": index_of,
    "take_along_axis": lambda s, v: take_along(s, v[0], v[1]), "put_along_axis": put_along, "put": put,
    "masked_scatter": lambda s, v: masked_scatter(*v), "masked_select": lambda s, v: masked_select(s, *v),
    "nonzero": lambda s, v: nonzero(s, v[0]),
    "one_hot": lambda s, v: (v[0].astype(np.int64)[..., None] == np.arange(s.k)).astype(np.int32),
    "scatter_mean": scattered, "scatter_sum_only": scattered, "scatter_amax_only": scattered,
}
def cummax_places(step, x):
    rows = np.moveaxis(x, step.i, -1)
    most = np.maximum.accumulate(rows, -1)
    is_most = (rows == most) | ((rows != rows) & (most != most))
    places = np.where(is_most, np.arange(rows.shape[-1]), 0)
    return np.moveaxis(np.maximum.accumulate(places, -1), -1, step.i).astype(np.int32)


def pad_or_cut(step, x):
    cut = tuple(slice(max(0, -a), size + min(0, b)) for (a, b), size in zip(widths(step), x.shape))
    fill = np.asarray(step.literal).astype(x.dtype)
    return np.pad(x[cut], [(max(0, a), max(0, b)) for a, b in widths(step)], constant_values=fill)


COMPUTED |= {
    "pad_or_cut": lambda s, v: pad_or_cut(s, v[0]),
    "cummax_places": lambda s, v: cummax_places(s, v[0]), "index_mask": lambda s, v: v[0][v[1]],
    "masked_select_all": lambda s, v: v[0][v[1]], "nonzero_all": lambda s, v: np.argwhere(v[0]).astype(np.int32),
    "unique": lambda s, v: np.unique(v[0], equal_nan=False),
    "unique_counts": lambda s, v: np.unique(v[0], return_counts=True, equal_nan=False)[1].astype(np.int32),
    "softplus_beta": lambda s, v: (softplus(v[0].astype(np.float64) * s.literal) / s.literal).astype(v[0].dtype),
}
COMPUTED["bucketize"] = COMPUTED["searchsorted"]
