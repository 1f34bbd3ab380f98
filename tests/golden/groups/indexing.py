"""Indexing: what is read and written by numbers, slices, masks and tensors of integers.

`spec` is an index as text: "0,1:3,::-2,...,new,(2 0),t". A t is the next tensor among the inputs.
"""

import numpy as np
import torch

from cases import *


def index_of(spec, tensors):
    tensors = iter(tensors)

    def one(word):
        if word == "t":
            tensor = next(tensors)
            return tensor if tensor.dtype == torch.bool else tensor.long()
        if word.startswith("("):
            return list(map(int, word[1:-1].split()))
        if ":" in word:
            return slice(*(int(bound) if bound else None for bound in word.split(":")))
        return {"...": Ellipsis, "new": None}[word] if word in ("...", "new") else int(word)

    return tuple(map(one, spec.split(",")))


def getitem(x, *tensors, spec):
    index = index_of(spec, tensors)
    for axis, word in enumerate(index):  # torch has no negative steps
        if isinstance(word, slice) and (word.step or 1) < 0:
            picked = torch.arange(x.shape[axis]).numpy()[word].copy()
            assert all(isinstance(other, slice) for other in index)
            x = x.index_select(axis, torch.from_numpy(picked))
            index = index[:axis] + (slice(None),) + index[axis + 1:]
    return x[index]


def setitem(x, value, *tensors, spec, accumulate=False):
    if accumulate:
        return x.index_put(index_of(spec, tensors), value.to(x.dtype), accumulate=True)
    result = x.clone()
    result[index_of(spec, tensors)] = value
    return result


def put_along(x, index, value, axis):
    """With an index that broadcasts, and counts from the end."""
    shape = list(x.shape)
    shape[axis] = index.shape[axis]
    return torch.scatter(x, axis, (index % x.shape[axis]).expand(shape), value.expand(shape))


def along(function):
    """With the axis before the index, as torch has it."""
    return lambda x, index, *rest, dim, **more: function(x, dim, index, *rest, **more)


def longs(function):
    """torch wants i64 indices."""
    return lambda *inputs, **arguments: function(
        *(x.long() if x is not None and x.dtype in (torch.int8, torch.int16, torch.int32, torch.uint8) else x
          for x in inputs), **arguments)


def places(*data, dtype="i64"):
    return values(list(data), dtype)


# --- x[...] --------------------------------------------------------------------------------------------

X = (3, 4, 5)
for spec in ["1", "-1,2", "1:,::2", "...,-1", "new,1,...,new", "0,1:3,-2", "::-1,:,::-2", ":,3:1:-1"]:
    case("__getitem__", getitem, [floats(X)], spec=spec)
for dtype in ["bool", "i8", "u8", "i64", "f16", "bf16", "f64"]:
    case("__getitem__", getitem, [numbers((4, 3), dtype), places(2, 0, -1, 2)], spec="t")
    case("__getitem__", getitem, [numbers((4, 3), dtype), bools((4,))], spec="t")
for spec in ["t", ":,t", "...,t", "0,:,t", "t,1:3", ":,1:,t", "new,t", "t,new,...", ":,t,new", "1,t", "t,0", "::2,t",
             ":,-1,t"]:
    case("__getitem__", getitem, [floats(X), values([[0, -1], [2, 1]], "i32")], spec=spec)
for spec in ["t,t", ":,t,t", "t,:,t", "t,1:3,t", "t,new,t", "t,...,t", "t,1,t"]:
    case("__getitem__", getitem, [floats(X), values([[0], [-1]], "i64"), places(2, 0, 1, 2)], spec=spec)
