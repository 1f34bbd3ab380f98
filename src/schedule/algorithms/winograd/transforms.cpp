#include "transforms.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <weft/error.h>

namespace weft {
namespace {

// Returns the coefficients of the product of (x - p) over all points except number `without`,
// constant first. Past the last point, `without` excludes none.
std::vector<double> product_of(const std::vector<double>& points, std::size_t without) {
  std::vector<double> result{1};
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i == without) continue;
    std::vector<double> next(result.size() + 1);
    for (std::size_t k = 0; k < result.size(); ++k) {
      next[k + 1] += result[k];
      next[k] -= points[i] * result[k];
    }
    result = next;
  }
  return result;
}

UOp number(double value, DType dtype) {
  if (!dtype.is_int()) return const_float(value, dtype);
  if (value != std::round(value))
    internal_error("winograd_transform: integers times what is no whole number");
  return const_int(static_cast<std::int64_t>(value), dtype);
}

UOp scaled(const UOp& value, double factor) {
  if (factor == 1) return value;
  return factor == -1 ? -value : value * number(factor, value->dtype());
}

UOp added(const UOp& sum, const UOp& value, double factor, bool fuses) {
  if (fuses && std::abs(factor) != 1)
    return make(Op::MulAcc, {value, number(factor, value->dtype()), sum});
  const UOp term = scaled(value, std::abs(factor));
  return factor < 0 ? sum - term : sum + term;
}

// Terms that add up to sum * factor, with the factor of the last term; `sum` is null without any.
struct Terms {
  UOp sum;
  double factor = 1;
};

Terms terms(const std::vector<double>& row, const std::vector<UOp>& values, bool is_odd,
            bool fuses) {
  Terms result;
  for (std::size_t k = row.size(); k-- > 0;) {
    if (row[k] == 0 || (k % 2 == 1) != is_odd) continue;
    if (result.sum.is_null())
      result = {values[k], row[k]};
    else
      result.sum = added(result.sum, values[k], row[k] / result.factor, fuses);
  }
  return result;
}

UOp sum_of(Terms a, Terms b, DType dtype, bool fuses) {
  if (a.sum.is_null() && b.sum.is_null()) return number(0, dtype);
  if (a.sum.is_null() || (!b.sum.is_null() && b.factor == 1)) std::swap(a, b);
  const UOp first = scaled(a.sum, a.factor);
  return b.sum.is_null() ? first : added(first, b.sum, b.factor, fuses);
}

}  // namespace

WinogradTransform winograd_transform(std::size_t outputs, std::size_t taps,
                                     const std::vector<double>& points) {
  const std::size_t products = outputs + taps - 1;
  if (points.size() + 1 != products)
    internal_error("winograd_transform: as many points as products but one");
  WinogradTransform result{Matrix(products, std::vector<double>(products)),
                           Matrix(products, std::vector<double>(taps)),
                           Matrix(outputs, std::vector<double>(products))};
  for (std::size_t j = 0; j < products; ++j) {
    const bool is_infinity = j == points.size();
    double norm = 1;
    for (std::size_t i = 0; i < points.size() && !is_infinity; ++i)
      if (i != j) norm *= points[j] - points[i];
    const double sign = norm < 0 ? -1 : 1;
    const std::vector<double> polynomial = product_of(points, j);
    for (std::size_t k = 0; k < polynomial.size(); ++k) result.input[j][k] = sign * polynomial[k];
    for (std::size_t k = 0; k < taps; ++k)
      result.filter[j][k] = is_infinity ? (k + 1 == taps ? 1 : 0)
                                        : sign * std::pow(points[j], static_cast<double>(k)) / norm;
    for (std::size_t i = 0; i < outputs; ++i)
      result.result[i][j] =
          is_infinity ? (i + 1 == outputs ? 1 : 0) : std::pow(points[j], static_cast<double>(i));
  }
  return result;
}

std::optional<WinogradTransform> in_whole_numbers(WinogradTransform transform) {
  transform.scale = 2;
  for (std::vector<double>& row : transform.filter)
    for (double& factor : row) factor *= 2;
  const auto is_whole = [](double factor) { return factor == std::round(factor); };
  for (const Matrix& matrix : {transform.input, transform.filter, transform.result})
    for (const std::vector<double>& row : matrix)
      if (!std::ranges::all_of(row, is_whole)) return std::nullopt;
  return transform;
}

double growth_of(const WinogradTransform& transform) {
  const auto squares = [](const std::vector<double>& row) {
    return std::inner_product(row.begin(), row.end(), row.begin(), 0.0);
  };
  double growth = 0;
  for (const std::vector<double>& row : transform.result)
    for (std::size_t j = 0; j < row.size(); ++j)
      growth += row[j] * row[j] * squares(transform.filter[j]) * squares(transform.input[j]);
  return growth / static_cast<double>(transform.result.size() * transform.filter[0].size());
}

std::vector<double> points_for(std::size_t products) {
  if (products == 4) return {0, 1, -1};
  if (products == 6) return {0, 0.75, -0.75, 1.5, -1.5};
  internal_error("winograd_transform: there are points for 4 and 6 products");
}

std::vector<UOp> times(const Matrix& matrix, const std::vector<UOp>& values, bool fuses) {
  std::vector<UOp> result;
  for (const std::vector<double>& row : matrix)
    result.push_back(sum_of(terms(row, values, false, fuses), terms(row, values, true, fuses),
                            values[0]->dtype(), fuses));
  return result;
}

std::vector<UOp> times_result(const Matrix& matrix, const std::vector<UOp>& values, bool fuses) {
  Matrix halves = matrix;
  std::vector<UOp> pairs = values;
  for (std::size_t j = 1; j + 2 < values.size(); j += 2) {
    pairs[j] = values[j] + values[j + 1];
    pairs[j + 1] = values[j] - values[j + 1];
    for (std::vector<double>& row : halves) {
      const double a = row[j], b = row[j + 1];
      row[j] = (a + b) / 2;
      row[j + 1] = (a - b) / 2;
    }
  }
  return times(halves, pairs, fuses);
}

}  // namespace weft
