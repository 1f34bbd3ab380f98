#include "toom.h"

#include <cmath>
#include <numeric>

#include <weft/error.h>

namespace weft {
namespace {

// The coefficients of the product of (x - p) over all points but one, from the constant on; of all points with
// `without` behind the last.
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

UOp scaled(const UOp& value, double factor) {
  if (factor == 1) return value;
  return value * const_float(factor, value->dtype());
}

// A sum of terms, up to its sign: that of the first term is positive. Null where there are none.
struct Terms {
  UOp sum;
  double sign = 1;
};

Terms terms(const std::vector<double>& row, const std::vector<UOp>& values, bool is_odd) {
  Terms result;
  for (std::size_t k = is_odd ? 1 : 0; k < row.size(); k += 2) {
    if (row[k] == 0) continue;
    if (result.sum.is_null()) {
      result.sign = row[k] < 0 ? -1 : 1;
      result.sum = scaled(values[k], std::abs(row[k]));
      continue;
    }
    const double factor = row[k] * result.sign;
    const UOp term = scaled(values[k], std::abs(factor));
    result.sum = factor < 0 ? result.sum - term : result.sum + term;
  }
  return result;
}

UOp sum_of(Terms a, Terms b, DType dtype) {
  if (a.sum.is_null() && b.sum.is_null()) return const_float(0, dtype);
  if (a.sum.is_null()) std::swap(a, b);
  if (b.sum.is_null()) return a.sign < 0 ? -a.sum : a.sum;
  if (a.sign < 0) std::swap(a, b);
  if (a.sign < 0) return -(a.sum + b.sum);
  return b.sign < 0 ? a.sum - b.sum : a.sum + b.sum;
}

}  // namespace

Toom toom(std::size_t outputs, std::size_t taps, const std::vector<double>& points) {
  const std::size_t products = outputs + taps - 1;
  if (points.size() + 1 != products) internal_error("toom: as many points as products but one");
  Toom result{Matrix(products, std::vector<double>(products)),
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

double growth_of(const Toom& toom) {
  const auto squares = [](const std::vector<double>& row) {
    return std::inner_product(row.begin(), row.end(), row.begin(), 0.0);
  };
  double growth = 0;
  for (const std::vector<double>& row : toom.result)
    for (std::size_t j = 0; j < row.size(); ++j)
      growth += row[j] * row[j] * squares(toom.filter[j]) * squares(toom.input[j]);
  return growth / static_cast<double>(toom.result.size() * toom.filter[0].size());
}

std::vector<double> points_for(std::size_t products) {
  if (products == 4) return {0, 1, -1};
  if (products == 6) return {0, 0.75, -0.75, 1.5, -1.5};
  internal_error("toom: there are points for 4 and 6 products");
}

std::vector<UOp> times(const Matrix& matrix, const std::vector<UOp>& values) {
  std::vector<UOp> result;
  for (const std::vector<double>& row : matrix)
    result.push_back(
        sum_of(terms(row, values, false), terms(row, values, true), values[0]->dtype()));
  return result;
}

std::vector<UOp> times_result(const Matrix& matrix, const std::vector<UOp>& values) {
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
  return times(halves, pairs);
}

}  // namespace weft
