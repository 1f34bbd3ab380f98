"""Layers: values, and gradients of inputs and parameters, which are given by PyTorch's names."""

import torch
from torch import nn
from torch.func import functional_call

from cases import *


def layer(name, module, inputs, outputs=lambda y: y, options=None, grad=None, rtol=1e-4, atol=1e-5, **arguments):
    """A case of module(*inputs, **options); the inputs are followed by the module's state."""
    state = module.state_dict()
    for value in state.values():
        if value.is_floating_point():
            value.copy_(value + floats(value.shape) * 0.3)  # weights of 1 and biases of 0 would hide what they do
    buffers = {key for key, _ in module.named_buffers()}

    def function(*given, **_):
        values = dict(zip(state, given[len(inputs):]))
        values = {key: value.detach().clone() if key in buffers else value for key, value in values.items()}
        y = functional_call(module, values, tuple(x for x in given[:len(inputs)] if x is not None), options or {})
        return outputs(y) if grad is None else (*outputs(y), *(values[key] for key in sorted(buffers)))

    tensors = list(inputs) + [value.clone() for value in state.values()]
    case(name, function, tensors, grad=grad, rtol=rtol, atol=atol, names=list(state), **arguments)


# --- Products ---------------------------------------------------------------------------------------------

for shape, bias in [((3,), True), ((2, 3), True), ((2, 2, 3), True), ((2, 3), False), ((0, 3), True)]:
    layer("Linear", nn.Linear(3, 4, bias=bias), [floats(shape)], sizes=[3, 4], bias=bias)
for shape, bias in [((), True), ((3,), True), ((2, 2), True), ((2,), False)]:
    layer("Bilinear", nn.Bilinear(3, 2, 4, bias=bias), [floats((*shape, 3)), floats((*shape, 2))], sizes=[3, 2, 4], bias=bias)
for shape, padding in [((3,), None), ((2, 3), 1), ((2, 3), -2), ((), None), ((0,), None)]:
    layer("Embedding", nn.Embedding(5, 3, padding_idx=padding), [ints(shape, 0, 5, "i64")], sizes=[5, 3], padding_idx=padding)

# --- Convolutions -----------------------------------------------------------------------------------------

CONVS = {1: nn.Conv1d, 2: nn.Conv2d, 3: nn.Conv3d}
for dims, kernel, options in [
    (1, 3, {}),
    (1, 2, {"stride": 2, "padding": 1, "dilation": 2}),
    (1, 3, {"padding": "same", "groups": 2}),
    (2, (3, 2), {"padding": (1, 0), "stride": (1, 2)}),
    (2, 3, {"padding": 1, "bias": False}),
    (2, 1, {"groups": 2}),
    (3, 2, {"stride": 2}),
    (3, (1, 2, 2), {"padding": 1}),
]:
    sizes = (2, 2, 5, 4, 3)[: dims + 2]
    layer(f"Conv{dims}d", CONVS[dims](2, 4, kernel, **options), [floats(sizes)], sizes=[2, 4], kernel=kernel, **options)
    layer(f"Conv{dims}d", CONVS[dims](2, 4, kernel, **options), [floats(sizes[1:])], sizes=[2, 4], kernel=kernel, **options)
for mode in ["reflect", "replicate", "circular"]:
    layer("Conv1d", nn.Conv1d(2, 2, 3, padding=2, padding_mode=mode), [floats((2, 2, 4))], sizes=[2, 2], kernel=3, padding=2, padding_mode=mode)
    layer("Conv2d", nn.Conv2d(1, 2, 2, padding=(1, 2), padding_mode=mode), [floats((1, 1, 3, 4))], sizes=[1, 2], kernel=2, padding=[1, 2], padding_mode=mode)
    layer("Conv2d", nn.Conv2d(1, 2, 2, padding="same", padding_mode=mode), [floats((1, 1, 3, 4))], sizes=[1, 2], kernel=2, padding="same", padding_mode=mode)

