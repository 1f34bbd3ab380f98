#include "statistics.h"

#include <algorithm>
#include <numeric>

#include "elementwise.h"
#include "estimate.h"
#include "movement.h"
#include "rearrange.h"
#include "reduce.h"

namespace nets {
namespace {

bool is_nan(const Cell& cell, Type type) { return is_float(type) && std::isnan(cell.real); }

// For each place beside the axis what `make` gives of the elements along it.
template <class Make>
Array along(const Array& x, std::int64_t axis, bool keepdim, Type type, Make make) {
  const std::int64_t i = axis_in(axis, x.rank());
  const Array last = movedim(x, i, -1);
  const std::size_t length = at(x.shape[at(i)]);
  want(length > 0, "of nothing");
  Numbers shape = last.shape;
  shape.pop_back();
  Array result = fresh(type, shape);
  for (std::size_t k = 0; k < result.size(); ++k) {
    std::vector<Cell> row;
    for (std::size_t j = 0; j < length; ++j) row.push_back(last[k * length + j]);
    result[k] = make(row);
  }
  if (keepdim) result = unsqueeze(result, i);
  return result;
}

// In order, NaN behind all numbers; nothing where errors leave the order open.
std::optional<std::vector<Cell>> in_order(std::vector<Cell> row, Type type) {
  for (const Cell& cell : row)
    if (cell.error > 0) return {};
  std::ranges::stable_sort(row,
                           [&](const Cell& a, const Cell& b) { return *order_of(a, b, type) < 0; });
  return row;
}

std::size_t count_numbers(const std::vector<Cell>& row, Type type) {
  return static_cast<std::size_t>(
      std::ranges::count_if(row, [&](const Cell& cell) { return !is_nan(cell, type); }));
}

// The least of the most frequent ones.
Cell most_frequent(const std::vector<Cell>& sorted, Type type) {
  std::size_t best = 0, longest = 0;
  for (std::size_t begin = 0; begin < sorted.size();) {
    std::size_t end = begin + 1;
    while (end < sorted.size() && !is_nan(sorted[begin], type) &&
           order_of(sorted[begin], sorted[end], type) == 0)
      ++end;
    if (end - begin > longest) longest = end - begin, best = begin;
    begin = end;
  }
  return sorted[best];
}

}  // namespace

Array ranked(std::string_view name, const Array& x, std::int64_t axis, bool keepdim,
             std::int64_t k) {
  return along(x, axis, keepdim, x.type, [&](const std::vector<Cell>& row) {
    const auto sorted = in_order(row, x.type);
    if (!sorted) return is_float(x.type) ? Cell::of_real(0, unknown) : Cell::of(0, unknown);
    const std::size_t numbers = count_numbers(row, x.type);
    if (name == "mode") return most_frequent(*sorted, x.type);
    if (name == "kthvalue") {
      want(k >= 1 && at(k) <= row.size(), "no such element");
      return (*sorted)[at(k) - 1];
    }
    if (name == "median") return (*sorted)[numbers < row.size() ? numbers : (row.size() - 1) / 2];
    return (*sorted)[numbers == 0 ? 0 : (numbers - 1) / 2];
  });
}

namespace {

Cell between_of(const std::vector<Cell>& sorted, double last, double q, Between between,
                Type type) {
  const double part = rounded(q, type);
  const Estimate place =
      Estimate(type, last) * Estimate(type, Cell::of_real(part, std::abs(part - q)));
  const double below = std::floor(place.value()), near = std::abs(place.value() - below);
  const bool is_linear = between == Between::Linear;
  const double jump = between == Between::Nearest ? std::abs(near - 0.5) : std::min(near, 1 - near);
  // What rounding the place moves over a joint is another element.
  if (!is_linear && place.error() > 0 && jump <= 4 * place.error())
    return Cell::of_real(0, unknown);
  const double above = std::ceil(place.value());
  const Cell low = sorted[static_cast<std::size_t>(below)],
             high = sorted[static_cast<std::size_t>(above)];
  if (between == Between::Lower) return low;
  if (between == Between::Higher) return high;
  if (between == Between::Nearest)
    return sorted[static_cast<std::size_t>(std::nearbyint(place.value()))];
  // NumPy makes NaN of infinities also where nothing lies between, or behind the place.
  if (!std::isfinite(sorted.front().real) ||
      !std::isfinite(sorted[static_cast<std::size_t>(last)].real))
    return Cell::of_real(0, unknown);
  if (below == above && place.error() == 0) return low;
  const Estimate first(type, low), second(type, high);
  const Estimate weight = is_linear ? place - Estimate(type, below) : Estimate(type, 0.5);
  Cell result = (first + (second - first) * weight).cell();
  // A place that may be in the next gap.
  if (result.error > 0 && place.error() > 0 && std::min(near, 1 - near) <= 4 * place.error())
    result.error += 8 * place.error() * (std::abs(sorted.back().real) + std::abs(sorted[0].real));
  return result;
}

}  // namespace

Array quantile(const Array& x, double q, std::int64_t axis, bool keepdim, Between between,
               bool skips_nan) {
  const Type own = float_like(x.type), within = promoted(own, Type::F32);
  const Array result =
      along(cast(x, within), axis, keepdim, within, [&](const std::vector<Cell>& row) {
        const auto sorted = in_order(row, within);
        if (!sorted) return Cell::of_real(0, unknown);
        const std::size_t numbers = count_numbers(row, within);
        if (numbers == 0 || (!skips_nan && numbers < row.size()))
          return Cell::of_real(std::nan(""));
        return between_of(*sorted, static_cast<double>(numbers - 1), q, between, within);
      });
  return cast(result, own);
}

namespace {

Array without_nan(const Array& x) {
  Array result = copied(x);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (is_nan(x[i], x.type) && x[i].error == 0) result[i] = Cell::of_real(0);
  return result;
}

}  // namespace

Array nansum(const Array& x, const Numbers& axes, bool keepdim) {
  return reduced("sum", without_nan(x), axes, keepdim);
}

Array nanmean(const Array& x, const Numbers& axes, bool keepdim) {
  const Type own = float_like(x.type), wide = promoted(own, Type::F32);
  const Array from = cast(x, wide);
  const Array count = reduced("sum", unary("logical_not", unary("isnan", from)), axes, keepdim);
  return cast(binary("div", nansum(from, axes, keepdim), cast(count, wide)), own);
}

namespace {

Array wide_norm(const Array& x, double p, const Numbers& axes, bool keepdim) {
  const Array size = unary("abs", x);
  if (std::isinf(p)) return reduced(p > 0 ? "max" : "min", size, axes, keepdim);
  if (p == 0) {
    const Array zero = scalar(x.type, Cell::of_real(0));
    return reduced("sum", cast(binary("ne", x, zero), x.type), axes, keepdim);
  }
  if (p == 1) return reduced("sum", size, axes, keepdim);
  if (p == 2) return unary("sqrt", as_inner(reduced("sum", unary("square", x), axes, keepdim)));
  const auto number = [&](double value) {
    return scalar(x.type, Cell::of_real(rounded(value, x.type)));
  };
  const Array sum = reduced("sum", binary("pow", size, number(p)), axes, keepdim);
  return binary("pow", sum, number(1 / p));
}

}  // namespace

namespace {

// Powers on the way may overflow where the norm itself does not.
Array norm_of(const Array& x, double p, const Numbers& axes, bool keepdim) {
  Array result = wide_norm(x, p, axes, keepdim);
  bool is_finite = true;
  for (std::size_t i = 0; i < x.size(); ++i) is_finite &= std::isfinite(x[i].real);
  for (std::size_t i = 0; i < result.size() && is_finite; ++i)
    if (!std::isfinite(result[i].real)) result[i].error = unknown;
  return result;
}

}  // namespace

Array norm(const Array& x, double p, const Numbers& axes, bool keepdim) {
  const Type own = float_like(x.type);
  return cast(norm_of(cast(x, promoted(own, Type::F32)), p, axes, keepdim), own);
}

Array cdist(const Array& x, const Array& y, double p) {
  want(x.rank() >= 2 && y.rank() >= 2 && x.shape.back() == y.shape.back(), "other widths");
  const Type own = float_like(promoted(x.type, y.type)), wide = promoted(own, Type::F32);
  const Array far = binary("sub", unsqueeze(cast(x, wide), -2), unsqueeze(cast(y, wide), -3));
  return cast(norm_of(as_inner(far), p, {-1}, false), own);
}

Array normalize(const Array& x, double p, const Numbers& axes) {
  const Type own = float_like(x.type), wide = promoted(own, Type::F32);
  const Array from = cast(x, wide);
  const Array least = scalar(wide, Cell::of_real(rounded(1e-12, wide)));
  const Array length = as_inner(norm_of(from, p, axes, true));
  return cast(binary("div", from, binary("maximum", length, least)), own);
}

// Each step is a logaddexp, which may be off by some units of the larger operand.
Array logcumsumexp(const Array& x, std::int64_t axis) {
  const Type own = float_like(x.type), wide = promoted(own, Type::F32);
  const Array from = cast(x, wide);
  const std::int64_t i = axis_in(axis, x.rank());
  std::vector<Array> all;
  for (std::int64_t k = 1; k <= x.shape[at(i)]; ++k) {
    const Array before = narrow(from, i, 0, k);
    Array sum = reduced("logsumexp", before, {i}, true);
    const Array size = reduced("max", unary("abs", before), {i}, true);
    for (std::size_t e = 0; e < sum.size(); ++e)
      sum[e].error += k == 1 ? 0
                             : static_cast<double>(k) * 40 * half_ulp(wide) *
                                   (1 + (std::isfinite(size[e].real) ? size[e].real : 0));
    all.push_back(sum);
  }
  want(!all.empty(), "of nothing");
  return cast(cat(all, i), own);
}

Array cummax_places(const Array& x, std::int64_t axis) {
  const std::int64_t i = axis_in(axis, x.rank());
  const Array last = movedim(x, i, -1);
  Array places = fresh(Type::I32, last.shape);
  const std::size_t length = last.shape.empty() ? 1 : at(last.shape.back());
  for (std::size_t k = 0; k < last.size(); ++k) {
    const std::size_t first = k - k % length;
    if (k == first) continue;
    const std::int64_t before = places[k - 1].whole;
    const std::optional<int> order =
        order_of(last[k], last[first + static_cast<std::size_t>(before)], x.type);
    places[k] = Cell::of(order.value_or(0) >= 0 ? static_cast<std::int64_t>(k - first) : before,
                         order ? places[k - 1].error : unknown);
  }
  return movedim(places, -1, i);
}

std::pair<Array, Array> unique(const Array& x) {
  std::vector<Cell> all;
  for (std::size_t i = 0; i < x.size(); ++i) all.push_back(x[i]);
  const auto sorted = in_order(all, x.type);
  want(sorted.has_value(), "an open order");
  std::vector<Cell> values, counts;
  for (const Cell& cell : *sorted) {
    const bool is_same =
        !values.empty() && !is_nan(cell, x.type) && order_of(values.back(), cell, x.type) == 0;
    if (!is_same) values.push_back(cell), counts.push_back(Cell::of(0));
    ++counts.back().whole;
  }
  const Numbers shape{std::ssize(values)};
  std::pair result{fresh(x.type, shape), fresh(Type::I32, shape)};
  *result.first.storage = values, *result.second.storage = counts;
  return result;
}

Array searchsorted(const Array& sorted, const Array& values, bool right) {
  want(sorted.rank() == 1, "no vector");
  const Type type = promoted(sorted.type, values.type);
  const Array edges = cast(sorted, type), from = cast(values, type);
  Array result = fresh(Type::I32, values.shape);
  bool is_sorted = true;
  for (std::size_t k = 0; k + 1 < edges.size(); ++k)
    is_sorted &= order_of(edges[k], edges[k + 1], type).value_or(1) <= 0;
  for (std::size_t i = 0; i < from.size(); ++i)
    for (std::size_t k = 0; k < edges.size(); ++k) {
      const std::optional<int> order = order_of(edges[k], from[i], type);
      if (!order || !is_sorted) result[i].error = unknown;
      if (order && (right ? *order <= 0 : *order < 0)) ++result[i].whole;
    }
  return result;
}

Array bincount(const Array& x, const Array* weights, std::int64_t least_length) {
  want(x.rank() == 1 && is_int(x.type), "no integers");
  std::int64_t length = least_length;
  for (std::size_t i = 0; i < x.size(); ++i) {
    want(x[i].error == 0 && x[i].whole >= 0 && x[i].whole < 100, "no small number");
    length = std::max(length, x[i].whole + 1);
  }
  const Type type = weights == nullptr        ? Type::I32
                    : is_float(weights->type) ? weights->type
                                              : Type::F64;
  Array result = fresh(type, {length});
  std::vector<std::vector<Cell>> terms(at(length));
  for (std::size_t i = 0; i < x.size(); ++i)
    terms[at(x[i].whole)].push_back(
        weights == nullptr ? Cell::of(1) : converted((*weights)[i], weights->type, type));
  for (std::size_t i = 0; i < terms.size(); ++i) {
    result[i] = sum_of(terms[i], type);
    result[i].error *= 2;  // each addition may be rounded
  }
  return result;
}

Array histc(const Array& x, std::int64_t bins, double least, double most) {
  want(is_float(x.type), "no floats");
  Array result = fresh(x.type, {bins});
  const auto count = [&](double bin, double error) {
    const double last = static_cast<double>(bins - 1);
    Cell& cell = result[static_cast<std::size_t>(std::clamp(bin, 0.0, last))];
    error > 0 ? cell.error = unknown : cell.real += 1;
  };
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Cell& cell = x[i];
    const bool is_outside = cell.real + cell.error < least || cell.real - cell.error > most;
    if (is_outside || (cell.error == 0 && std::isnan(cell.real))) continue;
    const Type type = x.type;
    const Estimate width = Estimate(type, most) - Estimate(type, least);
    const Estimate part = (Estimate(type, cell) - Estimate(type, least)) / width *
                          Estimate(type, static_cast<double>(bins));
    const double low = std::floor(part.value() - 4 * part.error()),
                 high = std::floor(part.value() + 4 * part.error());
    if (!(high - low <= static_cast<double>(bins)))  // it may be in any
      return copied(expanded(scalar(x.type, Cell::of_real(0, unknown)), {bins}));
    for (double bin = low; bin <= high; ++bin) count(bin, high - low);
  }
  for (std::size_t i = 0; i < result.size(); ++i) result[i].real = rounded(result[i].real, x.type);
  return result;
}

}  // namespace nets