case("__getitem__", getitem, [floats(X), places(0, 1, dtype="i8"), places(2, -3, dtype="i16"), places(4, 4)], spec="t,t,t")
case("__getitem__", getitem, [transposed(floats((4, 3))), places(2, 0, 1)], spec=":,t")
case("__getitem__", getitem, [strided(floats((5, 6)), 2, 3), places(1, 0)], spec="t")
case("__getitem__", getitem, [floats(X), values(1, "i64")], spec="t")
case("__getitem__", getitem, [floats((4,)), values(-1, "i32")], spec="t")
case("__getitem__", getitem, [floats((0, 3)), values([], "i64")], spec="t")
case("__getitem__", getitem, [floats((3, 2)), values([], "i64")], spec="t")
case("__getitem__", getitem, [floats((1,)), places(0, 0, -1)], spec="t")
case("__getitem__", getitem, [floats((300, 2)), places(100, -100, 127, -128, dtype="i8")], spec="t")
case("__getitem__", getitem, [floats(X)], spec="(2 0 2)")
case("__getitem__", getitem, [floats(X)], spec=":,(0 -1),1:")
case("__getitem__", getitem, [floats(X), places(1, 0)], spec="t,(2 3)")
case("__getitem__", getitem, [floats(X)], spec="(1 -1),:,(0 2)")
for spec, shape in [("t", (3,)), ("t", (3, 4)), ("t", X), (":,t", (4,)), (":,t", (4, 5)), ("t,0", (3,)), ("t,1:", (3,)),
                    ("...,t", (5,)), ("t,...,0", (3,))]:
    case("__getitem__", getitem, [floats(X), bools(shape)], spec=spec)
case("__getitem__", getitem, [floats((3, 4)), values([False] * 3, "bool")], spec="t")
case("__getitem__", getitem, [floats(X), values([True, False, True], "bool"), places(1, 4)], spec="t,:,t")

for spec, shape in [("1", (4, 5)), ("1:,::2", (2, 2, 5)), ("...,-1", ()), ("0,1:3,-2", (2,)), (":,new,0", (3, 1, 5))]:
    case("__setitem__", setitem, [floats(X), floats(shape)], spec=spec)
for spec, shape in [("t", (2, 4, 5)), ("t", (5,)), ("t", ()), (":,t", (2, 5)), ("0,:,t", (4, 2)), ("t,1:3", (2, 2, 1)),
                    ("...,t", (1, 4, 2)), ("t,...,0", (2, 4)), ("new,t", (1, 2, 4, 5)), ("::2,t", (2, 5))]:
    case("__setitem__", setitem, [floats(X), floats(shape), places(0, -2)], spec=spec)
column = values([[0], [-1]], "i32")
for spec, shape, second in [("t,t", (5,), [[2]]), ("t,:,t", (2, 1, 1), [[1]]), ("t,t,0", (2, 3), [2, 0, 1]), ("t,1,t", (1, 3), [2, 0, 1])]:
    case("__setitem__", setitem, [floats(X), floats(shape), column, values(second, "i64")], spec=spec)
case("__setitem__", setitem, [floats((4,)), floats((4,)), places(1, 3, 1, 1)], spec="t", grad=False)
case("__setitem__", setitem, [floats((2, 3)), values(7.5), values([[True, False, True], [False, True, False]], "bool")],
     spec="t")
case("__setitem__", setitem, [floats((2, 3)), floats((3,)), values([[True, False, True], [False, True, False]], "bool")],
     spec="t")
case("__setitem__", setitem, [floats(X), floats((2, 5)), values([True, False, True], "bool")], spec="t,1")
for dtype in ["bool", "i8", "i64", "f16", "bf16", "f64"]:
    case("__setitem__", setitem, [numbers((4, 3), dtype), numbers((2, 3), dtype), places(3, 1)], spec="t")
case("__setitem__", setitem, [floats((0, 3)), floats((0, 3)), values([], "i64")], spec="t")
case("__setitem__", setitem, [floats((1,)), floats((1,)), places(-1)], spec="t")
case("__setitem__", setitem, [transposed(floats((4, 3))), floats((2, 4)), places(2, 0)], spec="t")
case("__setitem__", setitem, [floats(X), floats((2, 5))], spec="0,(1 3)")

for accumulate in [False, True]:
    for spec, indices, shape in [("t", [places(2, 0)], (2, 4)), ("t,t", [places(1, 0), places(3, -4)], (2,)),
                                 ("t,t", [values([[1], [0]], "i64"), places(3, 2, 0)], (2, 3)), ("t", [places(1)], ())]:
        case("index_put", setitem, [floats((3, 4)), floats(shape)] + indices, spec=spec, accumulate=accumulate)
for dtype in ["i32", "i64", "f16", "f64"]:
    case("index_put", setitem, [numbers((4,), dtype), numbers((5,), dtype), places(1, 3, 1, -1, 0)], spec="t",
         accumulate=True)
case("index_put", setitem, [floats((4,)), floats(()), places(1, 1, 1)], spec="t", accumulate=True)
case("index_put", setitem, [floats((2, 3)), floats((3,)), values([[True, False, True], [False, True, False]], "bool")],
     spec="t", accumulate=True)

