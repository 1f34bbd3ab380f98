"""Attention with its options, what tells it where things are, and recurrent cells."""

import math

import torch
import torch.nn.functional as F

from cases import *


def attention(q, k, v, mask, is_causal=False, enable_gqa=False, scale=None, window=None):
    """PyTorch has no window."""
    if window is not None:
        place = torch.arange(q.shape[-2])[:, None] - torch.arange(k.shape[-2])[None]
        seen = place.abs() < window
        if is_causal:
            seen = seen & (place >= 0)
        if mask is not None:
            seen = seen & mask if mask.dtype == torch.bool else mask.masked_fill(~seen, -math.inf)
        mask, is_causal = seen, False
    return F.scaled_dot_product_attention(
        q, k, v, mask, is_causal=is_causal, enable_gqa=enable_gqa, scale=scale
    )


NONE = values([[True, False, True], [False, False, False]], "bool")
options = [
    {},
    {"scale": 0.3},
    {"is_causal": True},
    {"is_causal": True, "window": 2},
    {"window": 1},
    {"window": 2, "scale": 2.0},
]
for (q, k, v), named in product(
    [((2, 3), (4, 3), (4, 5)), ((2, 2, 4, 3), (2, 2, 4, 3), (2, 2, 4, 3)), ((1, 1, 1), (1, 1, 1), (1, 1, 1)), ((5, 2), (2, 2), (2, 3))],
    options,
):
    case("scaled_dot_product_attention", attention, [floats(q), floats(k), floats(v), None], atol=1e-5, **named)
for (q, k, v), named in product(
    [((4, 3, 2), (2, 3, 2), (2, 3, 2)), ((2, 6, 2, 3), (2, 2, 4, 3), (2, 2, 4, 3)), ((3, 1, 2), (1, 2, 2), (1, 2, 2)), ((2, 2, 2), (2, 3, 2), (2, 3, 2))],
    [{}, {"is_causal": True}],
):
    case("scaled_dot_product_attention", attention, [floats(q), floats(k), floats(v), None], enable_gqa=True, atol=1e-5, **named)
case("scaled_dot_product_attention", attention, [floats((2, 3)), floats((3, 3)), floats((3, 2)), NONE], atol=1e-5)
case(
    "scaled_dot_product_attention",
    attention,
    [floats((2, 3)), floats((3, 3)), floats((3, 2)), values([[0.5, -math.inf, 1], [-math.inf] * 3])],
    atol=1e-5,
)
case("scaled_dot_product_attention", attention, [floats((2, 3)), floats((3, 3)), floats((3, 2)), NONE], window=2, atol=1e-5)
case("scaled_dot_product_attention", attention, [floats((2, 2, 2, 3)), floats((2, 2, 3, 3)), floats((2, 2, 3, 2)), bools((2, 1, 2, 3))], atol=1e-5)
case("scaled_dot_product_attention", attention, [floats((2, 3)) * 100, floats((4, 3)) * 100, floats((4, 3)), None], grad=False, atol=1e-4)
for dtype in ["f16", "bf16"]:
    case("scaled_dot_product_attention", attention, [floats((4, 6), dtype=dtype) for _ in range(3)] + [None], is_causal=True, grad=False)


# --- Places -------------------------------------------------------------------------------------------


def rotary(x, positions, base=10000.0, offset=0, interleaved=False):
    """Pairs as complex numbers that are turned."""
    time, width = x.shape[-2:]
    if positions is None:
        positions = torch.arange(time) + offset
    frequency = base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angle = positions.double()[..., None] * frequency
    a, b = (x[..., 0::2], x[..., 1::2]) if interleaved else x.chunk(2, -1)
    turned = torch.complex(a.double(), b.double()) * torch.polar(torch.ones_like(angle), angle)
    parts = turned.real.to(x.dtype), turned.imag.to(x.dtype)
    return torch.stack(parts, -1).flatten(-2) if interleaved else torch.cat(parts, -1)


for shape, interleaved, offset in product([(3, 4), (2, 2, 3, 6), (1, 2), (0, 4), (1, 1, 1, 2)], [True, False], [0, 7]):
    case("rotary_embedding", rotary, [floats(shape), None], interleaved=interleaved, offset=offset)
