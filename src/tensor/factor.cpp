// Cholesky, LU and QR. Each step leaves a matrix in which its row or column has moved behind the others,
// so that the next step is the same graph again: it is compiled once, and runs as many times as needed.

#include <algorithm>

#include <fmt/format.h>
#include <weft/error.h>

#include "matrix.h"
#include "ops.h"

namespace weft {
namespace {

// Row and column 0 are the pivot's. Those that are done lie behind, L in them and zeros above it: for
// these there is nothing to subtract, and what is left of the pivot's row becomes zeros as well, being
// the column over again.
Tensor cholesky_step(const Tensor& s) {
  const Tensor column = columns(s, 0, 1), scaled = column / rows(column, 0, 1).sqrt();
  const Tensor rest = is_row(s, 0).where(s - turned(column), s - scaled * turned(scaled));
  return is_column(s, 0).where(scaled, rest).roll(-1, -1).roll(-1, -2).contiguous();
}

Tensor symmetric_from_lower(const Tensor& a) { return a.tril() + turned(a.tril(-1)); }

Tensor cholesky_of(const Tensor& a) {
  Tensor state = symmetric_from_lower(a).contiguous();
  for (std::int64_t k = 0; k < a.size(-1); ++k) state = cholesky_step(state);
  return state.tril();
}

// With L = cholesky(a), S = L^-T phi(L^T G) L^-1, where phi takes the lower triangle and half the diagonal.
Tensor cholesky_gradient(const Tensor& gradient, const Tensor& factor) {
  const Tensor inverse = triangular_inverse(factor, false);
  const Tensor inner = turned(factor).matmul(gradient);
  const Tensor phi = (inner.tril() + inner.tril(-1)) * 0.5;
  const Tensor s = turned(inverse).matmul(phi).matmul(inverse);
  return (s + turned(s)) * 0.5;
}

// The last column tells of each row -1 - (steps so far), or in which step it was the pivot; the last row,
// of each column, -1 if it is still to be done.
Tensor elimination_step(const Tensor& s) {
  const std::int64_t n = s.size(-1) - 1;
  const Tensor column = columns(s, 0, 1), row = columns(s, n, n + 1), open = rows(s, n, n + 1) < 0;
  const Tensor done = row >= 0;
  const Tensor largest = done.where(-1, column.abs()).argmax(-2, true).contiguous();
  const Tensor chosen = Tensor::arange(n + 1, {.device = s.device()}).unsqueeze(-1) == largest;
  const Tensor pivot = chosen.where(s, 0).sum(-2, true).contiguous(), head = columns(pivot, 0, 1);
  const Tensor kept = done | chosen;
  const Tensor factor = (kept | (head == 0)).where(0, column / head);
  const Tensor left = open.where(s - factor * pivot, s);
  return Tensor::cat({columns(left, 1, n), is_row(s, n).where(0, kept.where(column, factor)),
                      done.where(row, chosen.where(-1 - row, row - 1))},
                     -1)
      .contiguous();
}

// Column 0 is the one to reduce. The last column counts the rows from the pivot's on; the last row has
// tau of each column, and -1 before. v, whose first element is 1, takes the place of what becomes zero.
// With x below the pivot, v^T s = pivot's row + x^T s / (alpha - beta).
Tensor reflection_step(const Tensor& s) {
  const std::int64_t m = s.size(-2) - 1, n = s.size(-1) - 1;
  const Tensor column = columns(s, 0, 1), row = columns(s, n, n + 1), open = rows(s, m, m + 1) < 0;
  const Tensor below = row > 0, pivot = row == 0;
  const Tensor x = below.where(column, 0);
  const Tensor products = (x * s).sum(-2, true), first = pivot.where(s, 0).sum(-2, true);
  const Tensor alpha = columns(first, 0, 1), square = columns(products, 0, 1);
  const Tensor length = (alpha.square() + square).sqrt();
  const Tensor beta = (alpha < 0).where(length, -length);
  const Tensor idle = square == 0;  // nothing below: not even the sign changes
  const Tensor tau = idle.where(0, (beta - alpha) / idle.where(1, beta));
  const Tensor scale = idle.where(0, idle.where(1, alpha - beta).reciprocal());
  const Tensor v = pivot.where(1, x * scale);
  const Tensor left = s - v * (tau * open.where(first + products * scale, 0));
  const Tensor reduced = pivot.where(idle.where(alpha, beta), is_row(s, m).where(tau, column));
  return Tensor::cat({columns(left, 1, n), below.where(v, reduced), row - 1}, -1).contiguous();
}

// v below the diagonal, R on it and above; tau in a row of its own.
std::pair<Tensor, Tensor> reflections(const Tensor& a) {
  const std::int64_t m = a.size(-2), n = a.size(-1), steps = std::min(m, n);
  Tensor::Bounds padding(static_cast<std::size_t>(a.ndim()), {0, 0});
  padding[padding.size() - 2].second = padding.back().second = 1;
  Tensor state = a.pad(padding);
  const Tensor count =
      Tensor::arange(m + 1, {.dtype = a.dtype(), .device = a.device()}).unsqueeze(-1);
  state = is_row(state, m).where(-1, is_column(state, n).where(count, state)).contiguous();
  for (std::int64_t k = 0; k < steps; ++k) state = reflection_step(state);
  const Tensor whole = columns(state, 0, n).roll(steps, -1);
  return {rows(whole, 0, m), columns(rows(whole, m, m + 1), 0, steps)};
}

// H_1 H_2 ... = 1 - V T V^T with T = (1 + D striu(V^T V))^-1 D, D the diagonal of tau; its first columns.
Tensor reflected(const Tensor& v, const Tensor& tau, std::int64_t width) {
  const Tensor d = turned(tau);
  const Tensor inner = turned(triangular_inverse(turned(d * turned(v).matmul(v)), true)) * tau;
  return identity(v, v.size(-2), width) - v.matmul(inner.matmul(turned(rows(v, 0, width))));
}

Tensor unit_lower(const Tensor& a, std::int64_t width) {
  return columns(a, 0, width).tril(-1) + identity(a, a.size(-2), width);
}

// (gQ + Q sym(M)) R^-T with M = R gR^T - gQ^T Q, where sym repeats the lower triangle above.
Tensor qr_gradient(const Tensor& q, const Tensor& r, const Tensor& q_gradient,
                   const Tensor& r_gradient) {
  const Tensor m = r.matmul(turned(r_gradient)) - turned(q_gradient).matmul(q);
  return (q_gradient + q.matmul(symmetric_from_lower(m)))
      .matmul(triangular_inverse(turned(r), false));
}

}  // namespace

linalg::Qr householder_qr(const Tensor& a, bool complete) {
  const std::int64_t m = a.size(-2), k = std::min(m, a.size(-1)), width = complete ? m : k;
  if (k == 0)
    return {(identity(a, m, width) + a.sum({-2, -1}, true)).contiguous(), rows(a, 0, width)};
  const auto [whole, tau] = reflections(a);
  return {reflected(unit_lower(whole, k), tau, width), rows(whole, 0, width).triu()};
}

Packed eliminated(const Tensor& a) {
  const std::int64_t n = a.size(-1);
  Tensor::Bounds padding(static_cast<std::size_t>(a.ndim()), {0, 0});
  padding[padding.size() - 2].second = padding.back().second = 1;
  Tensor state = a.pad(padding, -1);
  state = (is_row(state, n) & is_column(state, n)).where(0, state).contiguous();
  for (std::int64_t k = 0; k < n; ++k) state = elimination_step(state);
  state = rows(state, 0, n);
  const Tensor step = columns(state, n, n + 1);
  const Tensor order = Tensor::arange(n, {.dtype = a.dtype(), .device = a.device()}).unsqueeze(-1);
  const Tensor p = (order == turned(step)).cast(a.dtype()).contiguous();
  const Tensor exchanged =
      (step > turned(step)).cast(dtypes::i32).triu(1).sum({-2, -1}, false, dtypes::i32);
  return {p.matmul(columns(state, 0, n)), p, (1 - exchanged % 2 * 2).cast(a.dtype())};
}

namespace {

linalg::Qr scaled_qr(const Tensor& a, bool complete) {
  if (a.numel() == 0) return householder_qr(a, complete);
  const Tensor scale = magnitude(a);
  const linalg::Qr both = householder_qr(a / scale, complete);
  return {both.q, both.r * scale};
}

}  // namespace

namespace linalg {

Tensor cholesky(const Tensor& a, bool upper) {
  const Called called;
  const Tensor matrix = square_of("cholesky", a);
  const auto backward = [](const Tensor& gradient, const std::vector<Tensor>&,
                           const Tensor& factor) {
    return std::vector<Tensor>{cholesky_gradient(gradient, factor)};
  };
  const Tensor factor = Tensor::custom(
      {upper ? turned(matrix) : matrix},
      [](const std::vector<Tensor>& in) { return cholesky_of(in[0]); }, backward);
  return (upper ? turned(factor) : factor).cast(float_like(a.dtype()));
}

Lu lu(const Tensor& a) {
  const Called called;
  const DType own = float_like(a.dtype());
  const auto [lu, p, sign] = eliminated(square_of("lu", a));
  return {turned(p).cast(own), unit_lower(lu, lu.size(-1)).cast(own), lu.triu().cast(own)};
}

// Of a wide matrix, Q is that of its first columns, and R = Q^T a.
Qr qr(const Tensor& a, bool complete) {
  const Called called;
  const DType own = float_like(a.dtype());
  const Tensor matrix = matrix_of("qr", a);
  const std::int64_t m = a.size(-2), n = a.size(-1), k = std::min(m, n);
  if (complete && m > n) {
    const Qr both = scaled_qr(matrix, true);
    return {both.q.cast(own), both.r.cast(own)};
  }
  const Trailing shapes{{m, k}, {k, k}};
  const auto forward = [shapes](const std::vector<Tensor>& in) {
    const Qr both = scaled_qr(in[0], false);
    return packed({both.q, both.r}, shapes);
  };
  const auto backward = [shapes](const Tensor& gradient, const std::vector<Tensor>&,
                                 const Tensor& output) {
    const auto found = unpacked(output, shapes), gradients = unpacked(gradient, shapes);
    return std::vector<Tensor>{qr_gradient(found[0], found[1], gradients[0], gradients[1])};
  };
  const auto parts = unpacked(Tensor::custom({columns(matrix, 0, k)}, forward, backward), shapes);
  const Tensor rest = turned(parts[0]).matmul(columns(matrix, k, n));
  return {parts[0].cast(own), (k == n ? parts[1] : Tensor::cat({parts[1], rest}, -1)).cast(own)};
}

Tensor householder_product(const Tensor& a, const Tensor& tau) {
  const Called called;
  const Tensor matrix = matrix_of("householder_product", a);
  const std::int64_t m = a.size(-2), n = a.size(-1);
  if (n > m || tau.ndim() != a.ndim() - 1 || tau.size(-1) > n)
    user_error(
        fmt::format("householder_product: shape {} with tau of shape {}: expected (..., m, n) with "
                    "n at most m, and "
                    "(..., k) with k at most n",
                    shape_text(a.uop()), shape_text(tau.uop())));
  const Tensor v = unit_lower(matrix, tau.size(-1));
  return reflected(v, tau.cast(matrix.dtype()).unsqueeze(-2), n).cast(float_like(a.dtype()));
}

}  // namespace linalg
}  // namespace weft
