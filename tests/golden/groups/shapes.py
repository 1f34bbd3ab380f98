"""Shapes: more names of axes, parts, repetition, padding, diagonals, patterns."""

import torch
import torch.nn.functional as F

from cases import *

EVERY = ["f32", "i64", "bool", "f16"]


def table(name, function, rows, dtypes=("f32",)):
    """Rows of a shape and arguments; of each also a transposed view where there are two axes."""
    for (shape, arguments), dtype in product(rows, dtypes):
        case(name, function, [numbers(shape, dtype)], **arguments)
        if len(shape) > 1:
            base = numbers(shape[:-2] + (shape[-1], shape[-2]), dtype)
            case(name, function, [transposed(base)], **arguments)


# --- Constants of a shape ------------------------------------------------------------------------------------

for value in [2, -1.5, True, 0, float("inf")]:
    case("const", lambda value: torch.full((), value, dtype=torch.int32 if type(value) is int else None), [], value=value)
for shape, dtype, value in [
    ((2, 3), "f32", 1.5),
    ((), "i64", -3),
    ((0, 2), "f16", 1),
    ((1,), "bool", True),
    ((2, 2), "u8", 200),
    ((3,), "f64", float("nan")),
]:
    case("const_like", torch.full_like, [numbers(shape, dtype)], fill_value=value)

# --- Names of axes -------------------------------------------------------------------------------------------

table(
    "swapaxes",
    torch.swapaxes,
    [((2, 3), {"axis0": 0, "axis1": 1}), ((2, 3, 4), {"axis0": -1, "axis1": 0}), ((0, 2), {"axis0": 1, "axis1": 0})],
    EVERY[:2],
)
table(
    "movedim",
    lambda x, source, destination: torch.movedim(x, source, destination),
    [
        ((2, 3, 4), {"source": [0], "destination": [2]}),
        ((2, 3, 4), {"source": [2], "destination": [0]}),
        ((2, 3, 4, 2), {"source": [3, 0], "destination": [0, 1]}),
        ((2, 3, 4), {"source": [-1, 1], "destination": [-2, -1]}),
        ((1,), {"source": [0], "destination": [0]}),
        ((2, 0), {"source": [1], "destination": [0]}),
    ],
    EVERY[:2],
)
table("mT", lambda x: x.mT, [((2, 3), {}), ((2, 3, 4), {}), ((1, 1), {}), ((0, 3), {}), ((2, 2, 1, 3), {})])
for axes in [1, 2, 3]:
    table(f"atleast_{axes}d", getattr(torch, f"atleast_{axes}d"), [((), {}), ((3,), {}), ((2, 3), {}), ((2, 1, 3), {}), ((0,), {}), ((2, 1, 2, 1), {})])
for shapes in [[(2, 1), (3,)], [(2, 3)], [(), (2,), (3, 1)], [(0, 1), (1, 3)], [(1,), (1, 1)]]:
    case("broadcast_tensors", lambda *xs: torch.broadcast_tensors(*xs), [floats(shape) for shape in shapes])
case("broadcast_tensors", lambda *xs: torch.broadcast_tensors(*xs), [transposed(floats((3, 2))), expanded(ints((1,)), 3)])
for name in ["fliplr", "flipud"]:
    table(name, getattr(torch, name), [((2, 3), {}), ((3, 2, 2), {}), ((1, 1), {}), ((0, 2), {})], EVERY[:2])
table(
    "rot90",
    lambda x, k=1, dims=(0, 1): torch.rot90(x, k, dims),
    [
        ((2, 3), {}),
        ((2, 3), {"k": 2}),
        ((2, 3), {"k": 3}),
        ((2, 3), {"k": -1}),
        ((2, 3), {"k": 4}),
        ((2, 3, 4), {"k": 1, "dims": [1, 2]}),
        ((2, 3, 4), {"k": 7, "dims": [2, 0]}),
        ((1, 1), {}),
        ((0, 3), {}),
    ],
    EVERY[:2],
)

# --- Parts ---------------------------------------------------------------------------------------------------

