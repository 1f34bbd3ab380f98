// Sizes are split into factors: each stage is a product with a small matrix.

#include "dft.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

namespace weft::fft {
namespace {

constexpr std::int64_t widest_radix = 32, largest_prime = 128;

struct Root {
  double real, imag;
};

// exp(2 pi i k / n), by the angle from the nearest quarter turn: exact to the last bit or so.
Root root(std::int64_t k, std::int64_t n) {
  const std::int64_t quarter = (8 * k / n + 1) / 2;
  const double angle =
      std::numbers::pi * static_cast<double>(4 * k - quarter * n) / static_cast<double>(2 * n);
  const double c = std::cos(angle), s = std::sin(angle);
  const Root turned[] = {{c, s}, {-s, c}, {-c, -s}, {s, -c}};
  return turned[quarter % 4];
}

std::vector<Root> roots(std::int64_t n, int sign) {
  std::vector<Root> all;
  for (std::int64_t k = 0; k < n; ++k) {
    const auto [real, imag] = root(k, n);
    all.push_back({real, sign * imag});
  }
  return all;
}

// Values of the dtype of x, where x is.
Tensor table(const std::vector<double>& values, const Shape& shape, const Tensor& x) {
  const Options options{.device = x.device()};
  if (x.dtype() == dtypes::f64) return Tensor(values, options).reshape(shape);
  return Tensor(std::vector<float>(values.begin(), values.end()), options).reshape(shape);
}

// One product with a matrix, from n parts to n complex values.
Tensor direct(const Tensor& x, int sign) {
  const std::int64_t n = x.size(-2), parts = x.size(-1);
  const std::vector<Root> all = roots(n, sign);
  std::vector<double> values;
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t part = 0; part < parts; ++part)
      for (std::int64_t k = 0; k < n; ++k) {
        const auto [real, imag] = all[static_cast<std::size_t>(j * k % n)];
        values.push_back(part == 0 ? real : -imag);
        values.push_back(part == 0 ? imag : real);
      }
  return x.flatten(-2).matmul(table(values, {n * parts, n * 2}, x)).unflatten(-1, {n, 2});
}

// How to begin with a size: the factor, or 0 for the whole at once; and what it costs an element in all,
// its products and its ways through memory.
struct Split {
  std::int64_t radix;
  double cost;
};
using Splits = std::map<std::int64_t, Split>;

double stage_cost(std::int64_t radix) { return 2.0 * static_cast<double>(radix) + 24; }

Split split_of(std::int64_t n, Splits& known) {
  if (const auto found = known.find(n); found != known.end()) return found->second;
  Split best{0, n <= largest_prime ? stage_cost(n) : std::numeric_limits<double>::infinity()};
  for (std::int64_t r = 2; r <= std::min(widest_radix, n / 2); ++r) {
    if (n % r != 0) continue;
    const double cost = stage_cost(r) + split_of(n / r, known).cost;
    if (cost < best.cost) best = {r, cost};
  }
  return known[n] = best;
}

// jk = (j^2 + k^2 - (k - j)^2) / 2: with b_k = exp(pi i k^2 / n), the sum is a convolution of b x with 1 / b,
// for which any larger size does.
Tensor by_convolution(const Tensor& x, int sign) {
  const std::int64_t n = x.size(-2);
  const auto size = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(2 * n - 1)));
  std::vector<double> chirp, inverse(static_cast<std::size_t>(2 * size), 0);
  for (std::int64_t k = 0; k < n; ++k) {
    const auto [real, imag] = root(k * k % (2 * n), 2 * n);
    chirp.insert(chirp.end(), {real, sign * imag});
    for (const std::int64_t place : {k, (size - k) % size}) {
      inverse[static_cast<std::size_t>(2 * place)] = real;
      inverse[static_cast<std::size_t>(2 * place + 1)] = -sign * imag;
    }
  }
  const Tensor b = table(chirp, {n, 2}, x);
  const Tensor spectrum = transform(table(inverse, {size, 2}, x), -1).contiguous();
  Tensor::Bounds padding(static_cast<std::size_t>(x.ndim()), {0, 0});
  padding[padding.size() - 2].second = size - n;
  const Tensor a = times(x.size(-1) == 1 ? complex(x.squeeze(-1)) : x, b).pad(padding);
  const Tensor sum = transform(times(transform(a, -1), spectrum), 1).slice(-2, {.stop = n});
  return times(sum / static_cast<double>(size), b);
}

}  // namespace

Tensor times(const Tensor& x, const Tensor& y) {
  const Tensor real = y.slice(-1, {.stop = 1}), imag = y.slice(-1, {.start = 1});
  const Tensor sign = Tensor::arange(2, {.dtype = x.dtype(), .device = x.device()}) * 2 - 1;
  const Tensor straight = x * real;
  return straight + x.flip(-1) * (imag * sign);
}

// n = r m: transforms over every m-th element; their results, turned by exp(2 pi i k j / n) where j is where
// they began, transformed along j.
Tensor transform(const Tensor& x, int sign) {
  const std::int64_t n = x.size(-2);
  Splits known;
  const auto [r, cost] = split_of(n, known);
  if (std::isinf(cost)) return by_convolution(x, sign);
  if (r == 0) return direct(x, sign);
  const std::int64_t m = n / r;
  const std::vector<Root> all = roots(n, sign);
  std::vector<double> turns;
  for (std::int64_t k = 0; k < r; ++k)
    for (std::int64_t j = 0; j < m; ++j) {
      const auto [real, imag] = all[static_cast<std::size_t>(k * j)];
      turns.insert(turns.end(), {real, imag});
    }
  const Tensor first = direct(x.unflatten(-2, {r, m}).transpose(-2, -3), sign).transpose(-2, -3);
  const Tensor turned = times(first, table(turns, {r, m, 2}, x)).contiguous();
  return transform(turned, sign).transpose(-2, -3).flatten(-3, -2);
}

}  // namespace weft::fft
