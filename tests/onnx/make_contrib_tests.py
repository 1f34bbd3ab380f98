#!/usr/bin/env python3
"""Writes contrib_tests.zip: what onnxruntime computes of small models of ai.onnx.ml and com.microsoft.

Each case is a folder in the layout of the standard's node tests. What onnxruntime has no kernel for on CPUs comes from
numpy here. Needs numpy, onnx and onnxruntime. Usage: make_contrib_tests.py [NAME...] (only cases whose names begin so
are computed, and printed instead of written)
"""

import itertools
import math
import pathlib
import sys
import zipfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

OPSETS = {"": 21, "ai.onnx.ml": 4, "com.microsoft": 1}
cases = {}


def elements(array):
    return TensorProto.STRING if array.dtype.kind in "OUS" else helper.np_dtype_to_tensor_dtype(array.dtype)


def case(name, op, inputs, outputs=1, domain="com.microsoft", fixed=(), expected=None, wanted=None, **attributes):
    """One node; `fixed` inputs are initialisers; `expected` arrays stand for what onnxruntime would say."""
    cases[name] = (op, inputs, outputs, domain, fixed, expected, wanted, attributes)


def learning(name, op, inputs, outputs=1, **attributes):
    case(name, op, inputs, outputs, "ai.onnx.ml", **attributes)


def random(*shape, seed=0, scale=1.0, dtype=np.float32):
    return (np.random.default_rng((seed, *shape)).standard_normal(shape) * scale).astype(dtype)


def ints(low, high, *shape, seed=0, dtype=np.int64):
    return np.random.default_rng((seed, high, *shape)).integers(low, high, shape).astype(dtype)


def model_of(op, inputs, outputs, domain, fixed, wanted, attributes):
    names = ["" if each is None else f"x{i}" for i, each in enumerate(inputs)]
    seen = range(outputs) if wanted is None else wanted
    results = [f"y{i}" if i == 0 or i in seen else "" for i in range(outputs)]
    node = helper.make_node(op, names, results, domain=domain, **attributes)
    given = [(i, each) for i, each in enumerate(inputs) if each is not None]
    graph = helper.make_graph(
        [node],
        op,
        [helper.make_tensor_value_info(names[i], elements(x), x.shape) for i, x in given if i not in fixed],
        [onnx.ValueInfoProto(name=results[i]) for i in seen],
        [numpy_helper.from_array(x, names[i]) for i, x in given if i in fixed],
    )
    opsets = [helper.make_opsetid(each, OPSETS[each]) for each in dict.fromkeys(("", domain))]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="")


def computed(model, feeds):
    onnxruntime.set_default_logger_severity(4)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return [each.name for each in session.get_outputs()], session.run(None, feeds)


def files_of(name):
    op, inputs, outputs, domain, fixed, expected, wanted, attributes = cases[name]
    model = model_of(op, inputs, outputs, domain, fixed, wanted, attributes)
    feeds = {f"x{i}": x for i, x in enumerate(inputs) if x is not None and i not in fixed}
    values = expected if expected is not None else computed(model, feeds)[1]
    for info, value in zip(model.graph.output, values):
        kind = helper.make_tensor_type_proto(elements(np.asarray(value)), np.asarray(value).shape)
        info.CopyFrom(helper.make_value_info(info.name, kind))
    yield f"{name}/model.onnx", model.SerializeToString()
    for kind, arrays, names in (
        ("input", feeds.values(), feeds),
        ("output", values, [each.name for each in model.graph.output]),
    ):
        for i, (array, label) in enumerate(zip(arrays, names)):
            array = np.asarray(array)
            if array.dtype.kind in "US":
                array = array.astype(object)
            proto = numpy_helper.from_array(array, label)
            yield f"{name}/test_data_set_0/{kind}_{i}.pb", proto.SerializeToString()


# --- ai.onnx.ml -------------------------------------------------------------------------------------------

rows = random(5, 3, seed=1)
transforms = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO")
shares = np.array([[0.4, 0.1], [0.1, 0.2], [0.7, 0.05]], np.float32)
weights = [0.3, -0.5, 0.2, 0.1, 0.7, -0.4, 0.25, 0.6, -0.1]

learning("imputer_nan", "Imputer", [np.array([[1, np.nan], [np.nan, 4]], np.float32)],
         imputed_value_floats=[7.0, 8.0], replaced_value_float=float("nan"))
learning("imputer_int", "Imputer", [np.array([[1, -1], [-1, 4]], np.int64)],
         imputed_value_int64s=[9], replaced_value_int64=-1)
learning("scaler", "Scaler", [rows], offset=[0.5, 1.0, -0.25], scale=[2.0, 3.0, 0.5])
learning("feature_vectorizer", "FeatureVectorizer", [rows, rows[:, :2]], inputdimensions=[3, 2])
learning("binarizer", "Binarizer", [rows], threshold=0.25)
for norm in ("MAX", "L1", "L2"):
    learning(f"normalizer_{norm.lower()}", "Normalizer", [np.abs(rows)], norm=norm)
learning("one_hot_ints", "OneHotEncoder", [np.array([1, 3, 9], np.int64)], cats_int64s=[1, 2, 3], zeros=1)
learning("one_hot_strings", "OneHotEncoder", [np.array([["b"], ["x"]], object)], cats_strings=["a", "b"], zeros=1)
learning("category_mapper_ints", "CategoryMapper", [np.array(["b", "z"], object)],
         cats_strings=["a", "b"], cats_int64s=[4, 7], default_int64=-3)
