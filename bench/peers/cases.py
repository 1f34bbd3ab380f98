"""What is measured: the cases of each suite, as plain data that goes to every peer.

A case has a name, an op, the shapes of its inputs as they lie in memory and the op's arguments.
`flops` and `bytes` are what it has to do at least; `passes` are the passes over memory that it
cannot do without, by the names that roof.cpp knows, over `elements` each.
"""
import math

from layers import NETWORKS
from machine import ROOT

SQUARE = [256, 512, 1024, 1536, 2048, 4096]

# Name, batch, rows, depth, columns, and whether a and b lie transposed.
AWKWARD = [
    ("tall", 1, 8192, 64, 64, 0, 0),
    ("wide", 1, 64, 64, 8192, 0, 0),
    ("shallow", 1, 4096, 32, 4096, 0, 0),
    ("deep", 1, 32, 4096, 32, 0, 0),
    ("deeper", 1, 16, 8192, 16, 0, 0),
    ("vector x matrix", 1, 1, 4096, 4096, 0, 0),
    ("vector x transposed", 1, 1, 768, 50257, 0, 1),
    ("matrix x vector", 1, 4096, 4096, 1, 0, 0),
    ("transposed x vector", 1, 4096, 4096, 1, 1, 0),
    ("dot", 1, 1, 4096, 1, 0, 0),
    ("outer", 1, 4096, 1, 4096, 0, 0),
    ("few rows", 1, 8, 4096, 4096, 0, 0),
    ("few columns", 1, 2048, 2048, 7, 0, 0),
    ("prime", 1, 509, 509, 509, 0, 0),
    ("prime", 1, 1021, 1021, 1021, 0, 0),
    ("primes", 1, 997, 1009, 1013, 0, 0),
    ("primes", 1, 127, 131, 137, 0, 0),
    ("primes", 1, 2039, 61, 2029, 0, 0),
    ("primes", 1, 7, 13, 17, 0, 0),
    ("just above", 1, 33, 65, 129, 0, 0),
    ("a transposed", 1, 1024, 1024, 1024, 1, 0),
    ("b transposed", 1, 1024, 1024, 1024, 0, 1),
    ("both transposed", 1, 1024, 1024, 1024, 1, 1),
    ("b transposed", 1, 256, 768, 3072, 0, 1),
    ("odd, b transposed", 1, 513, 511, 1023, 0, 1),
    ("batch", 64, 64, 64, 64, 0, 0),
    ("batch", 8, 512, 512, 512, 0, 0),
    ("attention scores", 96, 256, 64, 256, 0, 1),
    ("attention, odd", 12, 197, 64, 197, 0, 1),
    ("one query", 32, 1, 128, 1024, 0, 1),
]


def matmul_case(label, batch, rows, depth, columns, a_transposed, b_transposed, movement=False):
    def lies(first, second, transposed):
        matrix = [second, first] if transposed else [first, second]
        return matrix if batch == 1 else [batch, *matrix]

    sizes = f"{rows}x{depth}x{columns}" if batch == 1 else f"{batch}x{rows}x{depth}x{columns}"
    return {"name": f"{label} {sizes}", "op": "matmul",
            "inputs": [lies(rows, depth, a_transposed), lies(depth, columns, b_transposed)],
            "transposed": [bool(a_transposed), bool(b_transposed)], "movement": movement,
            "flops": 2 * batch * rows * depth * columns}


def matmul_cases(_machine, _threads):
    return [matmul_case("square", 1, n, n, n, 0, 0, movement=True) for n in SQUARE] + \
           [matmul_case(*shape) for shape in AWKWARD]


