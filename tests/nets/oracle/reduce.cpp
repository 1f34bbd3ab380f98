#include "reduce.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "elementwise.h"

namespace nets {
namespace {

Cell zero_of(Type type) { return is_float(type) ? Cell::of_real(0) : Cell::of(0); }
Cell one_of(Type type) { return is_float(type) ? Cell::of_real(1) : Cell::of(1); }

// The exponent of the lowest bit that is set.
int lowest_bit(double value) {
  int exponent = 0;
  const double part = std::frexp(std::abs(value), &exponent);
  const auto digits = static_cast<std::uint64_t>(std::ldexp(part, 53));
  return exponent - 53 + std::countr_zero(digits);
}

// Whether all partial sums are multiples of one unit that the type has enough digits for.
bool is_exact_sum(const std::vector<Cell>& terms, Type type) {
  int unit = 2000;
  double size = 0;
  const auto is_open = [](const Cell& term) { return std::isinf(term.error); };
  if (std::ranges::any_of(terms, is_open)) return false;
  for (const Cell& term : terms) {
    if (term.error != 0 || term.slack != 0) return false;
    if (!std::isfinite(term.real)) return true;  // as every partial sum that has it
    if (term.real == 0) continue;
    unit = std::min(unit, lowest_bit(term.real));
    size += std::abs(term.real);
  }
  return size == 0 || (size <= std::ldexp(1.0, unit + format_of(type).digits) &&
                       size < largest_of(type) && unit >= format_of(type).least_exponent - 40);
}

Cell real_sum(const std::vector<Cell>& terms, Type type) {
  double value = 0, size = 0, error = 0;
  for (const Cell& term : terms)
    value += term.real, size += std::abs(term.real), error += term.error + term.slack;
  if (is_exact_sum(terms, type)) {
    const bool is_finite = std::isfinite(value);
    // Infinite terms decide, unless finite ones overflow towards the other side.
    return Cell::of_real(rounded(value, type), is_finite || std::isinf(size) ? 0 : unknown);
  }
  if (!(size + error < largest_of(type))) return Cell::of_real(value, unknown);
  const double count = static_cast<double>(terms.size());
  return Cell::of_real(value, error + 1.01 * count * half_ulp(type) * (size + error) +
                                  std::ldexp(count, format_of(type).least_exponent - 20));
}

Cell real_product(const std::vector<Cell>& terms, Type type) {
  double value = 1, relative = 0, largest = 1;  // of some of the terms
  int digits = 0;
  bool is_exact = true, has_zero = false;
  for (const Cell& term : terms) {
    value *= term.real;
    if (term.error != 0) is_exact = false;
    if (term.real == 0) {
      has_zero = term.error == 0 || has_zero;
      if (term.error != 0) return Cell::of_real(0, unknown);
    } else if (std::isfinite(term.real)) {
      relative += term.error / std::abs(term.real);
      largest *= std::max(1.0, std::abs(term.real));
      int exponent = 0;
      std::frexp(term.real, &exponent);
      const int own = exponent - lowest_bit(term.real);
      digits += own == 1 ? 0 : own;  // a power of 2 adds none
    } else {
      return Cell::of_real(value, unknown);
    }
  }
  const bool is_small = std::abs(value) < 1e30 && (value == 0 || std::abs(value) > 1e-30);
  // In another order, zero may meet an infinity.
  const bool may_overflow = !(largest < largest_of(type));
  if (has_zero && is_exact) return Cell::of_real(0, digits < 60 && !may_overflow ? 0 : unknown);
  if (is_exact && is_small && digits <= format_of(type).digits) return Cell::of_real(value);
  if (!is_small || relative > 0.1) return Cell::of_real(value, unknown);
  const double count = static_cast<double>(terms.size());
  return Cell::of_real(value, 1.2 * std::abs(value) * (relative + count * half_ulp(type)));
}

Cell folded(std::string_view name, const std::vector<Cell>& terms, Type type) {
  if (name == "sum" && is_float(type)) return real_sum(terms, type);
  if (name == "prod" && is_float(type)) return real_product(terms, type);
  const std::string_view op = name == "sum"    ? "add"
                              : name == "prod" ? "mul"
                              : name == "max"  ? "maximum"
                                               : "minimum";
  if (terms.empty()) return name == "prod" ? one_of(type) : zero_of(type);
  Cell result = terms[0];
  for (std::size_t i = 1; i < terms.size(); ++i) result = combined(op, result, terms[i], type);
  return result;
}

// The places along the axes for each place beside them.
struct Groups {
  Numbers kept;  // the shape, with 1 for what is reduced
  std::vector<std::vector<std::size_t>> members;