learning("category_mapper_strings", "CategoryMapper", [np.array([7, 8], np.int64)],
         cats_strings=["a", "b"], cats_int64s=[4, 7], default_string="none")
learning("label_encoder_floats", "LabelEncoder", [np.array([1.5, np.nan, 3], np.float32)],
         keys_floats=[1.5, float("nan")], values_floats=[0.25, 0.5], default_float=-1.0)
learning("array_feature_extractor_strings", "ArrayFeatureExtractor",
         [np.array([["a", "b", "c"], ["d", "e", "f"]], object), np.array([2, 0], np.int64)])
for how in transforms:
    learning(f"linear_regressor_{how.lower()}", "LinearRegressor", [rows], targets=2, coefficients=weights[:6],
             intercepts=[0.5, -0.5], post_transform=how)
    learning(f"linear_classifier_{how.lower()}", "LinearClassifier", [rows], 2, coefficients=weights,
             intercepts=[0.1, 0.2, 0.3], classlabels_ints=[4, 5, 6], post_transform=how)
    learning(f"linear_classifier_two_{how.lower()}", "LinearClassifier", [rows], 2, coefficients=weights[:3],
             intercepts=[0.1], classlabels_strings=["no", "yes"], post_transform=how)
learning("linear_classifier_probit", "LinearClassifier", [shares], 2, coefficients=[0.5, 0.2, 0.3, 0.4],
         intercepts=[0.1, 0.2], classlabels_ints=[4, 5], post_transform="PROBIT")

vectors = random(6, 3, seed=2)
for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID"):
    learning(f"svm_regressor_{kernel.lower()}", "SVMRegressor", [rows], n_supports=6, rho=[0.3],
             coefficients=random(6, seed=3).tolist(), support_vectors=vectors.ravel().tolist(),
             kernel_type=kernel, kernel_params=[0.4, 0.2, 3.0])
learning("svm_regressor_one_class", "SVMRegressor", [rows], n_supports=6, rho=[0.1], one_class=1,
         coefficients=random(6, seed=3).tolist(), support_vectors=vectors.ravel().tolist(),
         kernel_type="RBF", kernel_params=[0.4, 0.0, 0.0])
three = dict(vectors_per_class=[2, 3, 1], support_vectors=vectors.ravel().tolist(), kernel_type="RBF",
             coefficients=random(12, seed=4).tolist(), kernel_params=[0.4, 0.0, 0.0], rho=[0.1, -0.2, 0.3])
two = dict(vectors_per_class=[2, 4], support_vectors=vectors.ravel().tolist(), kernel_type="RBF",
           coefficients=random(6, seed=5).tolist(), kernel_params=[0.4, 0.0, 0.0], rho=[0.1])
learning("svm_classifier_three", "SVMClassifier", [rows], 2, classlabels_ints=[3, 1, 2], **three)
learning("svm_classifier_three_probabilities", "SVMClassifier", [rows], 2, classlabels_strings=["a", "b", "c"],
         prob_a=[-1.0, -1.5, -0.5], prob_b=[0.1, 0.2, -0.1], **three)
learning("svm_classifier_two", "SVMClassifier", [rows], 2, classlabels_ints=[8, 9], **two)
learning("svm_classifier_two_probabilities", "SVMClassifier", [rows], 2, classlabels_ints=[8, 9],
         prob_a=[-1.0], prob_b=[0.2], **two)
learning("svm_classifier_linear", "SVMClassifier", [rows], 2, classlabels_ints=[0, 1, 2], coefficients=weights,
         kernel_type="LINEAR", kernel_params=[0.0, 0.0, 0.0], rho=[0.5])


def tree(features, values, modes, yes, no, number=0):
    count = len(modes)
    return dict(nodes_treeids=[number] * count, nodes_nodeids=list(range(count)), nodes_featureids=features,
                nodes_values=values, nodes_modes=modes, nodes_truenodeids=yes, nodes_falsenodeids=no)


LEAF, branches = "LEAF", ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")


def forest(mode, missing=False):
    """Two trees of five and three nodes, with leaves 1, 3, 4 and 1, 2."""
    one = tree([0, 0, 1, 0, 0], [0.1, 0, -0.2, 0, 0], [mode, LEAF, mode, LEAF, LEAF], [1, 0, 3, 0, 0], [2, 0, 4, 0, 0])
    other = tree([2, 0, 0], [0.0, 0, 0], [mode, LEAF, LEAF], [1, 0, 0], [2, 0, 0], 1)
    both = {key: one[key] + other[key] for key in one}
    if missing:
        both["nodes_missing_value_tracks_true"] = [1, 0, 0, 0, 0, 1, 0, 0]
    return both


leaves = [(0, 1), (0, 3), (0, 4), (1, 1), (1, 2)]


def votes(prefix, targets, numbers):
    pairs = list(itertools.product(leaves, targets))
    return {f"{prefix}_treeids": [leaf[0] for leaf, _ in pairs], f"{prefix}_nodeids": [leaf[1] for leaf, _ in pairs],
            f"{prefix}_ids": [target for _, target in pairs], f"{prefix}_weights": list(numbers)[: len(pairs)]}


holes = rows.copy()
holes[1, 0] = holes[3, 2] = np.nan
mixed = random(15, seed=6).tolist()
positive = [0.1, 0.9, 0.6, 0.4, 0.7, 0.3, 0.35, 0.65, 0.2, 0.8, 0.5, 0.15, 0.45, 0.55, 0.25]
for mode in branches:
    x = np.where(rows > 0.5, np.float32(0.1), rows)
    learning(f"tree_regressor_{mode[7:].lower()}", "TreeEnsembleRegressor", [x], n_targets=2,
             **forest(mode), **votes("target", [0, 1], mixed))