table(
    "narrow",
    torch.narrow,
    [
        ((4, 3), {"dim": 0, "start": 1, "length": 2}),
        ((4, 3), {"dim": -1, "start": 0, "length": 3}),
        ((5,), {"dim": 0, "start": 5, "length": 0}),
        ((1, 2), {"dim": 0, "start": 0, "length": 1}),
        ((0, 2), {"dim": 0, "start": 0, "length": 0}),
    ],
    EVERY[:2],
)
table(
    "select",
    torch.select,
    [
        ((4, 3), {"dim": 0, "index": 1}),
        ((4, 3), {"dim": 1, "index": -1}),
        ((5,), {"dim": 0, "index": 4}),
        ((1,), {"dim": 0, "index": 0}),
        ((2, 3, 0), {"dim": -2, "index": 2}),
    ],
    EVERY[:2],
)
table("unbind", torch.unbind, [((3, 2), {"dim": 0}), ((3, 2), {"dim": 1}), ((1,), {"dim": 0}), ((2, 0), {"dim": 0})], EVERY[:2])
for shape, cuts, dim in [
    ((7, 2), 3, 0),
    ((6,), 2, 0),
    ((2, 5), 4, 1),
    ((2,), 3, 0),
    ((7, 2), [2, 5], 0),
    ((5,), [1, 1, 9], 0),
    ((5,), [-2], 0),
    ((5,), [4, 2], 0),
    ((1,), 1, 0),
    ((2, 3), [1], -1),
    ((0, 2), 2, 0),
]:
    for dtype in EVERY[:2]:
        case(
            "tensor_split",
            lambda x, cuts, dim: torch.tensor_split(x, cuts if type(cuts) is int else tuple(cuts), dim),
            [numbers(shape, dtype)],
            cuts=cuts,
            dim=dim,
        )
case("tensor_split", lambda x, cuts, dim: torch.tensor_split(x, cuts, dim), [transposed(floats((3, 5)))], cuts=3, dim=0)
for name, shapes in [("hsplit", [(4,), (2, 4), (2, 4, 3)]), ("vsplit", [(4, 2), (4, 1, 3)]), ("dsplit", [(2, 1, 4)])]:
    for shape, cuts in product(shapes, [2, [1, 3], 4]):
        case(name, lambda x, cuts: getattr(torch, name)(x, cuts), [floats(shape)], cuts=cuts)
case("hsplit", lambda x, cuts: torch.hsplit(x, cuts), [transposed(floats((4, 3)))], cuts=2)
case("vsplit", lambda x, cuts: torch.vsplit(x, cuts), [transposed(floats((3, 4)))], cuts=[2])

# --- Together ------------------------------------------------------------------------------------------------

for name, shapes in [
    ("hstack", [[(2,), (3,)], [(2, 1), (2, 3)], [(), ()], [(1, 2, 2), (1, 1, 2)], [(0,), (2,)]]),
    ("vstack", [[(3,), (3,)], [(2, 3), (1, 3)], [(), ()], [(3,), (2, 3)], [(1, 2, 2), (2, 2, 2)]]),
    ("dstack", [[(3,), (3,)], [(2, 3), (2, 3)], [(), ()], [(2, 3, 1), (2, 3, 2)], [(1, 3), (3,)]]),
    ("column_stack", [[(3,), (3,)], [(2, 3), (2,)], [(), ()], [(2, 1), (2, 2)], [(0,), (0, 2)]]),
]:
    function = getattr(torch, name)
    for each in shapes:
        case(name, lambda *xs: function(xs), [floats(shape) for shape in each])
    case(name, lambda *xs: function(xs), [ints(shapes[0][0]), floats(shapes[0][1])])
for shapes in [[(2, 3), (1, 1)], [(2,), (2, 2)], [()], [(0, 2), (1, 3)], [(1, 1)] * 3]:
    case("block_diag", lambda *xs: torch.block_diag(*xs), [floats(shape) for shape in shapes])
case("block_diag", lambda *xs: torch.block_diag(*xs), [transposed(floats((2, 3))), ints((2, 2))])

# --- Repetition ----------------------------------------------------------------------------------------------

table(
    "tile",
    lambda x, dims: torch.tile(x, dims),
    [
        ((2, 3), {"dims": [2]}),
        ((2, 3), {"dims": [2, 1]}),
        ((3,), {"dims": [2, 2]}),
        ((), {"dims": [2]}),
        ((2, 1, 3), {"dims": [2, 1]}),
        ((0, 2), {"dims": [2]}),
        ((2,), {"dims": []}),
    ],
    EVERY[:2],
)
table(
    "repeat_interleave",
    lambda x, repeats, dim=None: torch.repeat_interleave(x, repeats, dim),
    [
        ((2, 3), {"repeats": 2}),
        ((2, 3), {"repeats": 3, "dim": 0}),
        ((2, 3), {"repeats": 2, "dim": -1}),
        ((3,), {"repeats": 1, "dim": 0}),
        ((3,), {"repeats": 0}),
        ((), {"repeats": 2}),
        ((0, 2), {"repeats": 2, "dim": 1}),
        ((1, 2, 1), {"repeats": 3, "dim": 1}),
    ],
    EVERY,
)