  Groups(const Numbers& shape, const Numbers& axes) : kept(shape) {
    for (const std::int64_t axis : axes) kept[at(axis_in(axis, std::ssize(shape)))] = 1;
    members.resize(at(count_of(kept)));
    for (std::size_t i = 0; i < at(count_of(shape)); ++i) {
      Numbers place = coordinates_of(i, shape);
      for (std::size_t axis = 0; axis < place.size(); ++axis)
        if (kept[axis] == 1) place[axis] = 0;
      members[position(place, kept)].push_back(i);
    }
  }
};

Numbers without(const Numbers& shape, const Numbers& axes) {
  Numbers result;
  std::vector<bool> is_gone(shape.size());
  for (const std::int64_t axis : axes) is_gone[at(axis_in(axis, std::ssize(shape)))] = true;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (!is_gone[i]) result.push_back(shape[i]);
  return result;
}

Array simple(std::string_view name, const Array& x, const Numbers& axes, Type type) {
  const Groups groups(x.shape, axes);
  Array result = fresh(type, groups.kept);
  for (std::size_t i = 0; i < result.size(); ++i) {
    std::vector<Cell> terms;
    for (const std::size_t member : groups.members[i]) terms.push_back(x[member]);
    want(!terms.empty() || (name != "max" && name != "min"), "an extreme of nothing");
    result[i] = folded(name, terms, type);
  }
  return result;
}

Array number(Type type, double value) { return scalar(type, Cell::of_real(rounded(value, type))); }

Array mean_of(const Array& x, const Numbers& axes) {
  const Array total = simple("sum", x, axes, x.type);
  const double count = total.size() == 0 ? 1
                                         : static_cast<double>(count_of(x.shape)) /
                                               static_cast<double>(total.size());
  return binary("div", total, number(x.type, count));
}

Array inner_mean(const Array& x, const Numbers& axes) { return as_inner(mean_of(x, axes)); }

Array variance(const Array& x, const Numbers& axes, std::int64_t correction) {
  const Array far = unary("square", binary("sub", x, inner_mean(x, axes)));
  const Array total = simple("sum", far, axes, x.type);
  const double count = total.size() == 0 ? 1
                                         : static_cast<double>(count_of(x.shape)) /
                                               static_cast<double>(total.size());
  return binary("div", total,
                number(x.type, std::max(0.0, count - static_cast<double>(correction))));
}

// All bits of the errors come from below the largest element, which changes nothing by itself.
Array logsumexp(const Array& x, const Numbers& axes) {
  const Array largest = simple("max", x, axes, x.type);
  const Array total = simple("sum", unary("exp", binary("sub", x, largest)), axes, x.type);
  return binary("add", unary("log", total), largest);
}

Array any_or_all(std::string_view name, const Array& x, const Numbers& axes) {
  return simple(name == "any" ? "max" : "min", x, axes, Type::Bool);
}

}  // namespace

Array as_inner(Array x) {
  const int digits = format_of(x.type).digits;
  for (std::size_t i = 0; i < x.size(); ++i) {
    Cell& cell = x[i];
    if (!std::isfinite(cell.real) || cell.real == 0) continue;
    int exponent = 0;
    std::frexp(cell.real, &exponent);
    if (exponent - lowest_bit(cell.real) > digits / 2)
      cell.error += half_ulp(x.type) * std::abs(cell.real);
  }
  return x;
}

Cell sum_of(const std::vector<Cell>& terms, Type type) { return folded("sum", terms, type); }

Array reduced(std::string_view name, const Array& x, const Numbers& axes, bool keepdim,
              std::int64_t correction) {
  Array result;
  if (name == "sum" || name == "prod") {
    const Type within = summed(x.type);
    result = cast(simple(name, cast(x, within), axes, within), sum_result(x.type));
  } else if (name == "max" || name == "min") {
    result = simple(name, x, axes, x.type);
  } else if (name == "any" || name == "all") {
    const bool is_any = name == "any";
    const Array bools = cast(x, Type::Bool);
    if (std::ranges::find(x.shape, 0) == x.shape.end()) {
      result = any_or_all(name, bools, axes);
    } else {  // of nothing: false or true
      const Groups groups(x.shape, axes);
      result = fresh(Type::Bool, groups.kept);
      for (std::size_t i = 0; i < result.size(); ++i) result[i].whole = is_any ? 0 : 1;
    }
  } else {
    const Type own = float_like(x.type), wide = promoted(own, Type::F32);
    const Array from = cast(x, wide);
    result = cast(name == "mean"  ? mean_of(from, axes)
                  : name == "var" ? variance(from, axes, correction)
                  : name == "std" ? unary("sqrt", variance(from, axes, correction))
                                  : logsumexp(from, axes),
                  own);
  }
  if (!keepdim) result.shape = without(x.shape, axes);
  return result;
}

Array extreme_place(std::string_view name, const Array& x, std::int64_t axis, bool keepdim) {
  const Groups groups(x.shape, {axis});
  Array result = fresh(Type::I32, groups.kept);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::vector<std::size_t>& members = groups.members[i];
    want(!members.empty(), "an extreme of nothing");
    std::size_t best = 0;
    double error = 0;
    for (std::size_t k = 1; k < members.size(); ++k) {
      // NaN wins on both sides, as it does in maximum and minimum.
      const Cell &one = x[members[k]], &other = x[members[best]];
      std::optional<int> order = order_of(one, other, x.type);
      if (!order) error = unknown;
      const bool has_nan = is_float(x.type) && (std::isnan(one.real) || std::isnan(other.real));
      const bool is_better = order && (name == "argmax" || has_nan ? *order > 0 : *order < 0);
      if (is_better) best = k;
    }
    result[i] = Cell::of(static_cast<std::int64_t>(best), error);
  }
  if (!keepdim) result.shape = without(x.shape, {axis});
  return result;
}

