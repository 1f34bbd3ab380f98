// Triangular matrices: their inverse, and what it solves.

#include <bit>

#include <fmt/format.h>
#include <weft/error.h>

#include "matrix.h"
#include "ops.h"

namespace weft {
namespace {

// The blocks of this size on the diagonal: (..., n, n) to (..., n / size, size, size).
Tensor diagonal_blocks(const Tensor& a, std::int64_t size) {
  const std::int64_t count = a.size(-1) / size, ndim = a.ndim();
  const Tensor blocks = a.unflatten(-1, {count, size}).unflatten(-3, {count, size});
  Axes order;
  for (std::int64_t axis = 0; axis < ndim - 2; ++axis) order.push_back(axis);
  order.insert(order.end(), {ndim - 1, ndim + 1, ndim - 2, ndim});
  const Tensor apart = blocks.permute(order).diagonal(0, -2, -1);  // (..., size, size, count)
  Axes front;
  for (std::int64_t axis = 0; axis < ndim - 2; ++axis) front.push_back(axis);
  front.insert(front.end(), {ndim, ndim - 2, ndim - 1});
  return apart.permute(front);
}

// [a 0; b c]^-1 = [a^-1 0; -c^-1 b a^-1 c^-1], for all blocks of one size at once, which double until
// there is one.
Tensor inverse_by_blocks(const Tensor& a) {
  const auto n = a.size(-1);
  const auto size = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n)));
  Tensor::Bounds padding(static_cast<std::size_t>(a.ndim()), {0, 0});
  padding[padding.size() - 2].second = padding.back().second = size - n;
  const Tensor beyond = (Tensor::arange(size, {.device = a.device()}) >= n).cast(a.dtype());
  const Tensor whole = (a.pad(padding) + diagonal_matrix(beyond)).contiguous();
  Tensor inverse = diagonal_of(whole).reciprocal().unsqueeze(-1).unsqueeze(-1);
  for (std::int64_t done = 1; done < size; done *= 2) {
    const Tensor pairs = inverse.unflatten(-3, {size / (2 * done), 2});
    const Tensor upper = pairs.slice(-3, {.stop = 1}).squeeze(-3),
                 lower = pairs.slice(-3, {.start = 1}).squeeze(-3);
    const Tensor corner = columns(rows(diagonal_blocks(whole, 2 * done), done, 2 * done), 0, done);
    const Tensor beside = -lower.matmul(corner.matmul(upper));
    inverse =
        Tensor::cat(
            {Tensor::cat({upper, upper.zeros_like()}, -1), Tensor::cat({beside, lower}, -1)}, -2)
            .contiguous();
  }
  return columns(rows(inverse.squeeze(-3), 0, n), 0, n);
}

}  // namespace

Tensor triangular_inverse(const Tensor& a, bool unit) {
  if (a.size(-1) == 0) return a;
  const auto forward = [unit](const std::vector<Tensor>& in) {
    return inverse_by_blocks(unit ? in[0].tril(-1) + identity(in[0]) : in[0].tril());
  };
  const auto backward = [unit](const Tensor& gradient, const std::vector<Tensor>&,
                               const Tensor& inverse) {
    const Tensor t = turned(inverse);
    return std::vector<Tensor>{-t.matmul(gradient).matmul(t).tril(unit ? -1 : 0)};
  };
  return Tensor::custom({a}, forward, backward);
}

namespace linalg {

Tensor solve_triangular(const Tensor& a, const Tensor& b, const Triangular& options) {
  const Called called;
  if (!options.left)
    return turned(
        solve_triangular(turned(a), turned(b), {!options.upper, true, options.unitriangular}));
  const auto [matrix, right] = batched("solve_triangular", square_of("solve_triangular", a),
                                       matrix_of("solve_triangular", b));
  if (matrix.size(-1) != right.size(-2))
    user_error(
        fmt::format("solve_triangular: a matrix of shape {} does not fit a right side of shape {}",
                    shape_text(a.uop()), shape_text(b.uop())));
  const Tensor inverse = options.upper
                             ? turned(triangular_inverse(turned(matrix), options.unitriangular))
                             : triangular_inverse(matrix, options.unitriangular);
  return inverse.matmul(right).cast(float_like(promote(a.dtype(), b.dtype())));
}

Tensor cholesky_solve(const Tensor& b, const Tensor& factor, bool upper) {
  const Called called;
  const Tensor lower = upper ? turned(factor) : factor;
  return solve_triangular(turned(lower), solve_triangular(lower, b, {.upper = false}),
                          {.upper = true});
}

}  // namespace linalg
}  // namespace weft
