"""What each suite compares weft with, and what it should reach."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Suite:
    title: str
    peers: tuple  # who runs the cases, weft first
    rivals: tuple  # the ratio of a case is to the fastest of these
    roof: str  # who says what the machine can do at most
    least: float  # of every case
    least_near_peak: float | None = None  # of a case whose rival is above 90 % of the roof
    mean: float | None = None  # of the suite, geometric
    schedules: bool = False  # whether those of weft and its rival are told
    apart: bool = False  # each case in new processes: what one leaves behind, the next need not ask for
    slow: float = 3  # seconds: a call that took longer at first is made once


SUITES = {
    "matmul": Suite(
        "Matrix products, f32",
        ("weft", "weft-movement", "numpy", "torch", "torch-compile", "onnxruntime", "openvino",
         "tinygrad", "fma"),
        ("numpy", "torch", "torch-compile"), "fma", 0.97, 0.95, 1.1),
    "conv": Suite(
        "Convolutions, f32, NCHW in and out",
        ("weft", "onnxruntime", "openvino", "torch", "torch-compile", "fma"),
        ("onnxruntime",), "fma", 0.7, None, 1.2),
    "attention": Suite(
        "Attention of 12 heads of 64, f32, tokens as they come from a layer",
        ("weft", "onnxruntime", "torch", "torch-compile", "fma"),
        ("onnxruntime", "torch"), "fma", 1.0, None, 1.5),
    "memory": Suite(
        "Passes over tensors of four times the last-level cache, f32",
        ("weft", "stream", "stream-nt", "numpy", "torch", "torch-compile"),
        ("stream",), "stream", 0.9),
    "launch": Suite(
        "Launches on tensors of 64 kB, f32",
        ("weft", "weft-realize", "torch", "torch-compile", "stream"),
        ("torch",), "stream", 2.0),
    "beam": Suite(
        "The model's schedules and those that BEAM finds, f32",
        ("weft", "weft-beam", "fma"), ("weft-beam",), "fma", 0.8, None, 0.95, schedules=True),
    "train": Suite(
        "Training steps, f32",
        ("weft", "torch", "torch-compile", "tinygrad", "fma"), ("torch", "torch-compile"), "fma", 1.2,
        apart=True, slow=60),  # what has to be compiled is among the first calls
    "models": Suite(
        "Networks in ONNX files, f32, batch 1",
        ("weft", "onnxruntime", "openvino", "tinygrad"), ("onnxruntime",), "", 0.9, None, 1.5),
    "random": Suite(
        "Random networks in ONNX files, f32",
        ("weft", "onnxruntime", "openvino"), ("onnxruntime",), "", 1.0, None, 1.8),
    "recurrent": Suite(
        "Recurrent layers in ONNX files, f32",
        ("weft", "onnxruntime", "openvino"), ("onnxruntime",), "", 1.0, None, 1.0),
    "int8": Suite(
        "Networks in ONNX files, f32 and quantised to int8, batch 1",
        ("weft", "onnxruntime", "openvino"), ("onnxruntime", "openvino"), "", 1.0, None, 1.0),
    "bf16": Suite(
        "Networks in ONNX files, f32 and with layers that multiply bf16, batch 1",
        ("weft", "openvino"), ("openvino",), "", 1.0, None, 1.2),
}

# Peers that are the machine itself have nothing to check.
ROOFS = ("fma", "stream", "stream-nt")


def takes(peer, case):
    if peer == "weft-movement":
        return case.get("movement", False)
    is_training = case.get("op") == "train"
    return peer != "tinygrad" or not is_training or case["model"] == "mnist"
