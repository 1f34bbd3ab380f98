"""Linear algebra: factorisations, what they solve, norms and products. Factors whose signs are free are fixed
on both sides: the sum of each vector, weighted with 1, 2, 3 ..., is positive."""

import math

import torch

from cases import *

linalg = torch.linalg


def loose(dtype):
    """Factorisations in f32 differ in some of the last bits."""
    return {"rtol": 2e-4, "atol": 2e-5} if dtype == "f32" else {"rtol": 1e-8, "atol": 1e-9}


def regular(shape, dtype="f64"):
    """Square matrices far from singular ones, with eigenvalues that are apart."""
    n = shape[-1]
    ramp = torch.diag(torch.arange(1, n + 1, dtype=DTYPES[dtype]) * 2)
    return ramp + floats(shape, low=-1, high=1, dtype=dtype)


def signs(vectors):
    """Of each column."""
    weights = torch.arange(1, vectors.shape[-2] + 1, dtype=vectors.dtype).unsqueeze(-1)
    return torch.where((vectors * weights).sum(-2, keepdim=True) < 0, -1, 1).to(vectors.dtype)


SQUARE = [((3, 3), "f64"), ((1, 1), "f32"), ((2, 2, 2), "f32"), ((0, 0), "f64"), ((5, 5), "f64"), ((2, 0, 3, 3), "f64")]
ANY = [((3, 3), "f64"), ((4, 2), "f64"), ((2, 3), "f32"), ((1, 1), "f32"), ((2, 3, 2), "f64"), ((1, 4), "f64")]

# --- Methods of Tensor --------------------------------------------------------------------------------

for shape, dtype in ANY:
    case("qr", torch.linalg.qr, [floats(shape, dtype=dtype)], **loose(dtype))
case("qr", torch.linalg.qr, [transposed(floats((2, 3), dtype="f64"))])
case("qr_complete", lambda x: linalg.qr(x, "complete"), [floats((4, 2), dtype="f64")], grad=False)
case("qr_complete", lambda x: linalg.qr(x, "complete"), [floats((2, 3), dtype="f64")])


def svd(x, full_matrices):
    u, s, vh = linalg.svd(x, full_matrices=full_matrices)
    k = s.shape[-1]
    fixed = signs(u[..., :k].detach())
    return u[..., :k] * fixed, s, vh[..., :k, :] * fixed.mT


for shape, dtype in ANY:
    case("svd", svd, [floats(shape, dtype=dtype)], full_matrices=False, **loose(dtype))
for shape in [(3, 2), (2, 3)]:
    case("svd", svd, [floats(shape, dtype="f64")], full_matrices=True, grad=False)
case("svd", svd, [transposed(floats((2, 3), dtype="f64"))], full_matrices=False)


def newton_schulz(x, steps, p0, p1, p2, eps):
    params = [p0, p1, p2]
    tall = x.shape[-2] > x.shape[-1]
    x = x / (x.square().sum((-2, -1), keepdim=True).sqrt() + eps)
    x = x.mT if tall else x
    for _ in range(steps):
        square = x @ x.mT
        x = sum(p * torch.linalg.matrix_power(square, i) @ x for i, p in enumerate(params))
    return x.mT if tall else x


for (shape, dtype), steps in zip(ANY, [0, 1, 2, 3, 5, 4]):
    for p0, p1, p2 in [(2.0, -1.5, 0.5), (3.4445, -4.775, 2.0315)]:
        case("newton_schulz", newton_schulz, [floats(shape, dtype=dtype)], steps=steps, p0=p0, p1=p1, p2=p2, eps=1e-7,
             **loose(dtype))

# --- Factorisations and what they solve ---------------------------------------------------------------