TRANSPOSED = {1: nn.ConvTranspose1d, 2: nn.ConvTranspose2d, 3: nn.ConvTranspose3d}
for dims, kernel, options in [
    (1, 3, {}),
    (1, 2, {"stride": 2, "padding": 1, "output_padding": 1}),
    (1, 3, {"groups": 2, "bias": False}),
    (2, 3, {"stride": 2, "padding": 1}),
    (2, (2, 3), {"dilation": 2, "groups": 2}),
    (3, 2, {"stride": (1, 2, 1)}),
    (3, (1, 1, 2), {"groups": 2}),
]:
    sizes = (1, 2, 3, 2, 2)[: dims + 2]
    layer(f"ConvTranspose{dims}d", TRANSPOSED[dims](2, 4, kernel, **options), [floats(sizes)], sizes=[2, 4], kernel=kernel, **options)

# --- Normalisation ----------------------------------------------------------------------------------------

BATCH = {2: nn.BatchNorm1d, 3: nn.BatchNorm1d, 4: nn.BatchNorm2d, 5: nn.BatchNorm3d}
for shape in [(4, 3), (2, 3, 4), (2, 3, 2, 2), (2, 3, 2, 1, 2)]:
    norm = BATCH[len(shape)]
    layer("BatchNorm", norm(3, eps=1e-3).eval(), [floats(shape)], size=3, eps=1e-3)
    layer("BatchNorm", norm(3, affine=False).eval(), [floats(shape)], size=3, affine=False)
    layer("BatchNorm", norm(3, momentum=0.3), [floats(shape)], lambda y: [y], grad=False, size=3, momentum=0.3, training=True)
    layer("BatchNorm", norm(3, track_running_stats=False), [floats(shape)], size=3, track_running_stats=False, rtol=1e-3)
for shape, sizes in [((2, 4), [4]), ((2, 3, 4), [3, 4]), ((2, 3, 4), [4]), ((3,), [3]), ((0, 3), [3])]:
    for options in [{}, {"eps": 1e-2}, {"bias": False}, {"elementwise_affine": False}]:
        layer("LayerNorm", nn.LayerNorm(sizes, **options), [floats(shape)], sizes=sizes, **options)


