// Functions of matrices that are products: powers, exponentials, chains, and the small products of vectors.

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <weft/error.h>

#include "functions.h"
#include "matrix.h"

namespace weft {
namespace linalg {

Tensor matrix_power(const Tensor& a, std::int64_t n) {
  const Called called;
  const Tensor matrix = square_of("matrix_power", a);
  if (n < 0) return matrix_power(inv(a), -n);
  Tensor result, power = matrix;
  for (std::int64_t rest = n; rest > 0; rest /= 2) {
    if (rest % 2 == 1) result = result.is_null() ? power : result.matmul(power);
    if (rest > 1) power = power.matmul(power);
  }
  if (result.is_null()) result = matrix.zeros_like() + identity(matrix);
  return result.cast(float_like(a.dtype()));
}

namespace {

// The sum of x^k / k! up to k = 18, as a polynomial in x^3: exact for a norm of up to 1 in f64.
Tensor short_exponential(const Tensor& x) {
  const Tensor square = x.matmul(x), cube = square.matmul(x), one = identity(x);
  const auto inverse_factorial = [](int k) { return 1 / std::tgamma(k + 1.0); };
  const auto part = [&](int k) {
    return one * inverse_factorial(k) + x * inverse_factorial(k + 1) +
           square * inverse_factorial(k + 2);
  };
  Tensor sum = part(15) + cube * inverse_factorial(18);
  for (int k = 12; k >= 0; k -= 3) sum = (cube.matmul(sum) + part(k)).contiguous();
  return sum;
}

}  // namespace

// exp(a) = exp(a / 2^s)^(2^s), where s follows from the norm of each matrix: those that are done wait.
Tensor matrix_exp(const Tensor& a) {
  const Called called;
  constexpr int most_squarings = 12;
  const Tensor matrix = square_of("matrix_exp", a);
  if (a.numel() == 0) return a.cast(float_like(a.dtype()));
  const Tensor size = matrix.detach().abs().sum(-1, true).max(-2, true);
  const Tensor times = size.log2().ceil().maximum(0).minimum(most_squarings).contiguous();
  Tensor result = short_exponential((matrix * (-times).exp2()).contiguous());
  for (int i = 0; i < most_squarings; ++i)
    result = (times > i).where(result.matmul(result), result).contiguous();
  return result.cast(float_like(a.dtype()));
}

namespace {

// Where to cut each chain of matrices i ... j so that it costs least: cuts[i][j].
std::vector<std::vector<std::size_t>> best_cuts(const std::vector<double>& sizes) {
  const std::size_t n = sizes.size() - 1;
  std::vector<std::vector<double>> cost(n, std::vector<double>(n, 0));
  std::vector<std::vector<std::size_t>> cuts(n, std::vector<std::size_t>(n, 0));
  for (std::size_t length = 1; length < n; ++length)
    for (std::size_t i = 0; i + length < n; ++i) {
      const std::size_t j = i + length;
      cost[i][j] = std::numeric_limits<double>::infinity();
      for (std::size_t k = i; k < j; ++k) {
        const double total = cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1];
        if (total < cost[i][j]) cost[i][j] = total, cuts[i][j] = k;
      }
    }
  return cuts;
}

}  // namespace

// The first and the last may be vectors.
Tensor multi_dot(const std::vector<Tensor>& matrices) {
  const Called called;
  if (matrices.size() < 2) user_error("multi_dot: fewer than two tensors");
  std::vector<Tensor> chain = matrices;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const bool is_end = i == 0 || i + 1 == chain.size();
    if (chain[i].ndim() != 2 && !(is_end && chain[i].ndim() == 1))
      user_error(fmt::format("multi_dot: tensor {} has shape {}: expected a matrix{}", i,
                             shape_text(chain[i].uop()), is_end ? " or a vector" : ""));
  }
  const bool from_vector = chain.front().ndim() == 1, to_vector = chain.back().ndim() == 1;
  if (from_vector) chain.front() = chain.front().unsqueeze(0);
  if (to_vector) chain.back() = chain.back().unsqueeze(1);
  std::vector<double> sizes{static_cast<double>(chain[0].size(0))};
  for (const Tensor& matrix : chain) sizes.push_back(static_cast<double>(matrix.size(1)));
  const auto cuts = best_cuts(sizes);
  const auto chained = [&](auto self, std::size_t i, std::size_t j) -> Tensor {
    return i == j ? chain[i] : self(self, i, cuts[i][j]).matmul(self(self, cuts[i][j] + 1, j));
  };
  Tensor result = chained(chained, 0, chain.size() - 1);
  if (to_vector) result = result.squeeze(-1);
  return from_vector ? result.squeeze(0) : result;
}

Tensor vecdot(const Tensor& a, const Tensor& b, std::int64_t axis) {
  return Called(), (a * b).sum(axis);
}