def interleaved(x, repeats, dim=None, output_size=None):
    return torch.repeat_interleave(x, repeats.long(), dim, output_size=output_size)


for shape, repeats, dim, size in [
    ((3,), [1, 0, 2], 0, None),
    ((3, 2), [2, 1, 3], 0, 6),
    ((2, 3), [0, 0, 4], 1, None),
    ((2, 2), [1, 2, 3, 4], None, None),
    ((2, 3), [2], -1, None),
    ((1,), [5], 0, 5),
    ((2,), [0, 0], 0, None),
    ((40,), [i % 3 for i in range(40)], 0, None),
]:
    for dtype in ["f32", "i16"]:
        case("repeat_interleave", interleaved, [numbers(shape, dtype), values(repeats, "i32")], dim=dim, output_size=size)
case("repeat_interleave", interleaved, [transposed(floats((2, 3))), values([1, 0, 2], "i64")], dim=0)

table(
    "roll",
    lambda x, shifts, dims=None: torch.roll(x, shifts, dims),
    [
        ((2, 3), {"shifts": 2}),
        ((2, 3), {"shifts": [1, -1], "dims": [0, 1]}),
        ((5,), {"shifts": -7}),
        ((4,), {"shifts": [1, 2], "dims": [0, 0]}),
        ((2, 3, 2), {"shifts": [1, 1, 1], "dims": [-1, 0, 1]}),
        ((0, 3), {"shifts": [1, 1], "dims": [0, 1]}),
        ((), {"shifts": 1}),
    ],
    EVERY[:2],
)
table(
    "unfold",
    lambda x, dimension, size, step: x.unfold(dimension, size, step),
    [
        ((7,), {"dimension": 0, "size": 3, "step": 1}),
        ((7,), {"dimension": 0, "size": 3, "step": 2}),
        ((8,), {"dimension": 0, "size": 2, "step": 5}),
        ((5, 2), {"dimension": 0, "size": 2, "step": 1}),
        ((2, 6), {"dimension": -1, "size": 6, "step": 1}),
        ((2, 6, 2), {"dimension": 1, "size": 4, "step": 2}),
        ((1,), {"dimension": 0, "size": 1, "step": 3}),
        ((0, 3), {"dimension": 1, "size": 2, "step": 1}),
    ],
    EVERY,
)
for shapes, indexing in product([[(2,), (3,)], [(2,), (1,), (3,)], [(4,)], [(), (2,)], [(0,), (2,)]], ["ij", "xy"]):
    case(
        "meshgrid",
        lambda *xs, indexing: torch.meshgrid(*xs, indexing=indexing),
        [floats(shape) for shape in shapes],
        indexing=indexing,
    )
case("meshgrid", lambda *xs, indexing: torch.meshgrid(*xs, indexing=indexing), [strided(floats((6,)), 2), flipped(floats((2,)), 0)], indexing="ij")
for shapes in [[(2,), (3,)], [(2,), (1,), (3,)], [(4,)], [(0,), (2,)], [(1,), (1,)]]:
    case("cartesian_prod", lambda *xs: torch.cartesian_prod(*xs), [floats(shape) for shape in shapes])
for size, r, replaced in [(4, 2, False), (4, 2, True), (5, 3, False), (3, 3, True), (3, 1, False), (2, 3, False), (0, 2, False), (1, 1, False), (3, 0, False)]:
    for dtype in EVERY[:2]:
        case(
            "combinations",
            lambda x, r, with_replacement: torch.combinations(x, r, with_replacement),
            [numbers((size,), dtype)],
            r=r,
            with_replacement=replaced,
        )

# --- Padding -------------------------------------------------------------------------------------------------