case("rotary_embedding", rotary, [floats((3, 4)), None], base=100.0)
case("rotary_embedding", rotary, [floats((2, 3, 4)), ints((2, 3), 0, 100)], interleaved=True)
case("rotary_embedding", rotary, [floats((2, 3, 4)), ints((3,), 0, 100)])
case("rotary_embedding", rotary, [transposed(floats((4, 3), dtype="f64")), None], offset=2)
case("rotary_embedding", rotary, [floats((3, 4), dtype="f16"), None], grad=False)


def alibi(heads, queries, keys):
    """As its authors give the slopes."""

    def slopes(n):
        if math.log2(n).is_integer():
            start = 2 ** (-(2 ** -(math.log2(n) - 3)))
            return [start * start**i for i in range(n)]
        even = 2 ** math.floor(math.log2(n))
        return slopes(even) + slopes(2 * even)[0::2][: n - even]

    away = torch.arange(keys - queries, keys)[:, None] - torch.arange(keys)[None]
    return (-away.abs() * torch.tensor(slopes(heads), dtype=torch.float64)[:, None, None]).float()


for heads, queries, keys in [(1, 2, 2), (8, 3, 3), (12, 1, 4), (3, 2, 5), (4, 0, 3), (1, 1, 1)]:
    case("alibi", alibi, [], heads=heads, queries=queries, keys=keys)


# --- Whole ----------------------------------------------------------------------------------------------


def multi_head(q, k, v, w, b, wo, bo, mask, heads, is_causal=False):
    width = q.shape[-1]
    apart = lambda x, i: (
        F.linear(x, w[i * width : (i + 1) * width], None if b is None else b[i * width : (i + 1) * width])
        .unflatten(-1, (heads, -1))
        .transpose(-3, -2)
    )
    y = F.scaled_dot_product_attention(apart(q, 0), apart(k, 1), apart(v, 2), mask, is_causal=is_causal)
    return F.linear(y.transpose(-3, -2).flatten(-2), wo, bo)


def of_torch(q, k, v, w, b, wo, bo, mask, heads):
    """Of torch itself: batches, no mask."""
    turned = [x.transpose(0, 1) for x in (q, k, v)]
    y, _ = F.multi_head_attention_forward(
        *turned, q.shape[-1], heads, w, b, None, None, False, 0.0, wo, bo, need_weights=False
    )
    return y.transpose(0, 1)


for heads, function in product([1, 2], [of_torch, multi_head]):
    for biased in [True, False] if function is multi_head else [True]:
        width = 4
        weights = [floats((3 * width, width), -1, 1), floats((3 * width,)) if biased else None]
        weights += [floats((width, width), -1, 1), floats((width,)) if biased else None]
        batch = [floats((2, 3, width)), floats((2, 5, width)), floats((2, 5, width))]
        case("multi_head_attention", function, batch + weights + [None], heads=heads, atol=1e-5)
weights = [floats((12, 4), -1, 1), None, floats((4, 4), -1, 1), None]
case("multi_head_attention", multi_head, [floats((3, 4))] * 3 + weights + [None], heads=2, is_causal=True, atol=1e-5, grad=False)
case("multi_head_attention", multi_head, [floats((1, 4))] * 3 + weights + [bools((2, 1, 1)) | True], heads=2, atol=1e-5, grad=False)


# --- Cells --------------------------------------------------------------------------------------------


def rnn(x, h, w, u, b, c, nonlinearity):
    return (torch.tanh if nonlinearity == "tanh" else torch.relu)(F.linear(x, w, b) + F.linear(h, u, c))


def lstm(x, h, c, w, u, b, d):
    return torch.lstm_cell(x, (h, c), w, u, b, d)


def gru(x, h, w, u, b, c):
    return torch.gru_cell(x, h, w, u, b, c)


for batch, width, hidden in [((2,), 3, 4), ((1,), 1, 1), ((3,), 2, 2), ((2,), 5, 1), ((0,), 2, 3)]:
    for biased in [True, False]:
        weights = lambda gates: [floats((gates * hidden, width), -1, 1), floats((gates * hidden, hidden), -1, 1)] + (
            [floats((gates * hidden,), -1, 1), floats((gates * hidden,), -1, 1)] if biased else [None, None]
        )
        state = lambda: floats(batch + (hidden,))
        for nonlinearity in ["tanh", "relu"]:
            case("rnn_cell", rnn, [floats(batch + (width,)), state()] + weights(1), nonlinearity=nonlinearity)
        case("lstm_cell", lstm, [floats(batch + (width,)), state(), state()] + weights(4))
        case("gru_cell", gru, [floats(batch + (width,)), state()] + weights(3))