for sum_of in ("AVERAGE", "MIN", "MAX"):
    learning(f"tree_regressor_{sum_of.lower()}", "TreeEnsembleRegressor", [rows], n_targets=2, base_values=[0.5, 1.0],
             aggregate_function=sum_of, **forest("BRANCH_LEQ"), **votes("target", [0, 1], mixed))
learning("tree_regressor_missing", "TreeEnsembleRegressor", [holes], n_targets=1,
         **forest("BRANCH_LEQ", True), **votes("target", [0], mixed))
for how in transforms:
    learning(f"tree_classifier_{how.lower()}", "TreeEnsembleClassifier", [rows], 2, post_transform=how,
             classlabels_strings=["a", "b", "c"], base_values=[0.1, 0.2, 0.3],
             **forest("BRANCH_LEQ"), **votes("class", [0, 1, 2], mixed))
    learning(f"tree_classifier_one_{how.lower()}", "TreeEnsembleClassifier", [rows], 2, post_transform=how,
             classlabels_int64s=[5, 7], **forest("BRANCH_LEQ"), **votes("class", [0], mixed))
    # onnxruntime says 0 and 1 then, whatever the labels are.
    learning(f"tree_classifier_two_{how.lower()}", "TreeEnsembleClassifier", [rows], 2, wanted=(1,), post_transform=how,
             classlabels_int64s=[5, 7], **forest("BRANCH_LEQ"), **votes("class", [0, 1], positive))
    learning(f"tree_classifier_second_{how.lower()}", "TreeEnsembleClassifier", [rows], 2, post_transform=how,
             classlabels_int64s=[5, 7], **forest("BRANCH_LEQ"), **votes("class", [1], mixed))
    learning(f"tree_classifier_positive_{how.lower()}", "TreeEnsembleClassifier", [rows], 2, post_transform=how,
             classlabels_int64s=[5, 7], **forest("BRANCH_LEQ"), **votes("class", [0], positive))
learning("tree_classifier_base", "TreeEnsembleClassifier", [rows], 2, classlabels_int64s=[5, 7], base_values=[0.2],
         **forest("BRANCH_LEQ"), **votes("class", [0], mixed))

# --- com.microsoft: fused ---------------------------------------------------------------------------------

x, wide = random(2, 3, 8, seed=7), random(8, seed=8)
case("gelu", "Gelu", [x])
case("fast_gelu", "FastGelu", [x, wide])
case("bias_gelu", "BiasGelu", [x, wide])
case("quick_gelu", "QuickGelu", [x], alpha=1.3)
case("skip_layer_norm", "SkipLayerNormalization", [x, x[::-1], wide, wide[::-1], wide], 4, wanted=(0, 3), epsilon=1e-5)
case("skip_layer_norm_broadcast", "SkipLayerNormalization", [x, x[:1], wide], epsilon=1e-5)
case("skip_simplified_layer_norm", "SkipSimplifiedLayerNormalization", [x, x[::-1], wide, wide], 4, wanted=(0, 3),
     epsilon=1e-5)
case("simplified_layer_norm", "SimplifiedLayerNormalization", [x, wide], domain="", axis=-1, epsilon=1e-5)
case("embed_layer_norm", "EmbedLayerNormalization",
     [ints(0, 9, 2, 4, dtype=np.int32), ints(0, 2, 2, 4, dtype=np.int32), random(9, 8), random(6, 8), random(2, 8),
      wide, wide, np.array([[1, 1, 1, 0], [1, 1, 0, 0]], np.int32)], 2, epsilon=1e-5)
case("fused_matmul", "FusedMatMul", [random(2, 5, 3), random(2, 4, 5)], transA=1, transB=1, alpha=0.5)
case("fused_matmul_batch", "FusedMatMul", [random(5, 2, 3), random(2, 3, 4)], transBatchA=1, alpha=2.0)
for activation, alpha in (("Relu", 0.0), ("LeakyRelu", 0.2), ("Tanh", 0.0)):
    case(f"fused_gemm_{activation.lower()}", "FusedGemm", [random(3, 4), random(5, 4), random(5)], transB=1, alpha=0.5,
         beta=2.0, activation=activation, activation_alpha=alpha)
    case(f"fused_conv_{activation.lower()}", "FusedConv", [random(1, 4, 6, 6), random(6, 2, 3, 3), random(6)], group=2,
         pads=[1, 1, 1, 1], strides=[2, 1], activation=activation, activation_params=[alpha])
case("fused_conv_clip_sum", "FusedConv", [random(1, 4, 6, 6), random(4, 4, 3, 3), random(4), random(1, 4, 6, 6, seed=1)],
     auto_pad="SAME_UPPER", activation="Clip", activation_params=[-0.5, 1.5])
case("fused_conv_hard_sigmoid", "FusedConv", [random(1, 2, 5, 5), random(2, 2, 3, 3)], dilations=[2, 2],
     activation="HardSigmoid", activation_params=[0.2, 0.5])
case("conv_transpose_with_dynamic_pads", "ConvTransposeWithDynamicPads",
     [random(1, 2, 4, 4), random(2, 3, 3, 3), np.array([1, 0, 0, 1], np.int64)], strides=[2, 2])
case("crop_and_resize", "CropAndResize",
     [random(2, 3, 5, 6), np.array([[0, 0, 1, 1], [0.2, 0.1, 0.9, 0.6], [-0.2, 0.5, 0.6, 1.2]], np.float32),
      np.array([1, 0, 1], np.int32), np.array([3, 4], np.int32)], extrapolation_value=0.5)