def pad(x, padding, mode="constant", value=0):
    """Each axis in turn: torch's own modes other than constant want axes in front."""
    if mode == "constant":
        return F.pad(x, padding, value=value)
    for axis in range(len(padding) // 2):
        moved = x.movedim(-1 - axis, -1)
        flat = moved.reshape(1, -1, moved.shape[-1])
        flat = F.pad(flat, padding[2 * axis : 2 * axis + 2], mode)
        x = flat.reshape(moved.shape[:-1] + flat.shape[-1:]).movedim(-1, -1 - axis)
    return x


for shape, padding in [
    ((5,), [2, 1]),
    ((4, 3), [1, 2]),
    ((4, 3), [0, 1, 2, 3]),
    ((4, 3), [2, 0, 3, 2]),
    ((2, 4, 3), [1, 1, 2, 0]),
    ((6,), [-2, 1]),
    ((6,), [2, -3]),
    ((6,), [-1, -2]),
    ((3, 4), [0, 0, 1, 1]),
    ((2, 1), [0, 0, 1, 1]),
]:
    for mode in ["constant", "reflect", "replicate", "circular"]:
        case("pad", pad, [floats(shape)], padding=padding, mode=mode)
    case("pad", pad, [floats(shape)], padding=padding, mode="constant", value=2.5)
for mode in ["reflect", "replicate", "circular"]:
    case("pad", pad, [transposed(floats((3, 4)))], padding=[1, 1, 1, 2], mode=mode)
    case("pad", pad, [ints((5,), dtype="i64")], padding=[2, 2], mode=mode)
    case("pad", pad, [floats((5,), dtype="f64")], padding=[1, 3], mode=mode)
case("pad", pad, [floats((1,))], padding=[3, 2], mode="replicate")
case("pad", pad, [floats((1,))], padding=[1, 1], mode="circular")


def pad_to(x, shape, value=0):
    widths = [[0, wanted - size if wanted >= 0 else 0] for wanted, size in zip(shape, x.shape)]
    return F.pad(x, [n for pair in reversed(widths) for n in pair], value=value)


table(
    "pad_to",
    pad_to,
    [
        ((2, 3), {"shape": [4, 3]}),
        ((2, 3), {"shape": [-1, 5], "value": 1.5}),
        ((), {"shape": []}),
        ((0,), {"shape": [2]}),
        ((1, 1), {"shape": [2, 2], "value": -1.0}),
    ],
)
table(
    "shrink_to",
    lambda x, shape: x[tuple(slice(None if size < 0 else size) for size in shape)],
    [
        ((4, 3), {"shape": [2, 3]}),
        ((4, 3), {"shape": [-1, 1]}),
        ((), {"shape": []}),
        ((2,), {"shape": [0]}),
        ((1, 1), {"shape": [1, -1]}),
    ],
    EVERY[:2],
)

# --- Diagonals -----------------------------------------------------------------------------------------------

table(
    "diagonal",
    lambda x, offset=0, dim1=0, dim2=1: torch.diagonal(x, offset, dim1, dim2),
    [
        ((3, 4), {}),
        ((3, 4), {"offset": 1}),
        ((3, 4), {"offset": -2}),
        ((3, 4), {"offset": 9}),
        ((3, 2, 4), {}),
        ((3, 2, 4), {"offset": 1, "dim1": 0, "dim2": 2}),
        ((3, 2, 4), {"offset": -1, "dim1": -1, "dim2": 0}),
        ((1, 1), {}),
        ((0, 3), {"offset": 1}),
    ],
    EVERY[:2],
)
table(
    "diag",
    torch.diag,
    [
        ((3,), {}),
        ((3,), {"diagonal": 1}),
        ((3,), {"diagonal": -2}),
        ((3, 4), {}),
        ((3, 4), {"diagonal": 2}),
        ((4, 3), {"diagonal": -1}),
        ((1,), {}),
        ((0,), {"diagonal": 1}),
    ],
    EVERY,
)
table(
    "diag_embed",
    lambda x, offset=0, dim1=-2, dim2=-1: torch.diag_embed(x, offset, dim1, dim2),
    [
        ((3,), {}),
        ((2, 3), {"offset": 1}),
        ((2, 3), {"offset": -1, "dim1": 0, "dim2": 2}),
        ((2, 1, 2), {"dim1": 1, "dim2": 0}),
        ((2, 2), {"dim1": -1, "dim2": -3, "offset": 2}),
        ((2, 0), {"offset": 1}),
        ((1,), {}),
    ],
    EVERY[:2],
)
table("diagflat", torch.diagflat, [((2, 2), {}), ((3,), {"offset": 1}), ((), {}), ((1, 0), {"offset": -1}), ((2, 1), {"offset": -1})])
for name in ["tril_indices", "triu_indices"]:
    for row, col, offset in [(3, 3, 0), (3, 4, 1), (4, 3, -1), (2, 2, 5), (2, 3, -5), (1, 1, 0), (0, 2, 0)]:
        case(name, getattr(torch, name), [], row=row, col=col, offset=offset, out="i32")


def vander(x, N=None, increasing=False):
    """As torch.vander, which has no gradient."""
    powers = range(len(x) if N is None else N)
    return torch.stack([x**power for power in (powers if increasing else reversed(powers))], 1)


for size, columns, increasing in [(4, None, False), (3, 2, True), (3, 5, False), (1, 3, True), (2, 1, False)]:
    for dtype in ["f32", "i64", "f64"]:
        case("vander", vander, [numbers((size,), dtype)], N=columns, increasing=increasing)
case("vander", vander, [strided(floats((6,)), 2)], increasing=True)

# --- Patterns: of each the same by reshape, permute and the like -----------------------------------------------

for formula, sizes, shape, function in [
    ("a b -> b a", {}, (2, 3), lambda x: x.T),
    ("b (h w) c -> b c h w", {"h": 2}, (2, 6, 3), lambda x: x.reshape(2, 2, 3, 3).permute(0, 3, 1, 2)),
    ("b h w c -> b (c h w)", {}, (2, 2, 3, 2), lambda x: x.permute(0, 3, 1, 2).reshape(2, 12)),
    ("... a b -> ... b a", {}, (2, 2, 3, 4), lambda x: x.mT),
    ("a ... -> ... a", {}, (2, 3, 4), lambda x: x.permute(1, 2, 0)),
    ("a ... b -> (...) (b a)", {}, (2, 3, 2, 2), lambda x: x.permute(1, 2, 3, 0).reshape(6, 4)),
    ("(a b) -> a 1 b", {"a": 2, "b": 3}, (6,), lambda x: x.reshape(2, 1, 3)),
    ("1 a 1 -> a", {}, (1, 3, 1), lambda x: x.reshape(3)),
    ("(h ph) (w pw) -> (h w) (ph pw)", {"ph": 2, "pw": 3}, (4, 6), lambda x: x.reshape(2, 2, 2, 3).permute(0, 2, 1, 3).reshape(4, 6)),
    ("a () -> a", {}, (3, 1), lambda x: x.reshape(3)),
    ("->", {}, (), lambda x: x),
    ("a -> 1 a", {}, (0,), lambda x: x.reshape(1, 0)),
    ("... -> (...)", {}, (2, 2), lambda x: x.reshape(4)),
    (" one_1  two ->(two one_1) ", {}, (2, 3), lambda x: x.T.reshape(6)),
]:
    names = {"names": list(sizes), "sizes": list(sizes.values())}
    case("rearrange", lambda x, **_: function(x), [floats(shape)], formula=formula, **names)
    case("rearrange", lambda x, **_: function(x), [ints(shape, dtype="i64")], formula=formula, **names)
case(
    "rearrange",
    lambda x, **_: x.reshape(3, 2, 2).permute(1, 2, 0),
    [transposed(floats((4, 3)))],
    formula="c (h w) -> h w c",
    names=["h"],
    sizes=[2],
)
for formula, how, sizes, shape, function in [
    ("b c -> b", "sum", {}, (2, 3), lambda x: x.sum(1)),
    ("b (h p) -> b h", "mean", {"p": 2}, (2, 6), lambda x: x.reshape(2, 3, 2).mean(2)),
    ("b (h p) (w q) -> b h w", "amax", {"p": 2, "q": 3}, (2, 4, 6), lambda x: x.reshape(2, 2, 2, 2, 3).amax((2, 4))),
    ("a b c -> c 1 a", "amin", {}, (2, 3, 2), lambda x: x.amin(1).T.reshape(2, 1, 2)),
    ("a ... -> ...", "prod", {}, (2, 3, 2), lambda x: x.prod(0)),
    ("... ->", "sum", {}, (2, 2), lambda x: x.sum()),
    ("a 1 -> a", "amax", {}, (3, 1), lambda x: x.reshape(3)),
]:
    names = {"names": list(sizes), "sizes": list(sizes.values())}
    case("reduce", lambda x, **_: function(x), [distinct(shape)], formula=formula, how=how, **names)
for formula, sizes, shape, function in [
    ("a -> a b", {"b": 2}, (3,), lambda x: x.reshape(3, 1).expand(3, 2)),
    ("h w -> h (w c)", {"c": 3}, (2, 2), lambda x: x.reshape(2, 2, 1).expand(2, 2, 3).reshape(2, 6)),
    ("h w -> (c h) w", {"c": 2}, (2, 3), lambda x: x.repeat(2, 1)),
    ("-> n", {"n": 3}, (), lambda x: x.expand(3)),
    ("... -> k ...", {"k": 2}, (2, 3), lambda x: x.expand(2, 2, 3)),
    ("a b -> b a", {}, (1, 2), lambda x: x.T),
]:
    names = {"names": list(sizes), "sizes": list(sizes.values())}
    case("repeat_pattern", lambda x, **_: function(x), [floats(shape)], formula=formula, **names)