# --- Along an axis -------------------------------------------------------------------------------------

for shape, index, dim in [((3, 4), (2, 4), 0), ((3, 4), (3, 6), 1), ((3, 4), (2, 2), -1), ((5,), (7,), 0), ((2, 3, 4), (1, 5, 2), 1),
                          ((1,), (1,), 0), ((3, 2), (0, 2), 0)]:
    count = shape[dim]
    case("gather", along(torch.gather), [floats(shape), ints(index, 0, count, "i64")], dim=dim)
    case("scatter", along(torch.scatter), [floats(shape), ints(index, 0, count, "i64"), floats(index)], dim=dim,
         grad=False)
    for reduce in ["add", "multiply"]:
        torch_name = {"add": "sum", "multiply": "prod"}[reduce]
        case("scatter", lambda x, i, s, dim, reduce, n=torch_name: torch.scatter_reduce(x, dim, i, s, n),
             [floats(shape), ints(index, 0, count, "i64"), floats(index)], dim=dim, reduce=reduce)
    full = tuple(index[dim] if k == dim % len(shape) else n for k, n in enumerate(shape))
    case("take_along_axis", torch.take_along_dim, [floats(shape), ints(full, -count, count, "i64")], dim=dim)
for dtype in ["bool", "i8", "u8", "i64", "f16", "bf16", "f64"]:
    case("gather", along(torch.gather), [numbers((3, 4), dtype), ints((2, 3), 0, 4, "i64")], dim=1)
    case("scatter", along(torch.scatter), [numbers((3, 4), dtype), values([[0, 2], [3, 1]], "i64"), numbers((2, 3), dtype)],
         dim=1, grad=False)
case("gather", longs(along(torch.gather)), [transposed(floats((3, 4))), transposed(ints((2, 4), 0, 4, "i32"))], dim=0)
case("scatter", longs(along(torch.scatter)), [floats((4, 3)), values([[0, 2, 1], [3, 1, 0]], "i32"), floats((2, 3))], dim=0)
case("scatter", along(torch.scatter),
     [floats((4, 3)), ints((2, 3), 0, 4, "i64")], dim=0, value=2.5)
case("scatter", lambda x, i, dim, value, reduce: torch.scatter_reduce(x, dim, i, torch.full(i.shape, value), "prod"),
     [floats((4, 3)), ints((2, 3), 0, 4, "i64")], dim=0, value=2.5, reduce="multiply")
case("scatter", lambda x, i, dim, value, reduce: torch.scatter_reduce(x, dim, i, torch.full(i.shape, value), "sum"),
     [transposed(floats((4, 3))), ints((2, 3), 0, 3, "i64")], dim=0, value=-1.5, reduce="add")

# Where include_self is false, torch shares with what an extreme replaces: such ties are left out.
REDUCE = ["sum", "prod", "mean", "amax", "amin"]
for reduce, include in product(REDUCE, [True, False]):
    for shape, index, dim in [((3, 4), (2, 3), 0), ((4,), (9,), 0), ((2, 3), (2, 7), -1), ((1,), (1,), 0)]:
        count = shape[dim]
        case("scatter_reduce", along(torch.scatter_reduce), [distinct(shape), ints(index, 0, count, "i64"), distinct(index, -2.5, 2.5)],
             dim=dim, reduce=reduce, include_self=include)
    case("scatter_reduce", along(torch.scatter_reduce), [values([1., 2. if include else 5., 0. if include else -4.]), places(0, 0, 1, 0, 2, 2),
         values([2., 2., 2., 0., 0., 3.])], dim=0, reduce=reduce, include_self=include)
    case("scatter_reduce", along(torch.scatter_reduce), [values([2., 0., 7.]), places(0, 0, 1, 0, 2, 2), values([0., 5., 2., 0., 0., 3.])],
         dim=0, reduce=reduce, include_self=include)
    case("scatter_reduce", along(torch.scatter_reduce), [ints((4,), 1), places(0, 0, 1, 3), ints((4,), -9, 9)],
         dim=0, reduce=reduce, include_self=include)
    case("scatter_reduce", along(torch.scatter_reduce), [values([1., float("nan"), 3.]), places(0, 0, 1, 2), values([float("inf"), 1., 2., float("nan")])],
         dim=0, reduce=reduce, include_self=include, grad=False)
    for dtype in ["f16", "f64"]:
        case("scatter_reduce", along(torch.scatter_reduce), [distinct((4,), dtype=dtype), places(0, 0, 3), distinct((3,), -2, 2, dtype)],
             dim=0, reduce=reduce, include_self=include)