def conv_case(network, batch, row, transposed):
    size, channels, out, kernel, stride, groups, times = row
    weight = [channels, out, kernel, kernel] if transposed else \
        [out, channels // groups, kernel, kernel]
    padding = 0 if transposed else (kernel - 1) // 2
    places = size * size if transposed else ((size + 2 * padding - kernel) // stride + 1) ** 2
    kind = "up" if transposed else "depthwise" if groups > 1 else "conv"
    return {"name": f"{network} b{batch} {size} {kind} {channels}>{out} k{kernel} s{stride}",
            "op": "conv_transpose" if transposed else "conv", "network": network,
            "inputs": [[batch, channels, size, size], weight],
            "stride": stride, "padding": padding, "groups": groups, "times": times,
            "flops": 2 * batch * places * math.prod(weight)}


def conv_cases(_machine, _threads):
    return [conv_case(network, batch, row, transposed)
            for network, tables in NETWORKS.items() for batch in (1, 8)
            for transposed, rows in enumerate(tables) for row in rows]


def memory_case(name, op, shape, passes, inputs=1, **arguments):
    elements = math.prod(shape)
    moved = {"read": 1, "scale": 2, "add": 3, "fma": 4}
    return {"name": f"{name} {'x'.join(map(str, shape))}", "op": op, "inputs": [shape] * inputs,
            "elements": elements, "passes": passes, **arguments,
            "bytes": 4 * elements * sum(moved[one] for one in passes)}


def memory_cases(machine, threads):
    """Four times the last-level cache a tensor, if memory allows ten workers four of them."""
    elements = min(machine["llc_bytes"], machine["memory_bytes"] // 160) // 2**20 * 2**20
    rows = [elements // 4096, 4096]
    blocks = [elements // 2**20, 1024, 1024]
    line = [1, elements]
    # Among several threads, each sums its part before it can add what comes before.
    scan = ["scale"] if threads == 1 else ["read", "scale"]
    return [
        memory_case("add", "add", rows, ["add"], 2),
        memory_case("mul-add", "muladd", rows, ["fma"], 3),
        memory_case("gelu", "gelu", rows, ["scale"]),
        memory_case("softmax, rows", "softmax", rows, ["scale"], axis=-1),
        memory_case("softmax, columns", "softmax", rows, ["read", "scale"], axis=0),
        memory_case("softmax, all", "softmax", line, ["read", "scale"], axis=-1),
        memory_case("layernorm, rows", "layernorm", rows, ["scale"], axes=[-1]),
        memory_case("layernorm, all", "layernorm", rows, ["read", "scale"], axes=[0, 1]),
        memory_case("sum, last", "sum", blocks, ["read"], axes=[2]),
        memory_case("sum, middle", "sum", blocks, ["read"], axes=[1]),
        memory_case("sum, first", "sum", blocks, ["read"], axes=[0]),
        memory_case("sum, first and last", "sum", blocks, ["read"], axes=[0, 2]),
        memory_case("sum, all", "sum", blocks, ["read"], axes=[0, 1, 2]),
        memory_case("max, last", "max", rows, ["read"], axes=[1]),
        memory_case("max, first", "max", rows, ["read"], axes=[0]),
        memory_case("transpose", "permute", rows, ["scale"], axes=[1, 0]),
        memory_case("transpose, last two", "permute", blocks, ["scale"], axes=[0, 2, 1]),
        memory_case("transpose, first two", "permute", blocks, ["scale"], axes=[1, 0, 2]),
        memory_case("cumsum, rows", "cumsum", rows, ["scale"], axis=1),
        memory_case("cumsum, columns", "cumsum", rows, ["scale"], axis=0),
        memory_case("cumsum, all", "cumsum", line, scan, axis=1),
    ]


def launch_cases(_machine, _threads):
    """Tensors of 64 kB."""
    rows = [64, 256]
    return [
        memory_case("add", "add", rows, ["add"], 2),
        memory_case("mul-add", "muladd", rows, ["fma"], 3),
        memory_case("gelu", "gelu", rows, ["scale"]),
        memory_case("softmax", "softmax", rows, ["scale"], axis=-1),
        memory_case("layernorm", "layernorm", rows, ["scale"], axes=[-1]),
        memory_case("sum, last", "sum", rows, ["read"], axes=[1]),
        memory_case("sum, first", "sum", rows, ["read"], axes=[0]),
        memory_case("sum, all", "sum", rows, ["read"], axes=[0, 1]),
        memory_case("transpose", "permute", rows, ["scale"], axes=[1, 0]),
        memory_case("cumsum", "cumsum", rows, ["scale"], axis=1),
    ]


# Of every kind and size of products and convolutions some that a search measures in seconds.
SEARCHED = [
    "square 256x256x256", "square 512x512x512", "square 1024x1024x1024",
    "tall 8192x64x64", "wide 64x64x8192", "shallow 4096x32x4096", "deep 32x4096x32",
    "vector x matrix 1x4096x4096", "matrix x vector 4096x4096x1", "few columns 2048x2048x7",
    "primes 127x131x137", "primes 997x1009x1013", "both transposed 1024x1024x1024",
    "b transposed 256x768x3072", "batch 64x64x64x64", "attention, odd 12x197x64x197",
    "resnet50 b1 224 conv 3>64 k7 s2", "resnet50 b1 56 conv 64>64 k3 s1",
    "resnet50 b1 56 conv 64>256 k1 s1", "resnet50 b1 28 conv 512>1024 k1 s2",
    "resnet50 b1 14 conv 256>256 k3 s1", "resnet50 b1 7 conv 512>512 k3 s1",
    "resnet50 b1 7 conv 2048>512 k1 s1", "resnet50 b8 14 conv 1024>256 k1 s1",
    "mobilenet_v2 b1 112 depthwise 32>32 k3 s1", "mobilenet_v2 b1 112 conv 16>96 k1 s1",
    "mobilenet_v2 b1 28 depthwise 192>192 k3 s2", "mobilenet_v2 b1 14 conv 96>576 k1 s1",
    "mobilenet_v2 b8 7 depthwise 960>960 k3 s1", "mobilenet_v2 b8 28 conv 192>32 k1 s1",
    "efficientnet_b0 b1 224 conv 3>32 k3 s2", "efficientnet_b0 b1 56 depthwise 144>144 k5 s2",
    "efficientnet_b0 b1 14 depthwise 672>672 k5 s1", "efficientnet_b0 b1 1 conv 48>1152 k1 s1",
    "efficientnet_b0 b8 1 conv 1152>48 k1 s1", "efficientnet_b0 b8 7 conv 192>1152 k1 s1",
    "unet b1 256 conv 1>64 k3 s1", "unet b1 64 conv 128>256 k3 s1",
    "unet b1 256 conv 64>2 k1 s1", "unet b1 32 up 512>256 k2 s2",
]


def beam_cases(machine, threads):
    known = {case["name"]: case
             for case in matmul_cases(machine, threads) + conv_cases(machine, threads)}
    return [known[name] for name in SEARCHED]


def gpt_case(batch, loss):
    """6 layers of width 192 over 128 characters of 65, which examples/models/gpt.h has by default."""
    layers, width, length, words = 6, 192, 128, 65
    products = layers * (12 * width**2 + 2 * length * width) + words * width  # for each character
    return {"name": f"gpt b{batch}", "op": "train", "model": "gpt", "inputs": [], "batch": batch,
            "flops": 6 * batch * length * products, "loss": loss}


def resnet18_case(batch, loss):
    """ResNet-18 for images of 32 x 32."""
    products, size, channels = 32 * 32 * 27 * 64, 32, 64
    for layer in range(4):
        out = 64 << layer
        size = 32 >> layer
        first = size**2 * 9 * channels * out
        products += first + 3 * size**2 * 9 * out**2
        products += size**2 * channels * out if layer > 0 else 0  # beside the first block
        channels = out
    return {"name": f"resnet18 b{batch}", "op": "train", "model": "resnet18", "inputs": [],
            "batch": batch, "flops": 6 * batch * products, "loss": loss}


def mnist_case(batch, loss):
    """examples/models/mnist.h."""
    products = 28**2 * 9 * 32 + 14**2 * 9 * 32 * 64 + 7**2 * 9 * 64 * 128 + 128 * 49 * 256 + 2560
    return {"name": f"mnist b{batch}", "op": "train", "model": "mnist", "inputs": [],
            "batch": batch, "flops": 6 * batch * products, "loss": loss}


def train_cases(_machine, _threads):
    """Whole steps, backward counting twice. The loss of the first is PyTorch's in double precision."""
    return [gpt_case(4, 4.3696064), gpt_case(16, 4.3701427),
            resnet18_case(8, 2.4191530), resnet18_case(32, 2.3836652),
            mnist_case(128, 2.3003816)]


# The standard's classics, which the package onnx has. Their files make most weights of one number.
LIGHT = ["resnet50", "densenet121", "vgg19", "squeezenet", "shufflenet", "inception_v1",
         "inception_v2", "bvlc_alexnet", "zfnet512"]


def attention_cases(_machine, _threads):
    """Queries, keys and values with all heads beside one another, and so the result."""
    heads, width = 12, 64
    return [{"name": f"attention {tokens}{' causal' if causal else ''}", "op": "attention",
             "heads": heads, "causal": causal, "inputs": [[1, tokens, heads * width]] * 3,
             "flops": 4 * heads * tokens**2 * width // (2 if causal else 1)}
            for causal in (False, True) for tokens in (128, 256, 512, 1024, 2048, 4096)]


AS_FILED, RANDOM = "as the file is", "random"


def network_case(name, given=(), **source):
    """Networks that are made have random weights, or the network that they are made of says which."""
    weights = source.get("of", {}).get("weights") or (RANDOM if "made" in source else AS_FILED)
    return {"name": name, "op": "network", "weights": weights,
            "given": dict(each.split("=") for each in given), **source}


def model_cases(_machine, _threads):
    """What drives a car, the classics with random weights and as their files are, and those that are trained."""
    lines = (ROOT / "tests/onnx/models.txt").read_text().splitlines()
    trained = [line.split() for line in lines if not line.startswith("#")]
    return [network_case("driving", made="driving"),
            *(network_case(name, made="weights", light=name) for name in LIGHT),
            *(network_case(f"light_{name}", light=name) for name in LIGHT),
            *(network_case(name, given, model=model) for name, model, *given in trained)]


def random_cases(_machine, _threads):
    """Networks that nobody chose (bench/networks), others than those that the cost model is measured on."""
    return [network_case(f"random {seed}", made="drawn", seed=seed)
            for seed in range(1_000_001, 1_000_101)]


def recurrent_cases(_machine, _threads):
    """One layer: steps, batch and cells."""
    return [network_case(f"{kind.lower()} {steps} x {batch} x {hidden}", made="recurrent",
                         layer=[kind, steps, batch, hidden])
            for kind in ("LSTM", "GRU")
            for steps, batch, hidden in ((20, 1, 64), (1000, 1, 64), (100, 1, 128), (100, 8, 128),
                                         (100, 1, 256))]


def int8_cases(_machine, _threads):
    """Networks in floats and the same in bytes. Where values lie between two steps, results may be some of them apart."""
    floats = [network_case("resnet50", made="weights", light="resnet50"),
              network_case("mobilenet_v2", made="mobilenet_v2"),
              network_case("ultraface", model="ultraface/version-slim-320.onnx")]
    bytes_ = [network_case(f"{case['name']}.int8", made="int8", of=case, tolerance=0.1)
              for case in floats]
    return [case for pair in zip(floats, bytes_) for case in pair]


def bf16_cases(_machine, _threads):
    """Networks in floats, and the same where layers multiply bf16."""
    floats = [network_case("resnet50", made="weights", light="resnet50"),
              network_case("encoder", made="encoder")]
    short = [{**case, "name": f"{case['name']}.bf16", "same_file": case["name"], "precision": "bf16",
              "tolerance": 0.1} for case in floats]
    return [case for pair in zip(floats, short) for case in pair]


CASES = {"matmul": matmul_cases, "conv": conv_cases, "attention": attention_cases,
         "memory": memory_cases, "launch": launch_cases,
         "beam": beam_cases, "train": train_cases, "models": model_cases,
         "random": random_cases,
         "recurrent": recurrent_cases, "int8": int8_cases, "bf16": bf16_cases}

# What --quick leaves of each suite: a few of every kind, none of them long.
QUICK = {
    "matmul": r"square (256|512)x|wide|vector x matrix|primes 127|both transposed|one query",
    "conv": r"b1 (56|28|7|1) .*(64>64|144>144 k3 s1|512>128|48>1152)|unet b1 16 up",
    "attention": r" (128|512)",
    "memory": r"^(add|softmax, rows|sum, middle|transpose|cumsum, rows) ",
    "launch": r"^(add|softmax|sum, last) ",
    "train": "gpt b4|resnet18 b8",
    "models": "squeezenet|mnist-8|tinyphysics",
    "random": "0$",
    "recurrent": " x 64$",
    "int8": "mobilenet_v2",
    "bf16": "resnet50",
    "beam": r"square 256|b1 28 conv 512>1024|b1 14 conv 256>256|b1 28 depthwise",
}
