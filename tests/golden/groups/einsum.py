"""Sums of products over axes by their labels, and matrix products by the names that say their shapes."""

import torch

from cases import *


def einsum(*operands, formula):
    return torch.einsum(formula, *operands)


FORMULAS = [
    ("ij,jk->ik", [(2, 3), (3, 4)]),
    ("ij,jk", [(2, 3), (3, 4)]),
    ("bij,bjk->bik", [(2, 2, 3), (2, 3, 2)]),
    ("ij->ji", [(2, 3)]),
    ("ba", [(2, 3)]),
    ("ij->", [(2, 3)]),
    ("ij->j", [(2, 3)]),
    ("ii->i", [(3, 3)]),
    ("ii", [(3, 3)]),
    ("bii->b", [(2, 3, 3)]),
    ("iji->j", [(2, 3, 2)]),
    ("iii->i", [(2, 2, 2)]),
    ("i,i->", [(3,), (3,)]),
    ("i,j->ij", [(2,), (3,)]),
    ("i,i->i", [(3,), (3,)]),
    (",i->i", [(), (3,)]),
    ("->", [()]),
    ("...ij,...jk->...ik", [(2, 2, 3), (3, 2)]),
    ("...ij,...jk", [(2, 1, 2, 3), (3, 3, 2)]),
    ("i...->...", [(2, 3, 2)]),
    ("...i->i...", [(2, 3, 4)]),
    ("i...,i...->...", [(2, 3), (2, 1)]),
    ("ij , jk -> i k", [(2, 3), (3, 1)]),
    ("ij,kl->", [(2, 2), (3, 2)]),
    ("ij,ij->j", [(2, 3), (2, 3)]),
    ("Ab,bC->AC", [(2, 3), (3, 2)]),
    ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 2)]),
    ("ij,jk,kl,lm->im", [(2, 3), (3, 1), (1, 4), (4, 2)]),
    ("a,ab,bc,c->", [(2,), (2, 3), (3, 2), (2,)]),
    ("ijk,ilm,njm,nlk,abc->", [(2, 2, 2)] * 4 + [(1, 2, 1)]),
    ("bhqd,bhkd->bhqk", [(1, 2, 3, 2), (1, 2, 2, 2)]),
    ("ij,j->ij", [(2, 1), (3,)]),
    ("ij,jk->ik", [(2, 0), (0, 3)]),
    ("ij,jk->ik", [(0, 2), (2, 3)]),
    ("i,ij,j->", [(1,), (1, 1), (1,)]),
    ("ai,bi,ci,di,ei->abcde", [(2, 3), (1, 3), (2, 3), (1, 3), (2, 3)]),
    ("ab,bc,cd,de,ef,fg,gh,hi,ij->aj", [(2, 2)] * 9),
]
for formula, shapes in FORMULAS:
    case("einsum", einsum, [floats(shape, -1, 1) for shape in shapes], formula=formula, atol=1e-5)
for dtype in ["f64", "f16", "bf16"]:
    for formula, shapes in FORMULAS[:6] + FORMULAS[12:14]:
        case("einsum", einsum, [floats(shape, -1, 1, dtype) for shape in shapes], formula=formula)
for formula, shapes in FORMULAS[:4] + FORMULAS[7:9] + FORMULAS[26:27]:
    case("einsum", einsum, [ints(shape, dtype="i64") for shape in shapes], formula=formula)
    case("einsum", einsum, [ints(shape, dtype="i32") for shape in shapes], formula=formula, out="i32")
case("einsum", einsum, [transposed(floats((3, 2))), strided(floats((3, 8)), 1, 2)], formula="ij,jk->ki")
case("einsum", einsum, [expanded(floats((1, 3)), 3, 3), flipped(floats((3, 2)), 0)], formula="ii,ij->ij")
case(
    "einsum",
    lambda a, b, formula, dtype: torch.einsum(formula, a.float(), b.float()),
    [floats((2, 3), dtype="f16"), floats((3, 2), dtype="f16")],
    formula="ij,jk->ik",
    dtype="f32",
)
case("einsum", lambda a, b, formula: einsum(a.float(), b, formula=formula), [ints((2, 3)), floats((3, 2))], formula="ij,jk->ik")

# --- By name ---------------------------------------------------------------------------------------------------

