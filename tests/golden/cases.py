"""What the groups are written with: case() records what PyTorch, numpy or scipy make of some inputs.

    case("roll", torch.roll, [floats((2, 3))], shifts=2, dims=1)

calls torch.roll(input, shifts=2, dims=1) and writes the method's name, its arguments, the inputs, the
outputs and, where the outputs require one, the gradients for random seeds. See docs/testing.md.
"""

import itertools
import zlib

import numpy as np
import torch

DTYPES = {
    "bool": torch.bool,
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "u8": torch.uint8,
    "u16": torch.uint16,
    "u32": torch.uint32,
    "u64": torch.uint64,
    "f8e4m3": torch.float8_e4m3fn,
    "f8e5m2": torch.float8_e5m2,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
FLOATS = ["f16", "bf16", "f32", "f64"]
SIGNED = ["i8", "i16", "i32", "i64"]
UNSIGNED = ["u8", "u16", "u32", "u64"]
INTS = SIGNED + UNSIGNED

# --- Inputs: torch tensors, drawn from the generator of the group ------------------------------------

generator = np.random.default_rng(0)  # replaced for each group


def values(data, dtype="f32"):
    """A tensor of these numbers."""
    return torch.tensor(data, dtype=DTYPES[dtype])


def floats(shape=(), low=-3.0, high=3.0, dtype="f32"):
    """Evenly distributed numbers."""
    return torch.from_numpy(np.asarray(generator.uniform(low, high, shape))).to(DTYPES[dtype])


def distinct(shape=(), low=-3.0, high=3.0, dtype="f32"):
    """Numbers of which no two are near each other, for what has a kink where they are equal."""
    count = int(np.prod(shape, dtype=int))
    steps = np.linspace(low, high, max(count, 2))[:count]
    return torch.from_numpy(generator.permutation(steps).reshape(shape)).to(DTYPES[dtype])


def ints(shape=(), low=-9, high=10, dtype="i32"):
    """Integers from low to below high; those of unsigned dtypes begin at 0."""
    low = max(low, 0) if dtype in UNSIGNED else low
    return torch.from_numpy(np.asarray(generator.integers(low, high, shape))).to(DTYPES[dtype])


def bools(shape=()):
    return torch.from_numpy(np.asarray(generator.integers(0, 2, shape))).to(torch.bool)


def numbers(shape=(), dtype="f32"):
    """Some values of any dtype."""
    if dtype == "bool":
        return bools(shape)
    return ints(shape, dtype=dtype) if dtype in INTS else floats(shape, dtype=dtype)


def specials(dtype="f32"):
    """What goes wrong in floats: zeros, denormals, extremes, infinities, NaN; of integers the limits."""
    if dtype in INTS:
        limits = torch.iinfo(DTYPES[dtype])
        return values([0, 1, limits.max, limits.max - 1, limits.min, limits.min + 1], dtype)
    limits, inf, nan = torch.finfo(DTYPES[dtype]), float("inf"), float("nan")
    tiny, most = limits.smallest_normal, limits.max
    return values([0.0, -0.0, 1.0, -1.0, 0.5, tiny, -tiny, tiny / 4, most, -most, inf, -inf, nan], dtype)


class View:
    """What a method gets is movement over the base; the gradient is that of the base."""

    def __init__(self, x, *moves):
        self.base = x.base if isinstance(x, View) else x
        self.moves = (x.moves if isinstance(x, View) else []) + list(moves)

    def of(self, tensor):
        for op, numbers in self.moves:
            tensor = MOVES[op](tensor, numbers)
        return tensor

    @property
    def shape(self):
        return self.of(self.base).shape


def _step(x, steps):
    return x[tuple(slice(None, None, step) for step in steps)]


def _shrink(x, bounds):
    return x[tuple(slice(start, stop) for start, stop in zip(bounds[::2], bounds[1::2]))]


MOVES = {
    "permute": lambda x, order: x.permute(order),
    "expand": lambda x, shape: x.expand(shape),
    "flip": torch.flip,
    "step": _step,
    "shrink": _shrink,
}


def transposed(x):
    """With its last two axes exchanged."""
    axes = list(range(len(x.shape)))
    return View(x, ("permute", axes[:-2] + [axes[-1], axes[-2]]))


def permuted(x, *order):
    return View(x, ("permute", list(order)))


def expanded(x, *shape):
    return View(x, ("expand", list(shape)))


def flipped(x, *axes):
    return View(x, ("flip", list(axes)))


def strided(x, *steps):
    """Every step-th element of each axis."""
    return View(x, ("step", list(steps)))


def shrunk(x, *bounds):
    """From start to stop of each axis: start, stop, start, stop ..."""
    return View(x, ("shrink", list(bounds)))


# --- Recording ------------------------------------------------------------------------------------------


class Recorder:
    """The lines and bytes of one group. Equal bytes are stored once."""

    def __init__(self, group):
        global generator
        self.seed = zlib.crc32(group.encode())
        generator = np.random.default_rng(self.seed)
        torch.manual_seed(self.seed)
        self.seeds = np.random.default_rng(self.seed + 1)  # gradients do not change the inputs
        self.lines, self.bytes, self.known = [], bytearray(), {}

    def store(self, tensor):
        """`f32[2,3]@128`, with the bytes at that offset."""
        tensor = torch.empty(tensor.shape, dtype=tensor.dtype).copy_(tensor.detach())  # in order
        raw = tensor.reshape(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b""
        if raw not in self.known:
            self.bytes += bytes(-len(self.bytes) % 8)
            self.known[raw] = len(self.bytes)
            self.bytes += raw
        shape = ",".join(map(str, tensor.shape))
        return f"{NAMES[tensor.dtype]}[{shape}]@{self.known[raw]}"

    def write(self, stem):
        stem.parent.mkdir(exist_ok=True)
        stem.with_suffix(".txt").write_text("".join(f"{line}\n" for line in self.lines))
        stem.with_suffix(".bin").write_bytes(self.bytes)


recorder = None


def record(group):
    global recorder
    recorder = Recorder(group)
    return recorder


def _text(value):
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, (list, tuple)):
        return f"[{','.join(map(_text, value))}]"
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _tensor(value):
    if isinstance(value, torch.Tensor):
        return value
    return torch.from_numpy(np.array(value))


def _outputs(result, out):
    results = list(result) if isinstance(result, (tuple, list)) else [result]
    results = [_tensor(value) for value in results]
    dtypes = [out] * len(results) if isinstance(out, str) else out or [None] * len(results)
    return [value.to(DTYPES[dtype]) if dtype else value for value, dtype in zip(results, dtypes)]


def _seed(output):
    shape = tuple(output.shape)
    return torch.from_numpy(np.asarray(recorder.seeds.uniform(-1, 1, shape))).to(output.dtype)


def case(name, function, inputs=(), *, grad=None, out=None, rtol=None, atol=None, numpy=False, **arguments):
    """Records one case of the method `name`: function(*inputs, **arguments).

    inputs     tensors, views of them, or None for one that is left out
    arguments  what C++ gets as well: numbers, bools, strings, lists of them; None is left out there
    grad       gradients as well: by default if an output requires one
    out        the dtype of the outputs (one, or a list) where weft's is another on purpose
    rtol, atol tolerances other than those of the dtype
    numpy      the function gets numpy arrays
    """
    views = [None if x is None else View(x) for x in inputs]
    leaves = [None if view is None else view.base.detach().clone() for view in views]
    for leaf in leaves:
        if leaf is not None and leaf.is_floating_point() and leaf.element_size() > 1 and not numpy:
            leaf.requires_grad_(grad is not False)
    given = [None if view is None else view.of(leaf) for view, leaf in zip(views, leaves)]
    if numpy:
        given = [None if x is None else x.numpy() for x in given]
    results = _outputs(function(*given, **arguments), out)

    words = [name]
    words += [f"{key}={_text(value)}" for key, value in arguments.items() if value is not None]
    words += [f"{key}={value!r}" for key, value in (("rtol", rtol), ("atol", atol)) if value is not None]
    words.append("in")
    for view in views:
        moves = "" if view is None else "".join(f"|{op}{_text(list(n))}" for op, n in view.moves)
        words.append("-" if view is None else recorder.store(view.base) + moves)
    words += ["out"] + [recorder.store(result) for result in results]
    differentiable = [result for result in results if result.requires_grad]
    if grad and not differentiable:
        raise ValueError(f"{name}: no output of this case has a gradient")
    if differentiable and grad is not False:
        words += _gradients(results, leaves)
    recorder.lines.append(" ".join(words))


def _gradients(results, leaves):
    seeds = [_seed(result) if result.requires_grad else None for result in results]
    targets = [leaf for leaf in leaves if leaf is not None and leaf.requires_grad]
    found = iter(
        torch.autograd.grad(
            [result for result in results if result.requires_grad],
            targets,
            [seed for seed in seeds if seed is not None],
            allow_unused=True,
        )
    )
    gradients = [next(found) if leaf is not None and leaf.requires_grad else None for leaf in leaves]
    stored = lambda tensors: ["-" if x is None else recorder.store(x) for x in tensors]
    return ["seed"] + stored(seeds) + ["grad"] + stored(gradients)


def product(*lists):
    """All combinations, for tables of cases."""
    return itertools.product(*lists)
