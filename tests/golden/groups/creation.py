"""New tensors, and other dtypes."""

import numpy as np
import torch

from cases import *

SHAPES = [[2, 3], [], [0, 2], [1], [4]]

for shape in SHAPES:
    for name in ["zeros", "ones"]:
        case(name, lambda shape: getattr(torch, name)(shape), shape=shape)
        for dtype in ["bool", "i8", "u64", "f16", "f64"]:
            case(
                name,
                lambda shape, dtype: getattr(torch, name)(shape, dtype=DTYPES[dtype]),
                shape=shape,
                dtype=dtype,
            )
        for x in [floats(shape), ints(shape, dtype="u8"), floats(shape, dtype="bf16")]:
            case(f"{name}_like", getattr(torch, f"{name}_like"), [x])
    for value, out in [(2, "i32"), (1.5, "f32"), (True, "bool"), (float("inf"), "f32")]:
        case(
            "full",
            lambda shape, fill_value: torch.full(shape, fill_value),
            shape=shape,
            fill_value=value,
            out=out,
        )
    for value, dtype in [(300, "i64"), (-1, "f16"), (1.7, "i32"), (0, "bool"), (7, "u8")]:
        case(
            "full",
            lambda shape, fill_value, dtype: torch.full(shape, fill_value, dtype=DTYPES[dtype]),
            shape=shape,
            fill_value=value,
            dtype=dtype,
        )
    for x, value in [
        (floats(shape), 2),
        (ints(shape), 3),
        (floats(shape, dtype="f16"), 0.5),
        (ints(shape, dtype="u8"), 255),
    ]:
        case("full_like", torch.full_like, [x], fill_value=value)

for bounds in [(5,), (2, 7), (0, 10, 3), (5, -5, -3), (3, 3), (0, 1), (-4, 4, 8)]:
    arguments = dict(zip(["start", "stop", "step"], bounds)) if len(bounds) > 1 else {"stop": bounds[0]}
    case("arange", lambda stop, start=0, step=1: torch.arange(start, stop, step), **arguments, out="i32")
    for dtype in ["f32", "i64", "f64"]:
        case(
            "arange",
            lambda stop, dtype, start=0, step=1: torch.arange(start, stop, step, dtype=DTYPES[dtype]),
            **arguments,
            dtype=dtype,
        )
for start, stop, step in [(0, 1, 0.25), (1.5, -1.0, -0.5), (0.0, 1.0, 0.3), (2.0, 2.0, 1.0)]:
    case(
        "arange", lambda start, stop, step: torch.arange(start, stop, step), start=start, stop=stop, step=step
    )
for start, stop, steps in [
    (0, 1, 5),
    (-2.5, 2.5, 11),
    (3, -3, 4),
    (1, 9, 1),
    (0, 0, 3),
    (0, 1, 0),
    (0, 10, 2),
]:
    case(
        "linspace",
        lambda start, stop, steps: torch.linspace(start, stop, steps),
        start=start,
        stop=stop,
        steps=steps,
    )
    case(
        "linspace",
        lambda start, stop, steps, dtype: torch.linspace(start, stop, steps, dtype=torch.float64),
        start=start,
        stop=stop,
        steps=steps,
        dtype="f64",
    )
for n, m in [(3, None), (2, 4), (4, 2), (1, None), (0, None), (0, 3)]:
    case("eye", lambda n, m=None: torch.eye(n, n if m is None else m), n=n, m=m)
    case(
        "eye",
        lambda n, dtype, m=None: torch.eye(n, n if m is None else m, dtype=DTYPES[dtype]),
        n=n,
        m=m,
        dtype="i32",
    )

# --- Other dtypes. What is out of range of an integer differs between processors, and is left out. -----------

NEAR = [0.0, 1.0, 2.5, 3.5, 100.0, 0.1]
for a, b in product(["bool"] + INTS + FLOATS, ["bool"] + INTS + FLOATS):
    source = values(NEAR).to(DTYPES[a])
    case("cast", lambda x, dtype: x.to(DTYPES[dtype]), [source], dtype=b)
for a, b in product(["f32", "i32", "f16", "f8e4m3", "f8e5m2"], ["f8e4m3", "f8e5m2", "f32"]):
    case("cast", lambda x, dtype: x.to(DTYPES[dtype]), [values(NEAR).to(DTYPES[a])], dtype=b, grad=False)
for a, b in product(["f64", "f32"], ["f16", "bf16", "f32"]):
    case("cast", lambda x, dtype: x.to(DTYPES[dtype]), [specials(a)], dtype=b, grad=False)
for a, b in product(SIGNED + ["u8"], SIGNED + ["u8"]):
    case("cast", lambda x, dtype: x.to(DTYPES[dtype]), [specials(a)], dtype=b)
for shape in [(), (0, 2), (1,)]:
    case("cast", lambda x, dtype: x.to(DTYPES[dtype]), [floats(shape)], dtype="f16")
case("cast", lambda x, dtype: x.to(DTYPES[dtype]), [transposed(floats((2, 3)))], dtype="i32")
case("cast", lambda x, dtype: x.to(DTYPES[dtype]), [expanded(ints((1, 3)), 2, 3)], dtype="bool")

BITS = {1: ["i8", "u8", "bool"], 2: ["i16", "f16", "bf16"], 4: ["i32", "f32"], 8: ["i64", "f64"]}
for same in [["i8", "u8"], *list(BITS.values())[1:]]:
    for a, b in product(same, same):
        case("bitcast", lambda x, dtype: x.view(DTYPES[dtype]), [numbers((2, 3), a)], dtype=b, grad=False)
for shape in [(), (0, 2), (1,)]:
    case("bitcast", lambda x, dtype: x.view(DTYPES[dtype]), [floats(shape)], dtype="i32", grad=False)
case(
    "bitcast",
    lambda x, dtype: x.contiguous().view(DTYPES[dtype]),
    [transposed(floats((2, 3)))],
    dtype="i32",
    grad=False,
)
case("bitcast", lambda x, dtype: x.view(DTYPES[dtype]), [specials()], dtype="i32", grad=False)
for stop in [256, 4096]:
    case("arange", lambda stop: torch.arange(stop), [], stop=stop, out="i32")