Tensor cross(const Tensor& a, const Tensor& b, std::int64_t axis) {
  const Called called;
  const std::int64_t ndim = std::max(a.ndim(), b.ndim()), at = axis_of("cross", axis, ndim) - ndim;
  const auto is_three = [&](const Tensor& x) { return x.ndim() + at >= 0 && x.size(at) == 3; };
  if (!is_three(a) || !is_three(b))
    user_error(fmt::format("cross: shapes {} and {}: axis {} is not of size 3 in both",
                           shape_text(a.uop()), shape_text(b.uop()), axis));
  return a.roll(-1, at) * b.roll(1, at) - a.roll(1, at) * b.roll(-1, at);
}

Tensor outer(const Tensor& a, const Tensor& b) {
  const Called called;
  if (a.ndim() != 1 || b.ndim() != 1)
    user_error(fmt::format("outer: shapes {} and {} are not those of two vectors",
                           shape_text(a.uop()), shape_text(b.uop())));
  return a.unsqueeze(1) * b;
}

Tensor kron(const Tensor& a, const Tensor& b) {
  const Called called;
  const std::int64_t ndim = std::max(a.ndim(), b.ndim());
  std::vector<Dim> left, right, joint;
  for (std::int64_t axis = -ndim; axis < 0; ++axis) {
    const std::int64_t m = axis + a.ndim() >= 0 ? a.size(axis) : 1;
    const std::int64_t n = axis + b.ndim() >= 0 ? b.size(axis) : 1;
    left.insert(left.end(), {Dim(m), Dim(1)});
    right.insert(right.end(), {Dim(1), Dim(n)});
    joint.emplace_back(m * n);
  }
  return (a.reshape(Shape(left)) * b.reshape(Shape(right))).reshape(Shape(joint));
}

Tensor trace(const Tensor& a) { return Called(), diagonal_of(a).sum(-1); }

Tensor vander(const Tensor& x, std::optional<std::int64_t> columns) {
  const Called called;
  if (x.ndim() == 0) user_error("vander: a scalar has no axis to take powers of");
  const std::int64_t count = columns.value_or(x.size(-1));
  if (count < 0) user_error(fmt::format("vander: {} columns: want at least 0", count));
  std::vector<Tensor> powers{x.ones_like()};
  while (std::ssize(powers) < count) powers.push_back(powers.back() * x);
  return Tensor::stack(powers, -1).slice(-1, {.stop = count});
}

}  // namespace linalg

Tensor Tensor::vander(std::optional<std::int64_t> columns, bool increasing) const {
  const Called called;
  if (ndim() != 1)
    user_error(fmt::format("vander: shape {} is not that of a vector", shape_text(uop())));
  const Tensor powers = linalg::vander(*this, columns);
  return increasing ? powers : powers.flip(-1);
}

linalg::Qr Tensor::qr() const { return Called(), linalg::qr(*this); }
linalg::Svd Tensor::svd(bool full_matrices) const {
  return Called(), linalg::svd(*this, full_matrices);
}
Tensor Tensor::outer(const Tensor& other) const { return Called(), linalg::outer(*this, other); }
Tensor Tensor::kron(const Tensor& other) const { return Called(), linalg::kron(*this, other); }
Tensor Tensor::cross(const Tensor& other, std::int64_t axis) const {
  return Called(), linalg::cross(*this, other, axis);
}
Tensor Tensor::trace() const { return Called(), linalg::trace(*this); }
Tensor Tensor::inverse() const { return Called(), linalg::inv(*this); }
Tensor Tensor::det() const { return Called(), linalg::det(*this); }

// x becomes p0 x + p1 (x x^T) x + p2 (x x^T)^2 x + ..., with x x^T over the shorter side.
Tensor Tensor::newton_schulz(std::int64_t steps, const std::vector<double>& params,
                             double eps) const {
  const Called called;
  if (ndim() < 2)
    user_error(fmt::format("newton_schulz: shape {} is no matrix, nor a batch of such",
                           shape_text(uop())));
  if (steps < 0 || params.empty())
    user_error(
        fmt::format("newton_schulz: {} steps with {} parameters: expected at least one parameter",
                    steps, params.size()));
  const bool tall = size(-2) > size(-1);
  Tensor x = widely(*this, [&](const Tensor& wide) {
    return wide / (wide.square().sum({-2, -1}, true).sqrt() + eps);
  });
  if (tall) x = turned(x);
  for (std::int64_t step = 0; step < steps; ++step) {
    const Tensor square = x.matmul(turned(x));
    Tensor power = x, sum = x * params[0];
    for (std::size_t i = 1; i < params.size(); ++i) {
      power = square.matmul(power);
      sum = sum + power * params[i];
    }
    x = sum;
  }
  return tall ? turned(x) : x;
}

}  // namespace weft