class LayerNorm2d(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


for shape in [(2, 3, 2, 2), (1, 3, 1, 4)]:
    for options in [{}, {"eps": 1e-2}, {"elementwise_affine": False}]:
        layer("LayerNorm2d", LayerNorm2d(3, **options), [floats(shape)], size=3, **options)
for shape in [(2, 4), (3, 2, 4), (4,)]:
    layer("RMSNorm", nn.RMSNorm(4, eps=1e-6), [floats(shape)], size=4)
    layer("RMSNorm", nn.RMSNorm(4, eps=1e-2, elementwise_affine=False), [floats(shape)], size=4, eps=1e-2, elementwise_affine=False)
for shape, groups in [((2, 4, 3), 2), ((1, 4, 2, 2), 4), ((2, 4, 2), 1)]:
    layer("GroupNorm", nn.GroupNorm(groups, 4), [floats(shape)], size=4, groups=groups)
    layer("GroupNorm", nn.GroupNorm(groups, 4, eps=1e-2, affine=False), [floats(shape)], size=4, groups=groups, eps=1e-2, affine=False)
for norm, shape in [(nn.InstanceNorm1d, (2, 3, 4)), (nn.InstanceNorm2d, (1, 3, 2, 2)), (nn.InstanceNorm3d, (1, 3, 2, 1, 2))]:
    layer("InstanceNorm", norm(3, affine=True), [floats(shape)], size=3)
    layer("InstanceNorm", norm(3, eps=1e-2), [floats(shape)], size=3, eps=1e-2, affine=False)

# --- Recurrence -------------------------------------------------------------------------------------------

for shape in [(3,), (2, 3)]:
    for bias, given in [(True, True), (False, True), (True, False)]:
        h = floats((*shape[:-1], 4)) if given else None
        c = floats((*shape[:-1], 4)) if given else None
        for nonlinearity in ["tanh", "relu"]:
            layer("RNNCell", nn.RNNCell(3, 4, bias, nonlinearity), [floats(shape), h], sizes=[3, 4], bias=bias, nonlinearity=nonlinearity)
        layer("GRUCell", nn.GRUCell(3, 4, bias), [floats(shape), h], sizes=[3, 4], bias=bias)
        cell = nn.LSTMCell(3, 4, bias)
        if given:
            cell.forward = lambda x, h, c, forward=cell.forward: forward(x, (h, c))
        layer("LSTMCell", cell, [floats(shape), h, c], sizes=[3, 4], bias=bias)

RECURRENT = [
    ((3, 2, 3), False, {}),
    ((3, 2, 3), True, {"num_layers": 2}),
    ((2, 3, 3), True, {"batch_first": True, "bidirectional": True}),
    ((3, 1, 3), True, {"num_layers": 2, "bidirectional": True, "bias": False}),
    ((4, 3), True, {}),
    ((4, 3), False, {"bidirectional": True}),
    ((1, 1, 3), False, {"batch_first": True}),
]
for shape, given, options in RECURRENT:
    rows = options.get("num_layers", 1) * (2 if options.get("bidirectional") else 1)
    batch = shape[0 if options.get("batch_first") else 1]
    state = (rows, 2) if len(shape) == 2 else (rows, batch, 2)
    h, c = (floats(state), floats(state)) if given else (None, None)
    for nonlinearity in ["tanh", "relu"]:
        layer("RNN", nn.RNN(3, 2, nonlinearity=nonlinearity, **options), [floats(shape), h], sizes=[3, 2], nonlinearity=nonlinearity, **options)
    layer("GRU", nn.GRU(3, 2, **options), [floats(shape), h], sizes=[3, 2], **options)
    net = nn.LSTM(3, 2, **options)
    if given:
        net.forward = lambda x, h, c, forward=net.forward: forward(x, (h, c))
    layer("LSTM", net, [floats(shape), h, c], lambda y: (y[0], *y[1]), sizes=[3, 2], **options)

# --- Attention --------------------------------------------------------------------------------------------

MASK = values([[False, True, False], [False, False, True], [True, False, False]], "bool")
ADDED = values([[0.0, 0.5, -1.0], [1.0, 0.0, 0.2], [0.0, 0.0, -2.0]])
CAUSAL = torch.ones(3, 3).triu(1).bool()
PADDING = values([[False, False, True], [False, True, False]], "bool")


def attention(inputs, masks=(None, None), is_causal=False, weights=False, **options):
    """Query, key, value, key_padding_mask, attn_mask."""
    module = nn.MultiheadAttention(4, 2, **options)
    forward = module.forward

    def call(q, k, v, *given):
        given = iter(given)
        padding, mask = (next(given) if x is not None else None for x in masks)
        found = forward(q, k, v, padding, weights, CAUSAL if is_causal else mask)
        return found if weights else found[0]

    module.forward = call
    layer("MultiheadAttention", module, list(inputs) + list(masks), heads=2, is_causal=is_causal, weights=weights, **options)


def three(*shape):
    return [floats(shape) for _ in range(3)]


for options in [{}, {"batch_first": True}, {"bias": False}]:
    attention(three(2, 2, 4), **options)
attention(three(3, 4))
attention([floats((2, 2, 4)), floats((3, 2, 3)), floats((3, 2, 5))], kdim=3, vdim=5)
attention([floats((2, 1, 4)), floats((3, 1, 4)), floats((3, 1, 2))], vdim=2, weights=True)
for weights in [False, True]:
    attention(three(2, 3, 4), (None, MASK), weights=weights, batch_first=True)
    attention(three(3, 2, 4), (PADDING, None), weights=weights)
    attention(three(3, 2, 4), (None, ADDED), weights=weights)
    attention(three(3, 2, 4), (values([[0.0, 0.5, -1.0], [0.1, 0.2, 0.3]]), ADDED), weights=weights)
    attention(three(3, 2, 4), is_causal=True, weights=weights)
attention(three(2, 3, 4), (PADDING, torch.stack([MASK, CAUSAL, CAUSAL, MASK])), batch_first=True)

STYLES = [{}, {"norm_first": True}, {"batch_first": True, "activation": "gelu"}, {"bias": False, "layer_norm_eps": 1e-2}]
for options in STYLES:
    inner = nn.TransformerEncoderLayer(4, 2, 6, dropout=0.0, **options)
    layer("TransformerEncoderLayer", inner, [floats((2, 3, 4)), None], **options)
    layer("TransformerEncoder", nn.TransformerEncoder(inner, 2, nn.LayerNorm(4)), [floats((2, 1, 4)), None], layers=2, norm=True, **options)
    inner = nn.TransformerDecoderLayer(4, 2, 6, dropout=0.0, **options)
    layer("TransformerDecoderLayer", inner, [floats((2, 2, 4)), floats((3, 2, 4) if "batch_first" not in options else (2, 3, 4)), None], **options)
    layer("TransformerDecoder", nn.TransformerDecoder(inner, 2), [floats((1, 2, 4)), floats((1, 2, 4)), None], layers=2, **options)
inner = nn.TransformerEncoderLayer(4, 2, 6, dropout=0.0)
layer("TransformerEncoderLayer", inner, [floats((3, 2, 4)), MASK])
inner = nn.TransformerDecoderLayer(4, 2, 6, dropout=0.0)
layer("TransformerDecoderLayer", inner, [floats((3, 2, 4)), floats((2, 2, 4)), MASK])

# --- Several ----------------------------------------------------------------------------------------------

for shape in [(2, 3), (3,), (0, 3)]:
    layer("Sequential", nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.PReLU(), nn.Linear(4, 2), nn.Tanh()), [floats(shape)])