for shape, index, dim in [((4, 3), [1, 3, 1], 0), ((4, 3), [2, -1], 1), ((5,), [0], 0), ((2, 3, 2), [2, 0, 1, 1], -2), ((1,), [0, 0], 0),
                          ((3, 2), [], 0)]:
    index = values(index, "i64")
    positive = index % shape[dim]
    sliced = list(shape)
    sliced[dim] = len(index)
    fixed = lambda f, at=positive: along(lambda x, dim, i, *rest, **more: f(x, dim, at, *rest, **more))
    case("index_select", fixed(torch.index_select), [floats(shape), index], dim=dim)
    case("index_add", fixed(torch.index_add), [floats(shape), index, floats(sliced)], dim=dim)
    case("index_add", fixed(torch.index_add), [floats(shape), index, floats(sliced)], dim=dim, alpha=-2.5)
    case("index_copy", fixed(torch.index_copy), [floats(shape), index, floats(sliced)], dim=dim, grad=False)
    case("index_fill", along(torch.index_fill), [floats(shape), index], dim=dim, value=1.5)
for dtype in ["i32", "u8", "f16", "f64"]:
    case("index_add", along(torch.index_add), [numbers((3, 4), dtype), places(2, 0, 2), numbers((3, 4), dtype)], dim=0)
    case("index_select", along(torch.index_select), [numbers((3, 4), dtype), places(2, 0)], dim=1)
case("index_copy", along(torch.index_copy), [floats((3, 4)), places(2, 0), floats((2, 4))], dim=0)
case("index_copy", along(torch.index_copy), [transposed(floats((3, 4))), places(2, 0), floats((4, 2))], dim=1)

for shape, index in [((3, 4), [5, -1, 7]), ((4,), [[0, 1], [-2, 3]]), ((1,), [0]), ((2, 2), [])]:
    index = values(index, "i64")
    for accumulate in [False, True]:
        case("put", torch.Tensor.put, [floats(shape), index, floats(tuple(index.shape))], accumulate=accumulate)
case("put", torch.Tensor.put, [floats((3,)), places(1, 1, 2), floats((3,))], accumulate=True)
for dim in [0, 1, -1]:
    case("take_along_axis", torch.take_along_dim, [floats((3, 4)), ints((1, 2) if dim else (2, 1), -3, 3, "i64")], dim=dim)
    case("put_along_axis", put_along, [floats((3, 4)), values([[0], [-1]] if dim == 0 else [[1, -1]], "i64"), floats((1, 1))],
         axis=dim)
case("put_along_axis", lambda x, i, v, axis: torch.scatter(x, axis, i, v), [floats((5,)), places(1, 3), floats((2,))], axis=0)
case("put_along_axis", lambda x, i, v, axis: torch.scatter(x, axis, i, v), [transposed(floats((2, 3))), ints((1, 2), 0, 3, "i64"), floats((1, 2))], axis=0)

for shape, index, axis in [((3, 4), [2, 0, 2], 0), ((3, 4), [[1, 3], [0, 0]], 1), ((5,), 3, 0), ((2, 3, 2), [2, 0], 1), ((1,), [0, 0], 0),
                           ((3, 2), [], 0)]:
    case("take", lambda x, i, axis: torch.index_select(x, axis, i.flatten()).reshape(
        x.shape[:axis] + i.shape + x.shape[axis + 1:]), [floats(shape), values(index, "i64")], axis=axis)
for shape, classes in [((4,), 5), ((2, 3), 4), ((), 3), ((1,), 1), ((0,), 3), ((5,), -1), ((2, 2), -1)]:
    case("one_hot", torch.nn.functional.one_hot, [ints(shape, 0, max(1, classes if classes > 0 else 4), "i64")], num_classes=classes, out="i32")
case("one_hot", longs(torch.nn.functional.one_hot), [transposed(ints((2, 3), 0, 4, "i8"))], num_classes=4, out="i32")

# --- By conditions -------------------------------------------------------------------------------------


