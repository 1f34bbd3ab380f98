"""Whole networks in ONNX files: where each comes from, what it is called with, and what it should give."""
import math
import re
import subprocess
from pathlib import Path

import numpy as np

import values
from machine import ROOT

# Of an output's largest value, or of this one where all are smaller: shares and chances come near to zero.
TOLERANCE, SMALL = 1e-3, 1e-3


class Missing(Exception):
    """Why there is no such network here."""


def original(case):
    if "light" in case:
        import onnx
        path = Path(onnx.__file__).parent / f"backend/test/data/light/light_{case['light']}.onnx"
    else:
        path = ROOT.parent / "shared/data" / case["model"]
    if not path.exists():
        raise Missing(f"there is no {path}")
    return path


def file_of(case, folder):
    return made(case, folder) if "made" in case else original(case)


def made(case, folder):
    """The file of a network that is not as it lies there: written once, as seeds make it the same."""
    import onnx
    path = folder / (re.sub(r"\W", "_", case.get("same_file", case["name"])) + ".onnx")
    if path.exists():
        return path
    if case["made"] == "drawn":
        folder.mkdir(parents=True, exist_ok=True)
        draw = ROOT / "build/bench/bin/random_networks"
        if not draw.exists():
            raise Missing(f"there is no {draw}")
        subprocess.run([draw, str(case["seed"]), "1", folder], check=True, stdout=subprocess.DEVNULL)
        return (folder / f"{case['seed']}.onnx").rename(path)
    if case["made"] == "driving":
        from driving import driving
        model = driving()
    elif case["made"] == "encoder":
        from encoder import encoder
        model = encoder()
    elif case["made"] == "recurrent":
        from recurrent import recurrent
        model = recurrent(*case["layer"])
    elif case["made"] == "mobilenet_v2":
        from quantised_networks import mobilenet_v2
        model = mobilenet_v2()
    elif case["made"] == "int8":
        from quantised_networks import quantised
        model = quantised(file_of(case["of"], folder))
    else:
        from random_weights import with_random_weights
        model = with_random_weights(onnx.load(original(case)))
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(model, path.with_suffix(".new"))
    path.with_suffix(".new").rename(path)
    return path


def numbers(shape, dtype, least, most, number):
    """Between these, by the hash of values.py."""
    share = (values.input_values(shape, number).astype(np.float64) + 1) / 2
    if np.issubdtype(dtype, np.integer):
        return np.floor(least + share * (most - least + 1)).astype(dtype)
    return (least + share * (most - least)).astype(dtype)


def dtype_of(port):
    import onnx
    return onnx.helper.tensor_dtype_to_np_dtype(port.type.tensor_type.elem_type)


def input_array(port, given, number):
    """What the case says of an input, else what the file says."""
    dtype = dtype_of(port)
    sizes, *bounds = given.split(":")
    shape = [int(size) for size in sizes.split("x")] if sizes else \
        [size.dim_value for size in port.type.tensor_type.shape.dim]
    if not bounds:
        if dtype == np.uint8:
            bounds = (0, 255)
        else:
            bounds = (0, 9) if np.issubdtype(dtype, np.integer) else (-1, 1)
    return numbers(shape, dtype, *map(float, bounds), number)


def arrays_of(case, model, path):
    """By the names of the inputs. Some networks come with values."""
    stored = {each.name for each in model.graph.initializer}
    ports = [port for port in model.graph.input if port.name not in stored]
    if (path.parent / "inputs.npz").exists():
        kept = np.load(path.parent / "inputs.npz")
        return {port.name: kept[name].astype(dtype_of(port)) for port, name in zip(ports, kept.files)}
    return {port.name: input_array(port, case["given"].get(port.name, ""), number)
            for number, port in enumerate(ports)}


def prepared(case, folder, scratch):
    """The case with what processes need to run it: a file for the network, and one for each input."""
    import onnx
    path = file_of(case, folder)
    model = onnx.load(path)
    inputs = []
    for number, (name, array) in enumerate(arrays_of(case, model, path).items()):
        file = Path(scratch) / f"input_{number}"
        array.tofile(file)
        inputs.append({"name": name, "shape": list(array.shape), "dtype": array.dtype.name,
                       "type": onnx.helper.np_dtype_to_tensor_dtype(array.dtype), "file": str(file)})
    return {**case, "file": str(path), "inputs": inputs,
            "outputs": [port.name for port in model.graph.output]}


def expected(case):
    """Each output: as it comes with the network, or by onnxruntime in a session of its own."""
    kept = Path(case["file"]).parent / "outputs.npz"
    if kept.exists():
        arrays = np.load(kept)
        found = [arrays[name] for name in arrays.files]
    else:
        import onnxruntime
        onnxruntime.set_default_logger_severity(3)  # what a file could do better is no news here
        session = onnxruntime.InferenceSession(case["file"], providers=["CPUExecutionProvider"])
        found = session.run(None, {one["name"]: values.stored(one) for one in case["inputs"]})
    return [np.asarray(array).astype(np.float64) for array in found]


def difference(wanted, found):
    """The largest of any output, of its largest value; infinite where they cannot be compared."""
    ends = np.cumsum([each.size for each in wanted])
    if found.size != ends[-1] or not np.isfinite(found).all():
        return math.inf
    parts = np.split(found, ends[:-1])
    return max(float(np.abs(part - each.ravel()).max() / max(np.abs(each).max(), SMALL))
               for part, each in zip(parts, wanted) if each.size)


def mismatch(difference, tolerance=TOLERANCE):
    if math.isinf(difference):
        return "not as many values, or not finite"
    return f"wrong by {difference:.1e} of the largest value" if difference > tolerance else ""
