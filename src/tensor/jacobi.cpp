// Eigenvalues and singular values, by rotations of pairs of columns.

#include <bit>

#include <fmt/format.h>
#include <weft/error.h>

#include "matrix.h"
#include "ops.h"
#include "order.h"
#include "places.h"

namespace weft {
namespace {

// Makes columns j and n - 1 - j orthogonal, for all j at once, in the first `height` rows; those below
// just follow. Then the columns move on by half of their (odd) number, and n such rounds pair each with each, in an
// order that is as good as row by row: what is nearly diagonal converges quadratically.
Tensor jacobi_round(const Tensor& s, std::int64_t height) {
  const std::int64_t n = s.size(-1);
  const Tensor x = rows(s, 0, height), mirror = x.flip(-1);
  const Tensor square = x.square().sum(-2, true), product = (x * mirror).sum(-2, true);
  const Tensor place = Tensor::arange(n, {.device = s.device()});
  const Tensor still = (product == 0) | (place == n / 2);
  const Tensor zeta = (square.flip(-1) - square) / (still.where(1, product) * 2);
  const Tensor rising = (zeta > 0) | ((zeta == 0) & (place < n / 2));
  const Tensor size = (zeta.abs() + (zeta.square() + 1).sqrt()).reciprocal();
  const Tensor tangent = still.where(0, rising.where(size, -size));
  const Tensor cosine = (tangent.square() + 1).rsqrt();
  return (s * cosine - s.flip(-1) * (cosine * tangent)).roll(-(n + 1) / 2, -1).contiguous();
}

// The product of the rotations of some sweeps, each of which pairs every column with every other.
Tensor rotations(const Tensor& x, std::int64_t sweeps) {
  const std::int64_t height = x.size(-2), n = x.size(-1), odd = n | 1;
  const Tensor both = Tensor::cat({x, x.zeros_like() + identity(x)}, -2);
  Tensor::Bounds padding(static_cast<std::size_t>(x.ndim()), {0, 0});
  padding.back().second = odd - n;
  Tensor state = both.pad(padding).contiguous();
  for (std::int64_t round = 0; round < sweeps * odd; ++round) state = jacobi_round(state, height);
  return columns(rows(state, height, height + n), 0, n).contiguous();
}

// Once more orthogonal, of what nearly is.
Tensor straightened(const Tensor& v) {
  return (v * 1.5 - v.matmul(turned(v).matmul(v)) * 0.5).contiguous();
}

// To first order, the rotation that makes h = V^T x^T x V diagonal is R_ij = h_ij / (h_jj - h_ii). What is
// left, of size e, becomes e^2 between values whose distance is large against e. The others wait.
Tensor refined(const Tensor& x, const Tensor& v) {
  const Tensor w = x.matmul(v), h = turned(w).matmul(w);
  const Tensor d = diagonal_of(h), gap = d.unsqueeze(-2) - d.unsqueeze(-1);
  const Tensor left = (h - diagonal_matrix(d)).abs().max({-2, -1}, true).contiguous();
  const Tensor apart = gap.abs() > left * 100;
  const Tensor r = apart.where(h / apart.where(gap, 1), 0).contiguous();
  return straightened(v.matmul(identity(v) + r + r.matmul(r) * 0.5));
}

// Orthogonal V such that the columns of x V are orthogonal, for square x. Columns of nearly equal length
// disturb each other's rotations, and convergence is slow while they have something in common with the
// rest. So these are parted in between, and the last sweeps only rotate neighbours.
Tensor orthogonaliser(const Tensor& x) {
  Tensor v = rotations(x, 3 + std::bit_width(static_cast<std::uint64_t>(x.size(-1))));
  for (int i = 0; i < 2; ++i) v = refined(x, v);
  return straightened(v.matmul(rotations(x.matmul(v), 4)));
}

Tensor in_order(const Tensor& columns, const Tensor& order) {
  return gathered(columns, -1, order.unsqueeze(-2).expand_as(columns));
}

linalg::Eigh eigh_of(const Tensor& symmetric) {
  const Tensor scale = magnitude(symmetric), a = (symmetric / scale).contiguous();
  // With twice a bound of the eigenvalues added to them, they are all positive: singular values.
  const Tensor bound = a.abs().sum(-1, true).max(-2, true) * 2;
  const Tensor vectors = orthogonaliser((a + identity(a) * bound).contiguous());
  const Tensor values = (vectors * a.matmul(vectors)).sum(-2).contiguous();
  const Tensor order = order_of(values, false, values.size(-1)).contiguous();
  return {gathered(values, -1, order) * scale.squeeze(-1), in_order(vectors, order)};
}

// Of at least as many rows as columns. Two QR factorisations leave a triangle that is near to diagonal;
// what is made of it is orthogonal up to lengths, and the QR of that is U even where lengths are 0.
linalg::Svd tall_svd(const Tensor& matrix, bool full) {
  const std::int64_t m = matrix.size(-2), n = matrix.size(-1);
  const Tensor scale = magnitude(matrix), a = (matrix / scale).contiguous();
  const linalg::Qr first = householder_qr(a, full),
                   second = householder_qr(turned(rows(first.r, 0, n)), false);
  const Tensor x = turned(second.r).contiguous();
  const Tensor v = orthogonaliser(x), w = x.matmul(v);
  const Tensor s = w.square().sum(-2).sqrt().contiguous();
  const Tensor order = order_of(s, true, n).contiguous();
  const linalg::Qr last = householder_qr(in_order(w, order), false);
  const Tensor sign = (diagonal_of(last.r) < 0).where(-1, s.ones_like()).unsqueeze(-2);
  const Tensor u = columns(first.q, 0, n).matmul(last.q * sign);
  return {m > n && full ? Tensor::cat({u, columns(first.q, n, m)}, -1) : u,
          gathered(s, -1, order) * scale.squeeze(-1), turned(second.q.matmul(in_order(v, order)))};
}

linalg::Svd svd_of(const Tensor& a, bool full) {
  if (a.size(-2) >= a.size(-1)) return tall_svd(a, full);
  const linalg::Svd other = tall_svd(turned(a), full);
  return {turned(other.vh), other.s, turned(other.u)};
}

// 1 / (x_j - x_i), and 0 where these are equal.
Tensor inverse_gaps(const Tensor& x) {
  const Tensor gap = x.unsqueeze(-2) - x.unsqueeze(-1), equal = gap == 0;
  return equal.where(0, equal.where(1, gap).reciprocal());
}

Tensor eigh_gradient(const Tensor& values, const Tensor& v, const Tensor& values_gradient,
                     const Tensor& v_gradient) {
  const Tensor inner =
      turned(v).matmul(v_gradient) * inverse_gaps(values) + diagonal_matrix(values_gradient);
  const Tensor gradient = v.matmul(inner).matmul(turned(v));
  return (gradient + turned(gradient)) * 0.5;
}

// U [(skew(U^T gU) F) S + S (skew(V^T gV) F) + gS] V^T, F_ij = 1 / (s_j^2 - s_i^2), and what lies outside of the spaces
// of U and V.
Tensor svd_gradient(const linalg::Svd& f, const linalg::Svd& g) {
  const Tensor v = turned(f.vh), v_gradient = turned(g.vh), ut = turned(f.u);
  const Tensor gaps = inverse_gaps(f.s.square()), s = f.s.unsqueeze(-2);
  const Tensor inverse = (s == 0).where(0, (s == 0).where(1, s).reciprocal());
  const auto skew = [&](const Tensor& x) { return (x - turned(x)) * gaps; };
  const Tensor of_u = ut.matmul(g.u), of_v = f.vh.matmul(v_gradient);
  const Tensor inner = skew(of_u) * s + turned(s) * skew(of_v) + diagonal_matrix(g.s);
  const Tensor left = (g.u - f.u.matmul(of_u)) * inverse;
  const Tensor right = turned((v_gradient - v.matmul(of_v)) * inverse);
  return (f.u.matmul(inner) + left).matmul(f.vh) + f.u.matmul(right);
}

}  // namespace

namespace linalg {

Eigh eigh(const Tensor& a, bool upper) {
  const Called called;
  const Tensor matrix = square_of("eigh", a), lower = upper ? turned(matrix) : matrix;
  const std::int64_t n = a.size(-1);
  if (n == 0) return {a.sum(-1), a};
  const Trailing shapes{{n}, {n, n}};
  const auto forward = [shapes](const std::vector<Tensor>& in) {
    const Eigh found = eigh_of(in[0]);
    return packed({found.values, found.vectors}, shapes);
  };
  const auto backward = [shapes](const Tensor& gradient, const std::vector<Tensor>&,
                                 const Tensor& output) {
    const auto found = unpacked(output, shapes), gradients = unpacked(gradient, shapes);
    return std::vector<Tensor>{eigh_gradient(found[0], found[1], gradients[0], gradients[1])};
  };
  const Tensor symmetric = lower.tril() + turned(lower.tril(-1));
  const auto parts = unpacked(Tensor::custom({symmetric}, forward, backward), shapes);
  const DType own = float_like(a.dtype());
  return {parts[0].cast(own), parts[1].cast(own)};
}

Tensor eigvalsh(const Tensor& a, bool upper) { return Called(), eigh(a, upper).values; }

Svd svd(const Tensor& a, bool full_matrices) {
  const Called called;
  const Tensor matrix = matrix_of("svd", a);
  const std::int64_t m = a.size(-2), n = a.size(-1), k = std::min(m, n);
  const std::int64_t left = full_matrices ? m : k, right = full_matrices ? n : k;
  const DType own = float_like(a.dtype());
  if (k == 0) {
    const Tensor zero = matrix.sum({-2, -1}, true);  // in the batch's shape
    return {(zero + identity(matrix, m, left)).cast(own), a.sum(m == 0 ? -1 : -2).cast(own),
            (zero + identity(matrix, right, n)).cast(own)};
  }
  const Trailing shapes{{m, left}, {k}, {right, n}};
  const auto forward = [shapes, full_matrices](const std::vector<Tensor>& in) {
    const Svd found = svd_of(in[0], full_matrices);
    return packed({found.u, found.s, found.vh}, shapes);
  };
  const auto backward = [shapes, k](const Tensor& gradient, const std::vector<Tensor>&,
                                    const Tensor& output) {
    const auto reduced = [&](const Tensor& whole) {
      const auto parts = unpacked(whole, shapes);
      return Svd{columns(parts[0], 0, k), parts[1], rows(parts[2], 0, k)};
    };
    return std::vector<Tensor>{svd_gradient(reduced(output), reduced(gradient))};
  };
  const auto parts = unpacked(Tensor::custom({matrix}, forward, backward), shapes);
  return {parts[0].cast(own), parts[1].cast(own), parts[2].cast(own)};
}

Tensor svdvals(const Tensor& a) { return Called(), svd(a, false).s; }

}  // namespace linalg
}  // namespace weft