for shape, dtype in SQUARE:
    a, b = regular(shape, dtype), floats(shape[:-1] + (2,), dtype=dtype)
    small = loose(dtype)
    case("cholesky", lambda x, upper: linalg.cholesky(x @ x.mT, upper=upper), [a], upper=shape[-1] == 3, **small)
    case("inv", linalg.inv, [a], **small)
    case("det", linalg.det, [a], **small)
    case("slogdet", lambda x: tuple(linalg.slogdet(x)), [a], **small)
    case("solve", linalg.solve, [a, b], **small)
    case("solve_triangular", linalg.solve_triangular, [a, b], upper=True, **small)
    case("solve_triangular", linalg.solve_triangular, [a, b], upper=False, unitriangular=True, **small)
    case("cholesky_solve", lambda b, x: torch.cholesky_solve(b, linalg.cholesky(x @ x.mT)), [b, a], **small)
    case("eigvalsh", lambda x: linalg.eigvalsh(x + x.mT), [a], **small)
    case("matrix_exp", linalg.matrix_exp, [floats(shape, dtype=dtype)], **small)
    for n in [0, 1, 3, 6, -2]:
        case("matrix_power", lambda x, n: linalg.matrix_power(x if n >= 0 else linalg.inv(x), abs(n)), [a * 0.25], n=n, rtol=1e-3, atol=1e-5)
case("inv", linalg.inv, [transposed(regular((3, 3)))])
case("det", linalg.det, [values([[1, 2, 3], [4, 5, 6], [7, 8, 10]], "f64")])
case("det", linalg.det, [values([[0, 1, 0], [0, 0, 1], [1, 0, 0]], "f64")])
case("det", linalg.det, [values([[1, 2], [2, 4]], "f64")], grad=False)
case("slogdet", lambda x: tuple(linalg.slogdet(x)), [values([[0, 1], [2, 0]], "f64")])
case("slogdet", lambda x: tuple(linalg.slogdet(x)), [values([[1, 2], [2, 4]], "f64")], grad=False)
case("solve", linalg.solve, [regular((3, 3)), floats((3,), dtype="f64")])
case("solve", linalg.solve, [regular((2, 3, 3)), floats((2, 3), dtype="f64")])
case("solve", linalg.solve, [regular((2, 1, 3, 3)), floats((4, 3, 2), dtype="f64")])
case("solve", linalg.solve, [regular((3, 3)), floats((2, 3), dtype="f64")], left=False)
case("solve_triangular", linalg.solve_triangular, [regular((3, 3)), floats((2, 3), dtype="f64")], upper=True, left=False)
case("matrix_exp", linalg.matrix_exp, [floats((3, 3), low=-9, high=9, dtype="f64")], rtol=1e-7)
case("matrix_exp", linalg.matrix_exp, [values([[0, 30], [-30, 0]], "f64")])


def eigh(x):
    values, vectors = linalg.eigh(x + x.mT)
    return values, vectors * signs(vectors.detach())


for shape, dtype in SQUARE[:3] + SQUARE[4:]:
    case("eigh", eigh, [regular(shape, dtype)], **loose(dtype))
case("eigh", eigh, [transposed(regular((3, 3)))])
for shape, dtype in ANY:
    a = floats(shape, dtype=dtype)
    small = loose(dtype)
    case("svdvals", linalg.svdvals, [a], **small)
    case("pinv", linalg.pinv, [a], **small)
    case("matrix_rank", linalg.matrix_rank, [a])
    case("lu", lambda x: tuple(linalg.lu(x)), [a[..., :1, :1]], grad=False)
for shape, dtype in SQUARE[:3] + SQUARE[4:5]:
    case("lu", lambda x: tuple(linalg.lu(x)), [floats(shape, dtype=dtype)], grad=False, **loose(dtype))
for shape, k in [((3, 2), 2), ((4, 3), 2), ((3, 3), 3), ((2, 4, 2), 2), ((1, 1), 1)]:
    a, tau = torch.geqrf(floats(shape, dtype="f64"))
    case("householder_product", linalg.householder_product, [a, tau[..., :k]], grad=False)
