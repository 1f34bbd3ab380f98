#!/usr/bin/env python3
"""Writes net_tests.zip: nodes of neural networks as the standard's own tests do not have them, in the same layout.

    tests/onnx/make_net_tests.py

Old opsets, attributes that are rare, and what they do together. The outputs come from PyTorch, or from loops over
elements in numpy that follow the standard's equations. Needs numpy, onnx and torch.
"""

import io
import itertools
import pathlib
import zipfile

import numpy as np
import onnx
import onnx.helper
import onnx.numpy_helper
import torch
import torch.nn.functional as F

FOLDER = pathlib.Path(__file__).resolve().parent
random = np.random.default_rng(7)
cases = {}


def floats(*shape, dtype=np.float32):
    return random.standard_normal(shape).astype(dtype)


def array(value):
    return value.detach().numpy() if isinstance(value, torch.Tensor) else np.asarray(value)


def case(name, op, opset, inputs, outputs, **attributes):
    """One node. An input or output of None is left out."""
    inputs = [None if x is None else array(x) for x in inputs]
    outputs = [None if x is None else array(x) for x in outputs]
    names = [["" if x is None else f"{kind}{i}" for i, x in enumerate(values)]
             for kind, values in (("x", inputs), ("y", outputs))]
    node = onnx.helper.make_node(op, *names, **attributes)
    ports = [[onnx.helper.make_tensor_value_info(n, onnx.helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
              for n, x in zip(group, values) if n] for group, values in zip(names, (inputs, outputs))]
    graph = onnx.helper.make_graph([node], name, *ports)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)])
    model.ir_version = 3 if opset < 9 else 8
    files = {"model.onnx": model.SerializeToString()}
    for kind, group, values in (("input", names[0], inputs), ("output", names[1], outputs)):
        given = [(n, x) for n, x in zip(group, values) if n]
        for i, (n, x) in enumerate(given):
            files[f"test_data_set_0/{kind}_{i}.pb"] = onnx.numpy_helper.from_array(x, n).SerializeToString()
    assert name not in cases, name
    cases[name] = files


# --- Convolutions ---------------------------------------------------------------------------------------