def resized(x, size, fill):
    x = x.detach()
    return torch.cat([x, torch.full((max(0, size - len(x)),) + x.shape[1:], fill, dtype=x.dtype)])[:size]


for shape, mask in [((2, 3), (2, 3)), ((4,), (4,)), ((2, 3), (3,)), ((3,), (2, 1)), ((1,), (1,)), ((0, 3), (0, 3)), ((), (3,))]:
    case("masked_select", torch.masked_select, [floats(shape), bools(mask)])
    case("masked_fill", torch.masked_fill, [floats(shape), bools(mask)] if mask == shape or mask == (3,) and shape == (2, 3) else
         [floats(shape), bools(shape)], value=-1.5)
    for size, fill in [(2, 0), (5, 7), (0, 1)]:
        case("masked_select", lambda x, m, size, fill_value: resized(torch.masked_select(x, m), size, fill_value),
             [floats(shape), bools(mask)], size=size, fill_value=fill)
for dtype in ["bool", "i8", "u8", "i64", "f16", "bf16", "f64"]:
    case("masked_select", torch.masked_select, [numbers((2, 5), dtype), bools((2, 5))])
    if dtype != "bool":
        case("masked_fill", torch.masked_fill, [numbers((2, 5), dtype), bools((5,))], value=3)
        case("masked_scatter", torch.masked_scatter, [numbers((2, 5), dtype), bools((5,)), numbers((12,), dtype)])
        case("nonzero", torch.nonzero, [ints((3, 4), -1, 2, dtype)] if dtype in INTS else [ints((3, 4), -1, 2).to(DTYPES[dtype])], out="i32")
case("masked_select", torch.masked_select, [transposed(floats((2, 3))), transposed(bools((2, 3)))])
case("masked_fill", torch.masked_fill, [transposed(floats((2, 3))), bools((2,))], value=float("-inf"))
case("masked_fill", torch.masked_fill, [ints((2, 3)), bools((2, 3))], value=2)
case("masked_scatter", torch.masked_scatter, [floats((2, 3)), bools((2, 3)), floats((6,))])
case("masked_scatter", torch.masked_scatter, [transposed(floats((2, 3))), bools((3, 2)), transposed(floats((2, 4)))])
case("masked_scatter", torch.masked_scatter, [floats((1,)), values([True], "bool"), floats((2,))])
case("masked_scatter", torch.masked_scatter, [floats((0,)), bools((0,)), floats((2,))])

for shape in [(2, 3), (5,), (2, 1, 3), (1,), (0, 2), ()]:
    case("nonzero", torch.nonzero, [ints(shape, 0, 2)], out="i32")
    case("argwhere", torch.argwhere, [bools(shape)], out="i32")
    if shape:
        case("where_places", lambda x: list(torch.where(x)), [bools(shape)], out="i32")
    case("count_nonzero", torch.count_nonzero, [ints(shape, -1, 2)])
    for size, fill in [(3, 0), (2, -1), (7, 9)]:
        case("nonzero", lambda x, size, fill_value: resized(torch.nonzero(x), size, fill_value), [ints(shape, 0, 2)],
             size=size, fill_value=fill, out="i32")
case("nonzero", torch.nonzero, [values([0., -0., float("nan"), 1e-40, 2.])], out="i32")
case("nonzero", torch.nonzero, [transposed(ints((3, 4), 0, 2))], out="i32")
case("argwhere", torch.argwhere, [floats((2, 2))], out="i32")
case("where_places", lambda x: list(torch.where(x)), [transposed(ints((3, 4), 0, 2))], out="i32")
case("count_nonzero", torch.count_nonzero, [values([0., -0., float("nan"), 2.])])
case("count_nonzero", torch.count_nonzero, [transposed(bools((3, 4)))], dim=0)
case("count_nonzero", torch.count_nonzero, [ints((2, 3, 2), 0, 2, "u8")], dim=[0, 2])

# Infinities only where they are read; numbers, lists and tensors side by side.
case("__getitem__", getitem, [values([1.0, float("inf"), -float("inf"), float("nan")]), places(0, 1, 3, 0, 2)], spec="t")
case("__getitem__", getitem, [floats(X), places(1, 0), places(2, 4)], spec="t,1,new,t")
case("__getitem__", getitem, [floats(X), places(1, 0, 3)], spec="(0 2 1),t")