layer("PReLU", nn.PReLU(), [floats((2, 3))], size=1)
layer("PReLU", nn.PReLU(3), [floats((2, 3, 2))], size=3)
ACTIVATIONS = [nn.Identity(), nn.LeakyReLU(0.2), nn.ELU(0.5), nn.GELU(), nn.SiLU(), nn.Sigmoid(), nn.Softmax(-1), nn.LogSoftmax(-1), nn.Flatten()]
for shape in [(2, 2, 4), (1, 1, 4)]:
    layer("activations", nn.Sequential(nn.MaxPool1d(2), nn.Upsample(scale_factor=2), nn.AvgPool1d(2), *ACTIVATIONS), [distinct(shape)])

# --- Means over all batches, states that are projected, keys that a layer adds ----------------------------

for shape in [(4, 3), (2, 3, 4), (2, 3, 2, 2), (2, 3, 2, 1, 2)]:
    cumulative = BATCH[len(shape)](3, momentum=None)
    cumulative.num_batches_tracked.fill_(4)
    layer("BatchNorm", cumulative, [floats(shape)], lambda y: [y], grad=False, size=3, cumulative=True, training=True)
for shape, given, options in RECURRENT:
    for proj in [1, 2]:
        net = nn.LSTM(3, 4, proj_size=proj, **options)
        rows = options.get("num_layers", 1) * (2 if options.get("bidirectional") else 1)
        batch = () if len(shape) == 2 else (shape[0 if options.get("batch_first") else 1],)
        h, c = (floats((rows, *batch, proj)), floats((rows, *batch, 4))) if given else (None, None)
        if given:
            net.forward = lambda x, h, c, forward=net.forward: forward(x, (h, c))
        layer("LSTM", net, [floats(shape), h, c], lambda y: (y[0], *y[1]), sizes=[3, 4], proj_size=proj, **options)
for added in [{"add_bias_kv": True}, {"add_zero_attn": True}, {"add_bias_kv": True, "add_zero_attn": True}]:
    attention(three(3, 2, 4), **added)
    attention(three(3, 4), **added)
    attention(three(2, 3, 4), (PADDING, MASK), batch_first=True, weights=True, **added)
    attention(three(3, 2, 4), (None, ADDED), weights=True, **added)
    attention(three(3, 2, 4), is_causal=True, **added)
attention([floats((2, 2, 4)), floats((3, 2, 4)), floats((3, 2, 4))], (PADDING, None), add_bias_kv=True, bias=False)
attention(three(3, 4), (None, torch.stack([MASK, CAUSAL])))
attention(three(3, 4), (values([False, True, False], "bool"), None), weights=True)