case("crop_and_resize_nearest", "CropAndResize",
     [random(2, 3, 5, 6), np.array([[0, 0, 1, 1], [0.2, 0.1, 0.9, 0.6]], np.float32),
      np.array([1, 0], np.int32), np.array([3, 1], np.int32)], mode="nearest")
case("expand_dims", "ExpandDims", [x, np.array(-2, np.int32)])
case("gather_nd", "GatherND", [x, np.array([[0, 1], [1, 2]], np.int64)])
case("pad", "Pad", [x, np.array([0, 1, 2, 1, 0, 1], np.int64), np.array([0.5], np.float32)])
case("range", "Range", [np.array(2, np.int64), np.array(11, np.int64), np.array(3, np.int64)])
case("unique", "Unique", [np.array([3, 1, 3, 2, 1, 5], np.float32)], 3)
case("trilu", "Trilu", [random(4, 5), np.array(1, np.int64)], upper=0)
case("cdist", "CDist", [random(3, 4), random(5, 4)], metric="euclidean")
for dtype in (np.int32, np.int64, np.float32, np.float64):
    case(f"murmur_hash_{np.dtype(dtype).name}", "MurmurHash3", [ints(0, 1000, 5).astype(dtype)], seed=7)
case("murmur_hash_signed", "MurmurHash3", [np.array(["a", "weft", "tensor"], object)], positive=0)

gate, up = random(2, 3, 8, seed=21), random(2, 3, 8, seed=22)
sigmoid = lambda x: 1 / (1 + np.exp(-x))  # noqa: E731
gelu = lambda x: (x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2).astype(np.float32)  # noqa: E731
case("scaled_silu", "ScaledSiLU", [x], alpha=0.5)
case("transpose_matmul", "TransposeMatMul", [random(5, 3), random(5, 4)], transA=1, alpha=0.5)
case("sample_op", "SampleOp", [x])
case("inverse", "Inverse", [random(2, 4, 4, seed=23)])
for mode in ("bilinear", "nearest", "bicubic"):
    for outside in ("zeros", "border", "reflection"):
        case(f"grid_sample_{mode}_{outside}", "GridSample", [random(1, 2, 4, 5), random(1, 3, 3, 2)], mode=mode,
             padding_mode=outside, align_corners=int(mode == "bilinear"))
case("unfold_tensor", "UnfoldTensor", [x], dim=-1, size=3, step=2)
# Those that onnxruntime has no kernel for on CPUs.
case("swiglu", "SwiGLU", [gate, up], activation_alpha=1.7, activation_beta=1.0, limit=1.5,
     expected=[np.minimum(gate, 1.5) * sigmoid(1.7 * np.minimum(gate, 1.5)) * (np.clip(up, -1.5, 1.5) + 1)])
case("swiglu_halves", "SwiGLU", [gate],
     expected=[gate[..., :4] * sigmoid(gate[..., :4]) * gate[..., 4:]])
case("bias_add", "BiasAdd", [gate, wide, up], expected=[gate + wide + up])
case("bias_dropout", "BiasDropout", [gate, wide, up], expected=[gate + wide + up])
case("bias_split_gelu", "BiasSplitGelu", [gate, wide],
     expected=[(gate + wide)[..., :4] * gelu((gate + wide)[..., 4:])])
case("bias_softmax", "BiasSoftmax", [gate, up[:1]], axis=2, is_inner_broadcast=0,
     expected=[np.exp(gate + up[:1]) / np.exp(gate + up[:1]).sum(-1, keepdims=True)])
case("gemm_fast_gelu", "GemmFastGelu", [gate, random(8, 4, scale=0.2), random(4)],
     expected=[(lambda y: y * (1 + np.tanh(np.float32(np.sqrt(2 / np.pi)) * (y + 0.044715 * y**3))) / 2)(
         gate @ random(8, 4, scale=0.2) + random(4))])
case("fused_matmul_activation", "FusedMatMulActivation", [gate, random(8, 4)], activation="LeakyRelu",
     activation_alpha=0.2, alpha=0.5, expected=[(lambda y: np.where(y > 0, y, np.float32(0.2) * y))(
         np.float32(0.5) * (gate @ random(8, 4)))])
case("is_all_finite", "IsAllFinite", [gate, np.array([1, np.inf], np.float32)], expected=[np.array(False)])
case("is_nothing_nan", "IsAllFinite", [gate, np.array([1, np.inf], np.float32)], isnan_only=1,
     expected=[np.array(True)])
pairs = [random(3, 2, seed=24), random(3, 2, seed=25)]
numbers = [each[:, 0] + 1j * each[:, 1] for each in pairs]
for name, product in (("", numbers[0] * numbers[1]), ("_conj", numbers[0] * numbers[1].conj())):
    case(f"complex_mul{name}", f"ComplexMul{name[1:].title()}", pairs,
         expected=[np.stack([product.real, product.imag], -1).astype(np.float32)])
spectrum = np.fft.rfft(gate)
case("rfft", "Rfft", [gate], signal_ndim=1, normalized=0, onesided=1,
     expected=[np.stack([spectrum.real, spectrum.imag], -1).astype(np.float32)])
case("irfft", "Irfft", [random(2, 5, 2)], signal_ndim=1, normalized=0, onesided=1,
     expected=[np.fft.irfft(random(2, 5, 2)[..., 0] + 1j * random(2, 5, 2)[..., 1]).astype(np.float32)])