def same_pads(sizes, kernel, stride, dilation, lower):
    pads = []
    for size, k, s, d in zip(sizes, kernel, stride, dilation):
        total = max(0, (-(-size // s) - 1) * s + (k - 1) * d + 1 - size)
        pads.append((total - total // 2, total // 2) if lower else (total // 2, total - total // 2))
    return pads


def padded(x, pads, value=0.0):
    return F.pad(torch.from_numpy(x), [p for pair in reversed(pads) for p in pair], value=value)


def convolutions():
    for dims, mode in itertools.product((1, 2, 3), ("SAME_UPPER", "SAME_LOWER")):
        x, w, b = floats(2, 4, *(7, 6, 5)[:dims]), floats(6, 2, *(3, 2, 2)[:dims]), floats(6)
        stride, dilation = [2, 1, 2][:dims], [2, 3, 1][:dims]
        pads = same_pads(x.shape[2:], w.shape[2:], stride, dilation, mode == "SAME_LOWER")
        conv = (F.conv1d, F.conv2d, F.conv3d)[dims - 1]
        y = conv(padded(x, pads), torch.from_numpy(w), torch.from_numpy(b), stride=stride, dilation=dilation, groups=2)
        case(f"conv_{dims}d_{mode.lower()}", "Conv", 11, [x, w, b], [y], auto_pad=mode, strides=stride,
             dilations=dilation, group=2)
    x, w = floats(1, 2, 5, 6), floats(3, 2, 2, 3)
    y = F.conv2d(padded(x, [(2, 0), (1, 3)]), torch.from_numpy(w))
    case("conv_uneven_pads", "Conv", 1, [x, w], [y], pads=[2, 1, 0, 3], kernel_shape=[2, 3])

    convs = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)
    for dims in (1, 2, 3):
        x, w, b = floats(2, 4, *(4, 3, 2)[:dims]), floats(4, 3, *(3, 2, 2)[:dims]), floats(6)
        stride, dilation, more = [3, 2, 1][:dims], [2, 1, 2][:dims], [2, 1, 1][:dims]
        pad = [1, 0, 1][:dims]
        y = convs[dims - 1](*map(torch.from_numpy, (x, w, b)), stride=stride, padding=pad, output_padding=more, groups=2,
                            dilation=dilation)
        case(f"conv_transpose_{dims}d", "ConvTranspose", 1, [x, w, b], [y], strides=stride, dilations=dilation,
             output_padding=more, pads=pad + pad, group=2)
    x, w = floats(1, 2, 4, 5), floats(2, 3, 4, 3)
    whole = array(F.conv_transpose2d(torch.from_numpy(x), torch.from_numpy(w), stride=2))  # 10 x 11
    case("conv_transpose_same_upper", "ConvTranspose", 11, [x, w], [whole[:, :, 1:9, 0:10]], strides=[2, 2],
         auto_pad="SAME_UPPER")
    case("conv_transpose_same_lower", "ConvTranspose", 11, [x, w], [whole[:, :, 1:9, 1:11]], strides=[2, 2],
         auto_pad="SAME_LOWER")
    case("conv_transpose_output_shape", "ConvTranspose", 11, [x, w], [whole[:, :, 1:9, 1:9]], strides=[2, 2],
         output_shape=[8, 8], auto_pad="SAME_UPPER")

    x, w, b = floats(2, 4, 5, 6), floats(6, 2, 3, 2), floats(6)
    conv = F.conv2d(*map(torch.from_numpy, (x, w, b)), stride=(2, 1), padding=1, dilation=(1, 2), groups=2)
    offset = np.zeros((2, 2 * 3 * 2 * 2, *conv.shape[2:]), np.float32)
    mask = np.full((2, 2 * 3 * 2, *conv.shape[2:]), 0.5, np.float32)
    settings = dict(strides=[2, 1], pads=[1, 1, 1, 1], dilations=[1, 2], group=2, offset_group=2)
    case("deform_conv_none", "DeformConv", 19, [x, w, offset, b], [conv], **settings)
    case("deform_conv_mask", "DeformConv", 19, [x, w, offset, None, mask], [(conv - torch.from_numpy(b)[:, None, None]) / 2],
         **settings)
    right = np.zeros_like(offset)
    right.reshape(2, 2, 6, 2, *conv.shape[2:])[:, :, :, 1] = 1  # one element to the right
    moved = F.conv2d(padded(x, [(1, 1), (0, 2)]), torch.from_numpy(w), stride=(2, 1), dilation=(1, 2), groups=2)
    case("deform_conv_right", "DeformConv", 19, [x, w, right], [moved], **settings)

    x = floats(2, 3 * 6, 9)
    y = F.fold(torch.from_numpy(x), (5, 6), (2, 3), dilation=(2, 1), padding=(0, 1), stride=(1, 2))
    case("col2im", "Col2Im", 18, [x, np.array([5, 6]), np.array([2, 3])], [y], dilations=[2, 1], pads=[0, 1, 0, 1],
         strides=[1, 2])


# --- Products -------------------------------------------------------------------------------------------


def products():
    a, b, c = floats(4, 3), floats(5, 4), floats(5)
    case("gemm_6", "Gemm", 6, [a, b, c], [0.5 * a.T @ b.T + 2 * c], transA=1, transB=1, alpha=0.5, beta=2.0, broadcast=1)
    case("gemm_11_none", "Gemm", 11, [a, b], [a.T @ b.T], transA=1, transB=1)
    x = floats(2, 3, 4, 4)
    case("det_batch", "Det", 11, [x], [np.linalg.det(x.astype(np.float64)).astype(np.float32)])
    a = random.integers(0, 255, (3, 4)).astype(np.uint8)
    b = random.integers(-128, 127, (2, 4, 5)).astype(np.int8)
    rows, columns = np.array([1, 128, 255], np.uint8), np.array([-3, 0, 5, 7, 9], np.int8)
    y = (a.astype(np.int32) - rows[:, None].astype(np.int32)) @ (b.astype(np.int32) - columns.astype(np.int32))
    case("matmul_integer_by_rows", "MatMulInteger", 10, [a, b, rows, columns], [y])
    scales = np.array([0.5, 0.25, 2], np.float32), np.array([1, 0.5, 0.25, 2, 4], np.float32)
    real = y * scales[0][:, None] * scales[1] / 512
    case("qlinear_matmul_by_rows", "QLinearMatMul", 10,
         [a, scales[0], rows, b, scales[1], columns, np.float32(512), np.uint8(100)],
         [np.clip(np.rint(real) + 100, 0, 255).astype(np.uint8)])
    x = random.integers(0, 255, (1, 2, 5, 5)).astype(np.uint8)
    w = random.integers(-128, 127, (4, 1, 3, 3)).astype(np.int8)
    zeros = np.array([0, 3, -5, 7], np.int8)
    centred = (x.astype(np.int64) - 9).astype(np.float64), (w.astype(np.int64) - zeros[:, None, None, None]).astype(np.float64)
    y = array(F.conv2d(*map(torch.from_numpy, centred), padding=1, groups=2)).astype(np.int32)
    case("conv_integer_by_channel", "ConvInteger", 10, [x, w, np.uint8(9), zeros], [y], pads=[1, 1, 1, 1], group=2)
    scale, bias = np.array([0.5, 0.25, 0.125, 1], np.float32), np.array([100, -200, 300, 0], np.int32)
    real = (y + bias[:, None, None]) * scale[:, None, None] / 64
    case("qlinear_conv_by_channel", "QLinearConv", 10,
         [x, np.float32(1), np.uint8(9), w, scale, zeros, np.float32(64), np.int8(-4), bias],
         [np.clip(np.rint(real) - 4, -128, 127).astype(np.int8)], pads=[1, 1, 1, 1], group=2)


# --- Pools ----------------------------------------------------------------------------------------------


def pools():
    for counts, ceil in itertools.product((0, 1), (0, 1)):
        x = floats(2, 3, 8, 9)
        y = F.avg_pool2d(torch.from_numpy(x), (3, 4), (3, 2), (1, 2), bool(ceil), bool(counts))
        case(f"average_pool_{counts}_{ceil}", "AveragePool", 10, [x], [y], kernel_shape=[3, 4], strides=[3, 2],
             pads=[1, 2, 1, 2], ceil_mode=ceil, count_include_pad=counts)
    x = floats(1, 2, 7)
    y = F.avg_pool1d(torch.from_numpy(x), 3, 2, 1, count_include_pad=False)
    case("average_pool_1", "AveragePool", 1, [x], [y], kernel_shape=[3], strides=[2], pads=[1, 1])

    x = floats(2, 3, 6, 7, 5)
    y, places = F.max_pool3d(torch.from_numpy(x), (2, 3, 2), (2, 2, 1), (1, 1, 0), (1, 2, 2), ceil_mode=True,
                             return_indices=True)
    plane = np.arange(6).reshape(2, 3, 1, 1, 1) * 6 * 7 * 5
    attributes = dict(kernel_shape=[2, 3, 2], strides=[2, 2, 1], pads=[1, 1, 0, 1, 1, 0], dilations=[1, 2, 2], ceil_mode=1)
    case("max_pool_3d", "MaxPool", 12, [x], [y, array(places) + plane], **attributes)
    h, w, d = np.unravel_index(array(places), (6, 7, 5))
    case("max_pool_columns", "MaxPool", 12, [x], [y, plane + h + 6 * (w + 7 * d)], storage_order=1, **attributes)
    x = random.integers(-128, 127, (1, 2, 5, 5)).astype(np.int8)
    y = F.max_pool2d(padded(x.astype(np.float32), [(2, 2), (2, 2)], -128), 3)
    case("max_pool_wide_pads", "MaxPool", 12, [x], [array(y).astype(np.int8)], kernel_shape=[3, 3], strides=[3, 3],
         pads=[2, 2, 2, 2])

    x = floats(1, 2, 6, 5)
    sums = F.avg_pool2d(padded(np.abs(x) ** 3, [(1, 0), (0, 1)]), (2, 3), (2, 1), divisor_override=1)
    case("lp_pool_1", "LpPool", 1, [x], [sums ** (1 / 3)], kernel_shape=[2, 3], strides=[2, 1], pads=[1, 0, 0, 1], p=3.0)
    case("lp_pool_18", "LpPool", 18, [x], [sums ** (1 / 3)], kernel_shape=[2, 3], strides=[2, 1], pads=[1, 0, 0, 1], p=3)
    total = np.abs(x.astype(np.float64))
    case("global_lp_pool_1", "GlobalLpPool", 1, [x], [(total**2).sum((2, 3), keepdims=True).astype(np.float32) ** 0.5])
    case("global_lp_pool_2", "GlobalLpPool", 2, [x], [total.sum((2, 3), keepdims=True).astype(np.float32)], p=1)


def regions():
    x = floats(2, 3, 8, 10)
    rois = np.array([[0, 0, 0, 5, 4], [1, 3, 2, 9, 7], [1, 9, 7, 9, 7]], np.float32)
    y = np.zeros((3, 3, 3, 2), np.float32)
    for r, (batch, *box) in enumerate(rois):
        left, top, right, bottom = (int(np.floor(c + 0.5)) for c in box)
        height, width = max(bottom - top + 1, 1), max(right - left + 1, 1)
        for i, j in itertools.product(range(3), range(2)):
            rows = slice(top + int(np.floor(i * height / 3)), top + int(np.ceil((i + 1) * height / 3)))
            columns = slice(left + int(np.floor(j * width / 2)), left + int(np.ceil((j + 1) * width / 2)))
            y[r, :, i, j] = x[int(batch), :, rows, columns].max((1, 2))
    case("max_roi_pool", "MaxRoiPool", 1, [x, rois], [y], pooled_shape=[3, 2])

    boxes = np.array([[0, 0, 9, 7], [2.3, 1.1, 6.4, 4.2], [-2, -1, 4, 12]], np.float32)
    for opset, shift, ratio in ((10, 0, 0), (16, 0.5, 0), (16, 0.5, 3)):
        y = np.zeros((3, 3, 2, 3))
        for r, box in enumerate(boxes):
            left, top, right, bottom = box * 0.9 - shift
            spans = ((bottom - top), (right - left)) if shift else (max(bottom - top, 1), max(right - left, 1))
            spans = spans[0] / 2, spans[1] / 3
            counts = [ratio or int(np.ceil(s)) for s in spans]
            for i, j, p, q in itertools.product(range(2), range(3), range(counts[0]), range(counts[1])):
                at = [top + (i + (p + 0.5) / counts[0]) * spans[0], left + (j + (q + 0.5) / counts[1]) * spans[1]]
                if at[0] < -1 or at[0] > 8 or at[1] < -1 or at[1] > 10:
                    continue
                v, u = (min(max(c, 0), n - 1) for c, n in zip(at, (8, 10)))
                v0, u0 = int(v), int(u)
                v1, u1 = min(v0 + 1, 7), min(u0 + 1, 9)
                a, b = v - v0, u - u0
                image = x[r % 2]
                value = ((1 - a) * (1 - b) * image[:, v0, u0] + (1 - a) * b * image[:, v0, u1] +
                         a * (1 - b) * image[:, v1, u0] + a * b * image[:, v1, u1])
                y[r, :, i, j] += value / (counts[0] * counts[1])
        case(f"roi_align_{opset}_{ratio}", "RoiAlign", opset, [x, boxes, np.array([0, 1, 0])], [y.astype(np.float32)],
             output_height=2, output_width=3, spatial_scale=0.9, sampling_ratio=ratio)


# --- Normalisation --------------------------------------------------------------------------------------


def normalisation():
    x = floats(3, 4, 2, 5)
    scale, bias, mean, var = floats(4), floats(4), floats(4), np.abs(floats(4)) + 0.5
    settled = F.batch_norm(*map(torch.from_numpy, (x, mean, var, scale, bias)), eps=1e-3)
    inputs = [x, scale, bias, mean, var]
    case("batch_norm_1", "BatchNormalization", 1, inputs, [settled], epsilon=1e-3, is_test=1, consumed_inputs=[0, 0, 0, 1, 1])
    case("batch_norm_6", "BatchNormalization", 6, inputs, [settled], epsilon=1e-3, is_test=1)
    for opset in (7, 9, 14, 15):
        case(f"batch_norm_{opset}", "BatchNormalization", opset, inputs, [settled], epsilon=1e-3)
    now_mean, now_var = x.mean((0, 2, 3)), x.var((0, 2, 3))
    trained = F.batch_norm(*map(torch.from_numpy, (x, now_mean, now_var, scale, bias)), eps=1e-5)
    running = [mean * np.float32(0.8) + now_mean * np.float32(0.2), var * np.float32(0.8) + now_var * np.float32(0.2)]
    case("batch_norm_training_7", "BatchNormalization", 7, inputs, [trained, *running, now_mean, now_var], momentum=0.8)
    case("batch_norm_training_1", "BatchNormalization", 1, inputs, [trained, *running, now_mean, now_var], momentum=0.8,
         consumed_inputs=[0, 0, 0, 1, 1])
    case("batch_norm_training_14", "BatchNormalization", 14, inputs, [trained, *running], momentum=0.8, training_mode=1)
    each = [floats(4, 2, 5), floats(4, 2, 5), floats(4, 2, 5), np.abs(floats(4, 2, 5)) + 0.5]
    y = (x - each[2]) / np.sqrt(each[3] + np.float32(1e-5)) * each[0] + each[1]
    case("batch_norm_not_spatial", "BatchNormalization", 7, [x, *each], [y], spatial=0)

    groups = [floats(2), floats(2)]
    normal = array(F.group_norm(torch.from_numpy(x), 2)).reshape(3, 2, 2, 2, 5)
    y = normal * groups[0].reshape(2, 1, 1, 1) + groups[1].reshape(2, 1, 1, 1)
    case("group_norm_18", "GroupNormalization", 18, [x, *groups], [y.reshape(x.shape)], num_groups=2)
    y = F.instance_norm(*map(torch.from_numpy, (x,)), weight=torch.from_numpy(scale), bias=torch.from_numpy(bias))
    case("instance_norm_1", "InstanceNormalization", 1, [x, scale, bias], [y])
    for size in (1, 2, 3, 4):
        sums = np.zeros_like(x)
        for c in range(4):
            sums[:, c] = (x[:, max(0, c - (size - 1) // 2):min(3, c + size // 2) + 1] ** 2).sum(1)
        y = x / (2 + np.float32(0.5) / size * sums) ** np.float32(0.75)
        case(f"lrn_{size}", "LRN", 1, [x], [y], size=size, alpha=0.5, bias=2.0)
    case("lp_norm_1", "LpNormalization", 1, [x], [x / np.abs(x).sum(2, keepdims=True)], p=1, axis=-2)

    for opset, attributes, mask in ((1, dict(is_test=1, consumed_inputs=[0]), np.float32), (6, dict(is_test=1), np.float32),
                                    (7, {}, np.float32), (10, {}, bool), (12, {}, bool)):
        case(f"dropout_{opset}", "Dropout", opset, [x], [x, np.ones(x.shape, mask)], **attributes)


# --- Recurrence -----------------------------------------------------------------------------------------

ACTIVATIONS = {
    "Relu": lambda x, a, b: np.maximum(x, 0),
    "Tanh": lambda x, a, b: np.tanh(x),
    "Sigmoid": lambda x, a, b: 1 / (1 + np.exp(-x)),
    "Affine": lambda x, a, b: a * x + b,
    "LeakyRelu": lambda x, a, b: np.where(x >= 0, x, a * x),
    "ThresholdedRelu": lambda x, a, b: np.where(x >= a, x, 0),
    "ScaledTanh": lambda x, a, b: a * np.tanh(b * x),
    "HardSigmoid": lambda x, a, b: np.clip(a * x + b, 0, 1),
    "Elu": lambda x, a, b: np.where(x >= 0, x, a * (np.exp(x) - 1)),
    "Softsign": lambda x, a, b: x / (1 + np.abs(x)),
    "Softplus": lambda x, a, b: np.log(1 + np.exp(x)),
}
ALPHAS = {"Affine": 1, "LeakyRelu": 0.01, "ThresholdedRelu": 1, "ScaledTanh": 1, "HardSigmoid": 0.2, "Elu": 1}
BETAS = {"Affine": 0, "ScaledTanh": 1, "HardSigmoid": 0.5}


def functions_of(names, alphas, betas, clip):
    alphas, betas = list(alphas), list(betas)
    result = []
    for name in names:
        a = (alphas.pop(0) if alphas else ALPHAS[name]) if name in ALPHAS else None
        b = (betas.pop(0) if betas else BETAS[name]) if name in BETAS else None
        limit = clip or np.inf
        result.append(lambda x, name=name, a=a, b=b: ACTIVATIONS[name](np.clip(x, -limit, limit), a, b))
    return result


def recurrent_case(name, op, gates, default, *, direction="forward", time=4, batch=3, width=2, hidden=3, bias=True,
                   lengths=None, initial=False, peepholes=False, activations=None, alphas=(), betas=(), clip=None,
                   layout=0, opset=14, **attributes):
    """One element of the batch after the other, one step after the other."""
    directions = 2 if direction == "bidirectional" else 1
    x = floats(time, batch, width)
    w, r = floats(directions, gates * hidden, width), floats(directions, gates * hidden, hidden)
    b = floats(directions, 2 * gates * hidden) if bias else None
    h0, c0 = (floats(directions, batch, hidden) for _ in range(2))
    p = floats(directions, 3 * hidden) if peepholes else None
    functions = functions_of(activations or default * directions, alphas, betas, clip)
    y = np.zeros((time, directions, batch, hidden))
    last_h, last_c = np.zeros((directions, batch, hidden)), np.zeros((directions, batch, hidden))
    for d, n in itertools.product(range(directions), range(batch)):
        f = functions[d * len(default):(d + 1) * len(default)]
        h = h0[d, n] if initial else np.zeros(hidden)
        c = c0[d, n] if initial else np.zeros(hidden)
        bias_in, bias_own = np.split(b[d], 2) if bias else (np.zeros(gates * hidden),) * 2
        steps = range(lengths[n] if lengths is not None else time)
        for t in reversed(steps) if direction == "reverse" or d == 1 else steps:
            i, o = w[d] @ x[t, n] + bias_in, r[d] @ h + bias_own
            if op == "RNN":
                h = f[0](i + o)
            elif op == "GRU":
                iz, ir, ih = np.split(i, 3)
                oz, orr, oh = np.split(o, 3)
                z, reset = f[0](iz + oz), f[0](ir + orr)
                own = reset * oh if attributes.get("linear_before_reset") else \
                    r[d][2 * hidden:] @ (reset * h) + bias_own[2 * hidden:]
                h = (1 - z) * f[1](ih + own) + z * h
            else:
                gi, go, gf, gc = np.split(i + o, 4)
                pi, po, pf = np.split(p[d], 3) if peepholes else (0, 0, 0)
                enters = f[0](gi + pi * c)
                stays = 1 - enters if attributes.get("input_forget") else f[0](gf + pf * c)
                c = stays * c + enters * f[1](gc)
                h = f[0](go + po * c) * f[2](c)
            y[t, d, n] = h
        last_h[d, n], last_c[d, n] = h, c
    results = [y, last_h] + ([last_c] if op == "LSTM" else [])
    inputs = [x, w, r, b, None if lengths is None else np.array(lengths, np.int32), h0 if initial else None]
    if op == "LSTM":
        inputs += [c0 if initial else None, p]
    if layout:
        results = [v.transpose(2, 0, 1, 3) if v.ndim == 4 else v.transpose(1, 0, 2) for v in results]
        inputs = [v.transpose(1, 0, 2) if v is not None and i in (0, 5, 6) else v for i, v in enumerate(inputs)]
        attributes["layout"] = 1
    for key, value in (("activations", activations), ("activation_alpha", list(alphas)), ("activation_beta", list(betas)),
                       ("clip", clip)):
        if value:
            attributes[key] = value
    while inputs[-1] is None:
        inputs.pop()
    case(name, op, opset, inputs, [v.astype(np.float32) for v in results], direction=direction, hidden_size=hidden,
         **attributes)


def recurrence():
    kinds = {"RNN": (1, ["Tanh"]), "GRU": (3, ["Sigmoid", "Tanh"]), "LSTM": (4, ["Sigmoid", "Tanh", "Tanh"])}
    for op, (gates, default) in kinds.items():
        name = op.lower()
        for direction in ("forward", "reverse", "bidirectional"):
            recurrent_case(f"{name}_{direction}", op, gates, default, direction=direction, initial=True)
            recurrent_case(f"{name}_{direction}_lengths", op, gates, default, direction=direction, lengths=[2, 4, 0],
                           initial=direction != "forward")
        recurrent_case(f"{name}_layout", op, gates, default, direction="bidirectional", layout=1, initial=True)
        recurrent_case(f"{name}_clip", op, gates, default, clip=0.3, bias=False)
        recurrent_case(f"{name}_7", op, gates, default, opset=7)
    for names, alphas, betas in ((["Affine"], [0.5], [0.1]), (["LeakyRelu"], [], []), (["ThresholdedRelu"], [0.2], []),
                                 (["ScaledTanh"], [1.5], [0.5]), (["HardSigmoid"], [], []), (["Elu"], [0.7], []),
                                 (["Softsign"], [], []), (["Softplus"], [], []), (["Relu"], [], [])):
        recurrent_case(f"rnn_{names[0].lower()}", "RNN", 1, ["Tanh"], activations=names, alphas=alphas, betas=betas)
    recurrent_case("rnn_two_alphas", "RNN", 1, ["Tanh"], direction="bidirectional", activations=["Affine", "LeakyRelu"],
                   alphas=[0.5, 0.3], betas=[0.2])
    recurrent_case("gru_linear", "GRU", *kinds["GRU"], direction="bidirectional", linear_before_reset=1)
    recurrent_case("gru_activations", "GRU", *kinds["GRU"], activations=["HardSigmoid", "Softsign"], alphas=[0.3], betas=[0.4])
    recurrent_case("lstm_peepholes", "LSTM", *kinds["LSTM"], direction="bidirectional", peepholes=True, initial=True)
    recurrent_case("lstm_input_forget", "LSTM", *kinds["LSTM"], input_forget=1, peepholes=True)
    recurrent_case("lstm_activations", "LSTM", *kinds["LSTM"], activations=["HardSigmoid", "Softsign", "Relu"], clip=0.8)


# --- Sizes ----------------------------------------------------------------------------------------------


def asymmetric(x, scales):
    for axis, scale in enumerate(scales):
        count = int(np.floor(x.shape[axis] * scale))
        at = np.arange(count) / scale
        x = np.apply_along_axis(lambda row: np.interp(at, np.arange(len(row)), row), axis, x)
    return x.astype(np.float32)


def picked(x, scales, rounding):
    for axis, scale in enumerate(scales):
        at = rounding(np.arange(int(np.floor(x.shape[axis] * scale))) / scale).astype(int)
        x = x.take(np.minimum(at, x.shape[axis] - 1), axis)
    return x


def sizes():
    x, scales = floats(1, 2, 3, 4), [1.0, 1.0, 2.0, 3.0]
    given = np.array(scales, np.float32)
    for mode, y in (("nearest", picked(x, scales, np.floor)), ("linear", asymmetric(x, scales))):
        old = "bilinear" if mode == "linear" else mode
        case(f"upsample_1_{mode}", "Upsample", 1, [x], [y], mode=old, height_scale=2.0, width_scale=3.0)
        case(f"upsample_7_{mode}", "Upsample", 7, [x], [y], mode=mode, scales=scales)
        case(f"upsample_9_{mode}", "Upsample", 9, [x, given], [y], mode=mode)
        case(f"resize_10_{mode}", "Resize", 10, [x, given], [y], mode=mode)
    x = floats(1, 1, 2, 4)
    given = np.array([1, 1, 0.6, 0.6], np.float32)
    less = given.astype(np.float64)
    case("resize_10_nearest_down", "Resize", 10, [x, given], [picked(x, less, np.ceil)], mode="nearest")
    case("resize_10_linear_down", "Resize", 10, [x, given], [asymmetric(x, less)], mode="linear")

    ways = {(1, "linear"): "linear", (2, "linear"): "bilinear", (3, "linear"): "trilinear", (2, "cubic"): "bicubic"}
    for (dims, mode), name in ways.items():
        for to, align in itertools.product(([7, 9, 5], [3, 2, 3]), (False, True)):
            x = floats(2, 2, *(5, 4, 3)[:dims])
            y = F.interpolate(torch.from_numpy(x), to[:dims], mode=name, align_corners=align)
            case(f"resize_{name}_{to[0]}_{align}".lower(), "Resize", 13, [x, None, None, np.array([2, 2, *to[:dims]])], [y],
                 mode=mode, coordinate_transformation_mode="align_corners" if align else "pytorch_half_pixel")
    for mode, name in (("linear", "bilinear"), ("cubic", "bicubic")):
        x = floats(1, 2, 11, 13)
        y = F.interpolate(torch.from_numpy(x), [4, 7], mode=name, antialias=True)
        case(f"resize_{mode}_antialias", "Resize", 18, [x, None, None, np.array([4, 7])], [y], mode=mode, antialias=1,
             exclude_outside=1, cubic_coeff_a=-0.5, axes=[-2, -1])
    x = floats(1, 2, 5, 6)
    for to in ([10, 18], [7, 4], [3, 11]):
        exact = F.interpolate(torch.from_numpy(x), to, mode="nearest-exact")
        case(f"resize_nearest_exact_{to[0]}", "Resize", 19, [x, None, None, np.array([1, 2, *to])], [exact],
             nearest_mode="round_prefer_ceil")
        floor = F.interpolate(torch.from_numpy(x), to, mode="nearest")
        case(f"resize_nearest_{to[0]}", "Resize", 13, [x, None, None, np.array([1, 2, *to])], [floor], nearest_mode="floor",
             coordinate_transformation_mode="asymmetric")
    x = random.integers(0, 256, (1, 1, 4, 4)).astype(np.uint8)
    y = F.interpolate(torch.from_numpy(x.astype(np.float64)), [7, 6], mode="bicubic", align_corners=False)
    case("resize_u8", "Resize", 13, [x, None, None, np.array([1, 1, 7, 6])],
         [np.clip(np.rint(array(y)), 0, 255).astype(np.uint8)], mode="cubic")


def grids():
    for outside, align in itertools.product(("zeros", "border", "reflection"), (0, 1)):
        x, grid = floats(2, 2, 6), random.uniform(-1.4, 1.4, (2, 5, 1)).astype(np.float32)
        flat = np.concatenate([grid, np.zeros_like(grid)], -1)[:, None]
        y = F.grid_sample(torch.from_numpy(x[:, :, None]), torch.from_numpy(flat), "bilinear", outside, bool(align))
        case(f"grid_sample_1d_{outside}_{align}", "GridSample", 20, [x, grid], [y[:, :, 0]], padding_mode=outside,
             align_corners=align)
    x, grid = floats(1, 2, 4, 5), random.uniform(-1.2, 1.2, (1, 3, 3, 2)).astype(np.float32)
    y = F.grid_sample(torch.from_numpy(x), torch.from_numpy(grid), "bicubic", "border", False)
    case("grid_sample_16", "GridSample", 16, [x, grid], [y], mode="bicubic", padding_mode="border")


def main():
    for group in (convolutions, products, pools, regions, normalisation, recurrence, sizes, grids):
        group()
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        for name, files in sorted(cases.items()):
            for path, data in files.items():
                out.writestr(zipfile.ZipInfo(f"{name}/{path}", (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    (FOLDER / "net_tests.zip").write_bytes(archive.getvalue())
    print(len(cases), "cases,", len(archive.getvalue()), "bytes")


if __name__ == "__main__":
    main()