Array scanned(std::string_view name, const Array& x, std::int64_t axis) {
  const bool is_sum = name == "cumsum", is_product = name == "cumprod";
  const Type within = is_sum || is_product ? summed(x.type) : x.type;
  const Array from = cast(x, within);
  const std::string_view fold = is_sum             ? "sum"
                                : is_product       ? "prod"
                                : name == "cummax" ? "max"
                                                   : "min";
  Array result = fresh(within, x.shape);
  const Groups groups(x.shape, {axis});
  for (const std::vector<std::size_t>& members : groups.members) {
    std::vector<Cell> terms;
    for (const std::size_t member : members) {
      terms.push_back(from[member]);
      result[member] = folded(fold, terms, within);
    }
  }
  return is_sum || is_product ? cast(result, sum_result(x.type)) : result;
}

Array softmax(const Array& x, std::int64_t axis, bool is_logarithm) {
  const Type own = float_like(x.type);
  const Array from = cast(x, promoted(own, Type::F32));
  if (from.size() == 0) return cast(from, own);
  const Array below = binary("sub", from, simple("max", from, {axis}, from.type));
  const Array powers = unary("exp", below), total = simple("sum", powers, {axis}, from.type);
  return cast(
      is_logarithm ? binary("sub", below, unary("log", total)) : binary("div", powers, total), own);
}

Array layernorm(const Array& x, const Numbers& axes, double eps) {
  const Type own = float_like(x.type);
  const Array from = cast(x, promoted(own, Type::F32));
  const Array centred = binary("sub", from, inner_mean(from, axes));
  const Array far = inner_mean(unary("square", centred), axes);
  return cast(binary("mul", centred, unary("rsqrt", binary("add", far, number(from.type, eps)))),
              own);
}

std::pair<Array, Array> sorted(const Array& x, std::int64_t axis, bool descending) {
  Array values = fresh(x.type, x.shape), places = fresh(Type::I32, x.shape);
  const Groups groups(x.shape, {axis});
  for (const std::vector<std::size_t>& members : groups.members) {
    std::vector<std::size_t> order(members.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    bool is_certain = true;
    for (const std::size_t member : members) is_certain &= x[member].error == 0;
    if (is_certain)
      std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        const int side = *order_of(x[members[a]], x[members[b]], x.type);
        return descending ? side > 0 : side < 0;
      });
    for (std::size_t k = 0; k < members.size(); ++k) {
      values[members[k]] = x[members[order[k]]];
      places[members[k]].whole = static_cast<std::int64_t>(order[k]);
      if (!is_certain) values[members[k]].error = places[members[k]].error = unknown;
    }
  }
  return {values, places};
}

}  // namespace nets
