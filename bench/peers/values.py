"""What goes into every peer, and what has to come out: plain numpy, in double precision."""
import math

import numpy as np


def input_values(shape, number):
    """Numbers from -1 to 1 by a hash of the place; input_values.h has the same."""
    bits = np.arange(math.prod(shape), dtype=np.uint32)
    bits += np.uint32(number * 0x9E3779B9 & 0xFFFFFFFF)
    bits ^= bits >> np.uint32(16)
    bits *= np.uint32(0x7FEB352D)
    bits ^= bits >> np.uint32(15)
    bits *= np.uint32(0x846CA68B)
    bits ^= bits >> np.uint32(16)
    bits >>= np.uint32(8)
    return (bits.astype(np.float32) * np.float32(2.0**-23) - np.float32(1)).reshape(shape)


def stored(one):
    """An array in a file."""
    return np.fromfile(one["file"], one["dtype"]).reshape(one["shape"])


def inputs_of(case):
    if case["op"] == "network":
        return [stored(one) for one in case["inputs"]]
    if case["op"] == "train":
        return []  # they come with the model
    return [input_values(shape, number) for number, shape in enumerate(case["inputs"])]


def matmul(case, a, b):
    a, b = (x.swapaxes(-2, -1) if lies else x for x, lies in zip((a, b), case["transposed"]))
    return a @ b


def conv(case, x, weight):
    """A matrix product for each place in the kernel."""
    stride, padding, groups = case["stride"], case["padding"], case["groups"]
    out, depth, kernel, _ = weight.shape
    images, _, size, _ = x.shape
    sizes = (size + 2 * padding - kernel) // stride + 1
    x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    x = x.reshape(images, groups, depth, *x.shape[2:])
    weight = weight.reshape(groups, out // groups, depth, kernel, kernel)
    result = np.zeros((images, groups, out // groups, sizes * sizes), x.dtype)
    last = stride * (sizes - 1) + 1
    for row in range(kernel):
        for column in range(kernel):
            seen = x[..., row:row + last:stride, column:column + last:stride]
            result += weight[..., row, column] @ seen.reshape(images, groups, depth, -1)
    return result.reshape(images, out, sizes, sizes)


def conv_transpose(case, x, weight):
    """Of kernels as large as the stride: every element becomes a block."""
    (images, _, size, _), (_, out, kernel, _) = x.shape, weight.shape
    assert case["stride"] == kernel
    blocks = np.einsum("nihw,iokl->nohkwl", x, weight, optimize=True)
    return blocks.reshape(images, out, size * kernel, size * kernel)


def gelu(_case, x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


def softmax(case, x):
    powers = np.exp(x - x.max(case["axis"], keepdims=True))
    return powers / powers.sum(case["axis"], keepdims=True)


def attention(case, q, k, v):
    def heads(x):
        return x.reshape(x.shape[1], case["heads"], -1).swapaxes(0, 1)

    tokens, width = q.shape[1], q.shape[2] // case["heads"]
    scores = heads(q) @ heads(k).swapaxes(1, 2) / math.sqrt(width)
    if case["causal"]:
        scores = np.where(np.tri(tokens, dtype=bool), scores, -np.inf)
    return (softmax({"axis": -1}, scores) @ heads(v)).swapaxes(0, 1).reshape(q.shape)


def layernorm(case, x):
    axes = tuple(case["axes"])
    centred = x - x.mean(axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axes, keepdims=True) + 1e-5)


REFERENCE = {
    "matmul": matmul,
    "conv": conv,
    "conv_transpose": conv_transpose,
    "add": lambda case, x, y: x + y,
    "muladd": lambda case, x, y, z: x * y + z,
    "gelu": gelu,
    "softmax": softmax,
    "layernorm": layernorm,
    "attention": attention,
    "sum": lambda case, x: x.sum(tuple(case["axes"])),
    "max": lambda case, x: x.max(tuple(case["axes"])),
    "permute": lambda case, x: x.transpose(case["axes"]),
    "cumsum": lambda case, x: x.cumsum(case["axis"]),
    "train": lambda case: np.array([case["loss"]]),
}


def reference(case):
    return REFERENCE[case["op"]](case, *(x.astype(np.float64) for x in inputs_of(case)))


# Of the largest value: room for sums in any order and for other ways to a convolution.
TOLERANCE = 2e-4


def mismatch(expected, values):
    """Why the values are not what was expected, or nothing."""
    if values.size != expected.size:
        return f"{values.size} values instead of {expected.size}"
    values = values.reshape(expected.shape)
    if not np.isfinite(values).all():
        return "not finite"
    error = np.abs(values - expected).max() / np.abs(expected).max()
    return f"wrong by {error:.1e} of the largest value" if error > TOLERANCE else ""