low = values([[1, 2, 3], [2, 4, 6], [1, 0, 1], [0, 2, 2]], "f64")
case("pinv", linalg.pinv, [low])
case("pinv", lambda x, limit: linalg.pinv(x, rtol=limit), [low], limit=0.5, grad=False)
case("matrix_rank", linalg.matrix_rank, [low])
case("matrix_rank", lambda x, least: linalg.matrix_rank(x, atol=least), [low], least=100.0)
for a, b in [((4, 2), (4, 3)), ((3, 3), (3, 1)), ((2, 3), (2, 2)), ((2, 4, 2), (2, 4, 1)), ((1, 1), (1, 1))]:
    case("lstsq", lambda a, b: linalg.lstsq(a, b).solution, [floats(a, dtype="f64"), floats(b, dtype="f64")])

# --- Norms ------------------------------------------------------------------------------------------------

INF = math.inf
for ord, (shape, dim) in product([2.0, 1.0, 3.0, 0.5, INF, -INF, 0.0, -1.0], [((2, 3), 1), ((4,), 0), ((1,), 0)]):
    case("vector_norm", linalg.vector_norm, [distinct(shape, dtype="f64")], ord=ord, dim=dim, keepdim=ord == 1.0)
case("vector_norm", linalg.vector_norm, [transposed(floats((2, 3), dtype="f64"))])
for ord, (shape, dim) in product([1.0, -1.0, 2.0, -2.0, INF, -INF, "fro", "nuc"], [((2, 3), [0, 1]), ((2, 3, 2), [2, 0])]):
    case("matrix_norm", linalg.matrix_norm, [distinct(shape, dtype="f64")], ord=ord, dim=dim, keepdim=ord == 1.0)
case("norm", linalg.norm, [floats((2, 3))])
case("norm", linalg.norm, [floats((), dtype="f64")])
case("norm", linalg.norm, [floats((2, 3))], ord=1.0, dim=1)
case("norm", linalg.norm, [distinct((2, 3), dtype="f64")], ord=1.0)
case("norm", linalg.norm, [floats((2, 3), dtype="f64")], ord="nuc", dim=[0, 1])
for ord in [2.0, -2.0]:
    case("cond", linalg.cond, [regular((3, 3))], p=ord)
for ord in [1.0, INF, -1.0, "fro", "nuc"]:  # linalg.cond has no gradient there
    case("cond", lambda x, p: linalg.norm(x, p) * linalg.norm(linalg.inv(x), p), [regular((3, 3))], p=ord)
case("cond", linalg.cond, [regular((2, 1, 1), "f32")], p=1.0, grad=False)

# --- Products ---------------------------------------------------------------------------------------------

for shapes in [[(2, 3), (3, 4)], [(2, 3), (3, 4), (4, 1)], [(3,), (3, 2), (2, 3), (3, 2)], [(2, 3), (3, 2), (2,)], [(2,), (2, 1), (1,)], [(2, 0), (0, 3)]]:
    case("multi_dot", lambda *x: linalg.multi_dot(x), [floats(shape, dtype="f64") for shape in shapes])
for a, b, axis in [((3,), (3,), -1), ((2, 3), (2, 3), -1), ((3, 2), (3, 2), 0), ((2, 3), (1, 3), -1), ((3, 1), (3, 4), 0)]:
    case("cross", linalg.cross, [floats(a), floats(b)], dim=axis)
    case("vecdot", linalg.vecdot, [floats(a, dtype="f64"), floats(b, dtype="f64")], dim=axis)
case("cross", linalg.cross, [transposed(ints((3, 2))), ints((2, 3))])
for a, b in [(2, 3), (1, 1), (0, 2), (3, 1), (2, 2)]:
    case("outer", torch.outer, [floats(a), floats(b)])
for a, b in [((2, 3), (3, 2)), ((2,), (3,)), ((2,), (2, 3)), ((1, 2, 2), (2, 1)), ((0, 2), (2, 2))]:
    case("kron", torch.kron, [floats(a), floats(b)])
for shape in [(3, 3), (2, 3), (1, 1), (4, 2), (0, 0)]:
    case("trace", torch.trace, [floats(shape)])
for shape, n in [((3,), None), ((2, 3), 2), ((1,), 4), ((3,), 3), ((4,), 5)]:
    case("vander", lambda x, N: linalg.vander(x, N=N), [floats(shape)], N=n)