for name, rows in [
    ("mm", [((2, 3), (3, 4)), ((1, 1), (1, 1)), ((0, 3), (3, 2)), ((2, 0), (0, 3))]),
    ("bmm", [((2, 2, 3), (2, 3, 4)), ((1, 1, 1), (1, 1, 1)), ((0, 2, 3), (0, 3, 2))]),
    ("mv", [((2, 3), (3,)), ((1, 1), (1,)), ((0, 3), (3,)), ((2, 0), (0,))]),
    ("inner", [((3,), (3,)), ((2, 3), (4, 3)), ((2, 3), (3,)), ((), (2,)), ((2, 2, 3), (2, 3))]),
    ("__rmatmul__", [((2, 3), (4, 2)), ((3,), (2, 3)), ((2, 2, 3), (2, 2)), ((1, 1), (1, 1)), ((0, 2), (3, 0))]),
]:
    for a, b in rows:
        for dtype in ["f32", "f64"]:
            function = (lambda x, y: torch.matmul(y, x)) if name == "__rmatmul__" else getattr(torch, name)
            case(name, function, [floats(a, dtype=dtype), floats(b, dtype=dtype)], atol=1e-5)
case("mm", torch.mm, [transposed(floats((3, 2))), floats((3, 2), dtype="f32")])
case("mm", torch.mm, [ints((2, 3), dtype="i64"), ints((3, 2), dtype="i64")])
case("bmm", torch.bmm, [transposed(floats((2, 3, 2))), floats((2, 3, 2))])
case("mv", torch.mv, [transposed(floats((3, 2))), strided(floats((6,)), 2)])
case("__rmatmul__", lambda x, y: y @ x, [transposed(floats((3, 2))), floats((3, 2))])


def addmm(x, a, b, beta=1, alpha=1):
    return torch.addmm(x, a, b, beta=beta, alpha=alpha)


def addmv(x, a, b, beta=1, alpha=1):
    return torch.addmv(x, a, b, beta=beta, alpha=alpha)


def baddbmm(x, a, b, beta=1, alpha=1):
    return torch.baddbmm(x, a, b, beta=beta, alpha=alpha)


for name, function, rows in [
    ("addmm", addmm, [((2, 4), (2, 3), (3, 4)), ((4,), (2, 3), (3, 4)), ((1, 1), (1, 1), (1, 1)), ((), (2, 3), (3, 2))]),
    ("addmv", addmv, [((2,), (2, 3), (3,)), ((1,), (2, 3), (3,)), ((), (1, 1), (1,))]),
    ("baddbmm", baddbmm, [((2, 2, 4), (2, 2, 3), (2, 3, 4)), ((4,), (2, 2, 3), (2, 3, 4)), ((1, 1, 1),) * 3]),
]:
    for shapes in rows:
        case(name, function, [floats(shape) for shape in shapes], atol=1e-5)
        case(name, function, [floats(shape, dtype="f64") for shape in shapes], beta=0.5, alpha=-2.0)
    case(name, function, [ints(shape, dtype="i64") for shape in rows[0]], beta=2, alpha=3)

for a, b, axes in [
    ((2, 3), (3, 4), 1),
    ((2, 3, 4), (3, 4, 2), 2),
    ((2,), (3,), 0),
    ((2, 3), (2, 3), 2),
    ((2, 3, 4), (4, 2), [[0, 2], [1, 0]]),
    ((2, 3), (4, 3), [[-1], [-1]]),
    ((1,), (1,), 1),
    ((2, 0), (0, 3), 1),
]:
    case("tensordot", lambda x, y, dims: torch.tensordot(x, y, dims), [floats(a), floats(b)], dims=axes, atol=1e-5)
case("tensordot", lambda x, y, dims: torch.tensordot(x, y, dims), [transposed(floats((3, 2))), floats((3, 2))], dims=1)


# What is assigned to, and all of what it is a part of.
for a, b in [((2, 2), (2, 2)), ((3, 2), (2, 2)), ((1, 1), (1, 1)), ((2, 3, 3), (3, 3)), ((0, 2), (2, 2))]:
    case("__imatmul__", lambda x, y: (x @ y, x @ y), [floats(a), floats(b)], grad=False, atol=1e-5)
case("__imatmul__", lambda x, y: (x @ y, (x @ y).T), [transposed(floats((2, 2))), floats((2, 2))], grad=False)

# --- Sums and products of several ------------------------------------------------------------------------------

for shapes in [[(2, 3), (2, 3)], [(2, 3), (3,), (2, 1)], [(3,)], [(), ()], [(0, 2), (2,)]]:
    case("usum", lambda *xs: sum(xs[1:], xs[0]), [floats(shape) for shape in shapes])
    case("uprod", lambda *xs: torch.stack(torch.broadcast_tensors(*xs)).prod(0), [floats(shape, 0.5, 2) for shape in shapes])
case("usum", lambda *xs: sum(xs[1:], xs[0]), [ints((3,), dtype="i16"), ints((3,), dtype="i16")])
case("uprod", lambda x, y: x * y, [ints((3,), dtype="i16"), floats((3,))])