def group_normalized(x, groups, gamma, beta):
    """Of images whose channels come last."""
    parts = x.reshape(x.shape[0], -1, groups, x.shape[-1] // groups)
    centred = parts - parts.mean((1, 3), keepdims=True)
    normal = centred / np.sqrt((centred**2).mean((1, 3), keepdims=True) + 1e-5)
    return (normal.reshape(x.shape) * gamma + beta).astype(np.float32)


image, skip = random(2, 3, 4, 8), random(2, 8)
filters = [random(6, 4, 3, 3), random(6)]
feeds = {"x0": image.transpose(0, 3, 1, 2), "x1": filters[0], "x2": filters[1]}
windows = dict(group=2, pads=[1, 0, 1, 2], strides=[1, 2])
found = computed(model_of("Conv", list(feeds.values()), 1, "", (), None, windows), feeds)[1][0].transpose(0, 2, 3, 1)
case("nhwc_conv", "NhwcConv", [image, *filters], expected=[found], **windows)
case("nhwc_fused_conv", "NhwcFusedConv", [image, *filters, found[:, ::-1]], activation="Relu",
     expected=[np.maximum(found + found[:, ::-1], 0)], **windows)
normal = group_normalized(image, 2, wide, wide[::-1])
case("group_norm", "GroupNorm", [image, wide, wide[::-1]], groups=2, activation=1, expected=[normal * sigmoid(normal)])
case("group_norm_first", "GroupNorm", [image.transpose(0, 3, 1, 2), wide, wide[::-1]], groups=2, activation=0,
     channels_last=0, expected=[normal.transpose(0, 3, 1, 2)])
case("skip_group_norm", "SkipGroupNorm", [image, wide, wide[::-1], skip, wide], 2, groups=4, activation=0,
     expected=[group_normalized(image + skip[:, None, None] + wide, 4, wide, wide[::-1]),
               image + skip[:, None, None] + wide])


def grouped_means(x, count):
    return (x.reshape(*x.shape[:-1], -1, count) ** 2).mean(-1, keepdims=True)


case("gated_rms_norm", "GatedRMSNorm", [gate, wide[:4], up], activation="silu", epsilon=1e-5,
     expected=[((gate.reshape(2, 3, 2, 4) / np.sqrt(grouped_means(gate, 4) + 1e-5) * wide[:4]).reshape(gate.shape)
                * up * sigmoid(up)).astype(np.float32)])
case("simplified_layer_norm_axis", "SimplifiedLayerNormalization", [gate, random(3, 8)], domain="", axis=1,
     epsilon=1e-5)
case("rms_norm", "RMSNorm", [gate, wide], domain="", eps=1e-5,
     expected=[gate / np.sqrt((gate**2).mean(-1, keepdims=True) + 1e-5) * wide])

tokens, router = random(2, 3, 8, seed=26), random(6, 4, seed=27)
for how in ("relu", "gelu", "silu", "identity"):
    case(f"moe_{how}", "MoE", [tokens, router, random(4, 6, 8), random(4, 6), random(4, 8, 6), random(4, 8)], k=2,
         activation_type=how)
case("moe_whole", "MoE", [tokens, router, random(4, 6, 8), None, random(4, 8, 6)], k=2, normalize_routing_weights=1)
case("moe_swiglu", "MoE", [tokens, router, random(4, 12, 8), random(4, 12), random(4, 8, 6), random(4, 8)], k=2,
     activation_type="swiglu", swiglu_fusion=1, activation_alpha=1.7, activation_beta=1.0, swiglu_limit=1.5)

# --- com.microsoft: attention -----------------------------------------------------------------------------

hidden, heads = 16, 4
sequence = random(2, 5, hidden, seed=9)
projection, bias = random(hidden, 3 * hidden, seed=10, scale=0.3), random(3 * hidden, seed=11)
lengths = np.array([5, 3], np.int32)
past = random(2, 2, heads, 3, hidden // heads, seed=12)
case("attention", "Attention", [sequence, projection, bias], num_heads=heads)
case("attention_lengths", "Attention", [sequence, projection, bias, lengths], num_heads=heads)
case("attention_mask", "Attention", [sequence, projection, bias, ints(0, 2, 2, 5, dtype=np.int32)], num_heads=heads)
case("attention_mask_3d", "Attention", [sequence, projection, bias, ints(0, 2, 2, 5, 5, dtype=np.int32)],
     num_heads=heads)
case("attention_causal_past", "Attention", [sequence, projection, bias, None, past], 2, num_heads=heads,
     unidirectional=1)
case("attention_bias", "Attention", [sequence, projection, bias, None, None, random(2, heads, 5, 5)], num_heads=heads,
     scale=0.3)
case("attention_sizes", "Attention", [sequence, random(hidden, 40, scale=0.3), random(40)], num_heads=heads,
     qkv_hidden_sizes=[16, 16, 8])


def attended(query, keys, values):
    """Of (batch, places, heads, width)."""
    scores = np.exp(np.einsum("bqhw,bkhw->bhqk", query, keys) / np.sqrt(query.shape[-1]))
    result = np.einsum("bhqk,bkhw->bqhw", scores / scores.sum(-1, keepdims=True), values)
    return result.reshape(*query.shape[:2], -1).astype(np.float32)


rows_of = np.concatenate([sequence[0, :2], sequence[1, :4]])
projected = (rows_of @ projection + bias).reshape(6, 3, heads, 4)
case("packed_attention", "PackedAttention",
     [rows_of, projection, bias, np.array([[0, 1, 2, 3], [4, 5, 6, 7]], np.int32), np.array([0, 2, 6], np.int32)],
     num_heads=heads, expected=[np.concatenate([
         attended(*(projected[None, part, i] for i in range(3)))[0] for part in (slice(0, 2), slice(2, 6))])])
key = random(2, 7, hidden, seed=13)
grown = [random(2, heads, 3, 4, seed=14), random(2, heads, 3, 4, seed=15)]
case("multi_head_attention", "MultiHeadAttention", [sequence, key, key[::-1], bias], num_heads=heads)
case("multi_head_attention_mask", "MultiHeadAttention",
     [sequence, key, key, None, ints(0, 2, 2, 7, dtype=np.int32), random(1, heads, 5, 7)], num_heads=heads)
case("multi_head_attention_past", "MultiHeadAttention", [sequence, sequence, sequence, None, None, None, *grown], 3,
     num_heads=heads, unidirectional=1)
packed, packed_keys = random(2, 5, heads, 3, 4), random(2, 7, heads, 2, 4)
case("multi_head_attention_packed", "MultiHeadAttention", [packed], num_heads=heads,
     expected=[attended(*(packed[:, :, :, i] for i in range(3)))])
case("multi_head_attention_packed_keys", "MultiHeadAttention", [sequence, packed_keys], num_heads=heads,
     expected=[attended(sequence.reshape(2, 5, heads, 4), packed_keys[:, :, :, 0], packed_keys[:, :, :, 1])])
case("multi_head_attention_heads", "MultiHeadAttention",
     [sequence, random(2, heads, 7, 4), random(2, heads, 7, 4, seed=1)], num_heads=heads)
buffers = [np.pad(each, ((0, 0), (0, 0), (0, 4), (0, 0))) for each in grown]
case("decoder_masked_attention", "DecoderMaskedMultiHeadAttention",
     [sequence[:, :1], sequence[:, 1:2], sequence[:, 2:3], None, None, *buffers, np.array([3], np.int32)], 3,
     num_heads=heads, past_present_share_buffer=1)

angles = np.arange(12)[:, None] / 10.0 ** np.arange(2)[None]
cosines, sines = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
for flag in (0, 1):
    case(f"rotary_embedding_{flag}", "RotaryEmbedding", [sequence, np.array([2], np.int64), cosines, sines],
         interleaved=flag)
case("rotary_embedding_heads", "RotaryEmbedding", [random(2, heads, 5, 4), ints(0, 12, 2, 5), cosines, sines])
case("rotary_embedding_part", "RotaryEmbedding", [random(2, 5, 24), ints(0, 12, 2, 5), cosines, sines],
     rotary_embedding_dim=4, num_heads=3)

long, small = random(2, 5, 64, seed=20), [random(2, 5, 32, seed=16), random(2, 5, 32, seed=17)]
caches = [random(2, 2, 6, 16, seed=18), random(2, 2, 6, 16, seed=19)]
angles = np.arange(12)[:, None] / 3.0 ** np.arange(8)[None]
cosines, sines = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
five = [np.array([4, 4], np.int32), np.array(5, np.int32)]
grouped = dict(num_heads=heads, kv_num_heads=2)
case("group_query_attention_first", "GroupQueryAttention", [long, *small, None, None, *five], 3, **grouped)
case("group_query_attention_rotary", "GroupQueryAttention",
     [long, *small, None, None, *five, cosines, sines], 3, do_rotary=1, **grouped)
case("group_query_attention_packed", "GroupQueryAttention",
     [random(2, 5, 128), None, None, None, None, *five, cosines, sines], 3, do_rotary=1, rotary_interleaved=1, **grouped)
case("group_query_attention_window", "GroupQueryAttention", [long, *small, None, None, *five], 3,
     local_window_size=2, **grouped)
case("group_query_attention_softcap", "GroupQueryAttention", [long, *small, None, None, *five], 3, softcap=2.0,
     scale=0.7, **grouped)
case("group_query_attention_smooth", "GroupQueryAttention", [long, *small, None, None, *five], 3, smooth_softmax=1,
     **grouped)
case("group_query_attention_next", "GroupQueryAttention",
     [long[:, :1], *(each[:, :1] for each in small), *caches, np.array([6, 6], np.int32), np.array(7, np.int32),
      cosines, sines], 3, do_rotary=1, **grouped)



def step_of_row(row, length):
    """As if it were alone, behind so many places."""
    arrays = [long[row:][:1, :1], *(each[row:][:1, :1] for each in small),
              *(each[row:][:1, :, :length] for each in caches), np.array([length], np.int32),
              np.array(length + 1, np.int32), cosines, sines]
    alone = model_of("GroupQueryAttention", arrays, 3, "com.microsoft", (), None, dict(do_rotary=1, **grouped))
    return computed(alone, {f"x{i}": each for i, each in enumerate(arrays)})[1][0]


case("group_query_attention_lengths", "GroupQueryAttention",
     [long[:, :1], *(each[:, :1] for each in small), *caches, np.array([4, 6], np.int32), np.array(7, np.int32),
      cosines, sines], expected=[np.concatenate([step_of_row(0, 4), step_of_row(1, 6)])], do_rotary=1, **grouped)
case("group_query_attention_several", "GroupQueryAttention",
     [long[:1], *(each[:1] for each in small), *(each[:1] for each in caches), np.array([10], np.int32),
      np.array(11, np.int32), cosines, sines], 3, do_rotary=1, **grouped)
case("group_query_attention_bias", "GroupQueryAttention",
     [long, *small, None, None, *five, None, None, None, random(2, heads, 5, 5)], 3, **grouped)
case("group_query_attention_sink", "GroupQueryAttention",
     [long, *small, None, None, *five, None, None, None, None, random(heads)], 3, **grouped)
case("multi_head_attention_lengths", "MultiHeadAttention",
     [sequence, key, key, None, np.array([7, 4], np.int32)], num_heads=heads)
case("multi_head_attention_mask_3d", "MultiHeadAttention",
     [sequence, key, key, None, ints(0, 2, 2, 5, 7, dtype=np.int32)], num_heads=heads)
case("attention_past_mask", "Attention",
     [sequence, projection, bias, ints(0, 2, 2, 8, dtype=np.int32), past], 2, num_heads=heads, mask_filter_value=-50.0)
case("attention_ends_and_begins", "Attention",
     [sequence, projection, bias, np.array([5, 3, 1, 0], np.int32)], num_heads=heads)
case("embed_layer_norm_positions", "EmbedLayerNormalization",
     [ints(0, 9, 2, 4, dtype=np.int32), None, random(9, 8), random(6, 8), None, wide, wide, None,
      ints(0, 6, 2, 4, dtype=np.int32)], 3, epsilon=1e-5)

# --- com.microsoft: quantised -----------------------------------------------------------------------------

scales = [np.array(each, np.float32) for each in (0.05, 0.07, 0.11)]


def quantised(*shape, seed=0, dtype=np.uint8):
    info = np.iinfo(dtype)
    return ints(info.min, info.max + 1, *shape, seed=seed, dtype=dtype)


def zero(value, dtype=np.uint8):
    return np.array(value, dtype)


for dtype, zeros in ((np.uint8, (120, 100, 130)), (np.int8, (3, -5, 10))):
    name = np.dtype(dtype).name
    z = [zero(each, dtype) for each in zeros]
    a, b = quantised(3, 4, dtype=dtype), quantised(3, 4, seed=1, dtype=dtype)
    pair = [a, scales[0], z[0], b, scales[1], z[1], scales[2], z[2]]
    one = [a, scales[0], z[0], scales[1], z[1]]
    image = quantised(1, 3, 6, 6, dtype=dtype)
    images = [image, scales[0], z[0], np.array(0.0713, np.float32), z[1]]  # no mean is between two steps
    case(f"qlinear_add_{name}", "QLinearAdd", pair)
    case(f"qlinear_mul_{name}", "QLinearMul", [*pair[:6], np.array(0.5, np.float32), z[2]])
    case(f"qlinear_leaky_relu_{name}", "QLinearLeakyRelu", one, alpha=0.2)
    case(f"qlinear_sigmoid_{name}", "QLinearSigmoid", [*one[:3], np.array(1 / 256, np.float32), zero(0 if dtype == np.uint8 else -128, dtype)], fixed=(1, 2, 3, 4))
    case(f"qlinear_concat_{name}", "QLinearConcat", [scales[2], z[2], *pair[:6]], axis=1, fixed=(0, 1, 3, 4, 6, 7))
    case(f"qlinear_average_pool_{name}", "QLinearAveragePool", images, kernel_shape=[3, 3], pads=[1, 1, 1, 1],
         strides=[2, 2])
    case(f"qlinear_global_average_pool_{name}", "QLinearGlobalAveragePool", images)
    case(f"qlinear_where_{name}", "QLinearWhere", [a > b, *pair], fixed=(2, 3, 5, 6, 7, 8))
    case(f"qlinear_softmax_{name}", "QLinearSoftmax",
         [*one[:3], np.array(1 / 256, np.float32), zero(0 if dtype == np.uint8 else -128, dtype)], axis=-1, opset=13,
         fixed=(1, 2, 3, 4))
    case(f"qgemm_{name}", "QGemm", [a, scales[0], z[0], quantised(5, 4, seed=2, dtype=dtype), scales[1], z[1],
                                   ints(-50, 50, 5, dtype=np.int32), scales[2], z[2]], transB=1, alpha=0.5,
         fixed=(3, 4, 5, 6, 7, 8))
    case(f"qgemm_float_{name}", "QGemm", [a, scales[0], z[0], quantised(4, 5, seed=2, dtype=dtype), scales[1], z[1]],
         fixed=(3, 4, 5))
    case(f"quantize_linear_{name}", "QuantizeLinear", [random(3, 4, scale=3), scales[0], z[0]])
    case(f"dequantize_linear_{name}", "DequantizeLinear", [a, scales[0], z[0]])
    case(f"matmul_integer_to_float_{name}", "MatMulIntegerToFloat",
         [quantised(3, 4), quantised(4, 5, seed=3, dtype=dtype), scales[0], random(5, seed=4) ** 2 + 0.01, zero(120),
          np.full(5, 3, dtype), random(5)])
    case(f"dynamic_quantize_matmul_{name}", "DynamicQuantizeMatMul",
         [random(3, 4), quantised(4, 5, seed=3, dtype=dtype), scales[1], z[1], random(5)])
case("quantize_linear_axis", "QuantizeLinear",
     [random(2, 3, 4, scale=3), np.array([0.1, 0.2, 0.3], np.float32), np.array([1, 2, 3], np.uint8)], axis=1)
case("quantize_linear_u16", "QuantizeLinear", [random(2, 3), np.array(0.001, np.float32), zero(30000, np.uint16)])
case("qlinear_conv_last", "QLinearConv",
     [quantised(1, 6, 6, 4), scales[0], zero(120), quantised(8, 4, 3, 3, dtype=np.int8), random(8) ** 2 / 50 + 0.001,
      np.zeros(8, np.int8), np.array(0.9, np.float32), zero(110), ints(-500, 500, 8, dtype=np.int32)],
     channels_last=1, pads=[1, 1, 1, 1], fixed=(1, 2, 3, 4, 5, 6, 7, 8))
case("qattention", "QAttention",
     [quantised(2, 5, hidden), quantised(hidden, 3 * hidden, dtype=np.int8), bias, np.array(0.01, np.float32),
      np.array(0.005, np.float32), lengths, zero(128), zero(0, np.int8)], num_heads=heads, fixed=(1, 3, 4, 6, 7))
case("nhwc_max_pool", "NhwcMaxPool", [quantised(1, 5, 6, 3)], kernel_shape=[2, 3], pads=[1, 0, 0, 1], strides=[2, 1])
case("mul_integer", "MulInteger", [quantised(3, 4), zero(120), quantised(4, dtype=np.int8), zero(-3, np.int8)],
     expected=[(quantised(3, 4).astype(np.int32) - 120) * (quantised(4, dtype=np.int8).astype(np.int32) + 3)])
means = (quantised(2, 3, 4).astype(np.float32) - 100).mean(1, keepdims=True) * (0.05 / 0.0713)
case("qlinear_reduce_mean", "QLinearReduceMean",
     [quantised(2, 3, 4), scales[0], zero(100), np.array(0.0713, np.float32), zero(120)], axes=[1], keepdims=1,
     expected=[np.clip(np.rint(means) + 120, 0, 255).astype(np.uint8)])
tables = [quantised(9, 8), quantised(6, 8), quantised(2, 8), quantised(8), quantised(8, seed=1)]
case("qembed_layer_norm", "QEmbedLayerNormalization",
     [ints(0, 9, 2, 4, dtype=np.int32), ints(0, 2, 2, 4, dtype=np.int32), *tables,
      np.array([[1, 1, 1, 0], [1, 1, 0, 0]], np.int32), *(np.array(0.01 * i, np.float32) for i in range(1, 6)),
      *(zero(each) for each in (128, 120, 100, 130, 90))], 2, epsilon=1e-5, fixed=range(2, 7))
case("matmul_integer_16", "MatMulInteger16", [ints(-300, 300, 3, 4, dtype=np.int16), ints(-300, 300, 4, 5, dtype=np.int16)],
     expected=[ints(-300, 300, 3, 4).astype(np.int32) @ ints(-300, 300, 4, 5).astype(np.int32)])

for bits, block in ((4, 32), (4, 16), (8, 32), (2, 16)):
    k, n = 48, 6
    blocks = (k + block - 1) // block
    packed = quantised(n, blocks, block * bits // 8, seed=bits)
    factors = (random(n, blocks, seed=bits) ** 2 / 10 + 0.01).astype(np.float32)
    a = random(3, k, seed=bits)
    about = dict(K=k, N=n, bits=bits, block_size=block)
    case(f"matmul_{bits}_bits_{block}", "MatMulNBits", [a, packed, factors], fixed=(1, 2), **about)
    case(f"matmul_{bits}_bits_{block}_zeros", "MatMulNBits",
         [a, packed, factors, quantised(n, (blocks * bits + 7) // 8, seed=9)], fixed=(1, 2, 3), **about)
case("matmul_4_bits_float_zeros", "MatMulNBits",
     [random(3, 64), quantised(6, 2, 16), random(6, 2) ** 2, random(6, 2, seed=1) + 8], fixed=(1, 2, 3), K=64, N=6,
     bits=4, block_size=32)
case("matmul_4_bits_order", "MatMulNBits",
     [random(3, 64), quantised(6, 2, 16), random(6, 2) ** 2, None, ints(0, 2, 64, dtype=np.int32), random(6)],
     fixed=(1, 2, 4, 5), K=64, N=6, bits=4, block_size=32)
for kind in (0, 1):
    case(f"matmul_bnb4_{kind}", "MatMulBnb4", [random(3, 32), quantised(6 * 16), random(12) ** 2 + 0.1], fixed=(1, 2),
         K=32, N=6, block_size=16, quant_type=kind)
case("gather_block_quantized", "GatherBlockQuantized",
     [quantised(7, 16), np.array([[1, 6], [0, 3]], np.int64), random(7, 2) ** 2 + 0.1], bits=4, block_size=16,
     gather_axis=0, quantize_axis=1, fixed=(0, 2))
# One row: onnxruntime quantises the states of several by themselves or together, as it has threads.
for direction in ("forward", "reverse", "bidirectional"):
    count = 2 if direction == "bidirectional" else 1
    case(f"dynamic_quantize_lstm_{direction}", "DynamicQuantizeLSTM",
         [random(4, 1, 3), quantised(count, 3, 20, dtype=np.int8), quantised(count, 5, 20, dtype=np.int8, seed=1),
          random(count, 40), None, random(count, 1, 5), random(count, 1, 5, seed=1), None,
          np.full(count, 0.004, np.float32), np.zeros(count, np.int8), np.full(count, 0.003, np.float32),
          np.zeros(count, np.int8)], 3, hidden_size=5, direction=direction, fixed=(1, 2, 8, 9, 10, 11))


def main(prefixes):
    target = pathlib.Path(__file__).with_name("contrib_tests.zip")
    chosen = sorted(name for name in cases if not prefixes or name.startswith(tuple(prefixes)))
    files, failed = [], 0
    for name in chosen:
        try:
            files += list(files_of(name))
        except Exception as error:  # every case that fails is reported
            failed += 1
            print(f"{name}: {str(error)[:200]}")
    print(f"{len(chosen)} cases, {failed} of them failed")
    if prefixes or failed:
        return 1 if failed else 0
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, content in files:
            archive.writestr(zipfile.ZipInfo(path), content, zipfile.ZIP_DEFLATED)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
