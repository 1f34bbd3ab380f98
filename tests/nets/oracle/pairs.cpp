#include "pairs.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "elementwise.h"
#include "estimate.h"

namespace nets {
namespace {

using OfTwo = double (*)(double, double);

struct PairRule {
  std::string_view name;
  OfTwo value;
  double halves;                 // beyond rounding once
  double halves_of_operand = 0;  // and of the operand that is farther from 0
};

double logaddexp(double x, double y) {
  if (x == y) return x + std::log(2.0);
  return std::max(x, y) + std::log1p(std::exp(-std::abs(x - y)));
}
double logaddexp2(double x, double y) {
  if (x == y) return x + 1;
  return std::max(x, y) + std::log1p(std::exp2(-std::abs(x - y))) / std::log(2.0);
}
double xlogy(double x, double y) { return x == 0 && !std::isnan(y) ? 0 : x * std::log(y); }

constexpr std::array pair_rules{
    PairRule{"atan2", [](double y, double x) { return std::atan2(y, x); }, 8},
    PairRule{"hypot", [](double x, double y) { return std::hypot(x, y); }, 6},
    PairRule{"logaddexp", logaddexp, 4, 40},
    PairRule{"logaddexp2", logaddexp2, 4, 30},
    PairRule{"xlogy", xlogy, 8},
    PairRule{"float_power", [](double x, double y) { return std::pow(x, y); }, 6},
};

const PairRule* pair_rule(std::string_view name) {
  for (const PairRule& rule : pair_rules)
    if (rule.name == name) return &rule;
  return nullptr;
}

// By how much the value changes within both errors.
double spread_of_two(OfTwo value, const Cell& a, const Cell& b) {
  const double here = value(a.real, b.real);
  double most = 0;
  for (const double one : {-1.0, 0.0, 1.0})
    for (const double other : {-1.0, 0.0, 1.0}) {
      const double change =
          std::abs(value(a.real + one * a.error, b.real + other * b.error) - here);
      if (!(change <= std::numeric_limits<double>::max())) return unknown;
      most = std::max(most, change);
    }
  return 1.5 * most;
}

Cell by_rule(const PairRule& rule, const Cell& a, const Cell& b, Type type) {
  const double value = rule.value(a.real, b.real);
  // The sign of a zero is open, and with it the side that the angle is on, and a pole.
  const bool is_side = rule.name == "atan2" && a.real == 0 && b.real <= 0;
  const bool is_pole = rule.name == "float_power" && a.real == 0 && b.real < 0;
  if (a.is_unknown() || b.is_unknown() || is_side || is_pole) return Cell::of_real(value, unknown);
  const bool is_exact = a.error == 0 && b.error == 0;
  if (!std::isfinite(value)) return Cell::of_real(value, is_exact ? 0 : unknown);
  const double size = std::max(std::abs(a.real), std::abs(b.real));
  const double beside = rule.halves_of_operand > 0 && std::isfinite(size)
                            ? rule.halves_of_operand * half_ulp(type) * size
                            : 0;
  return rounded_cell(value, beside + (is_exact ? 0 : spread_of_two(rule.value, a, b)), type,
                      rule.halves);
}

// The next number of the type towards another.
double next(double x, double y, Type type) {
  if (std::isnan(x) || std::isnan(y)) return std::nan("");
  if (x == y) return y;
  const auto [digits, least, most] = format_of(type);
  const double tiny = std::ldexp(1.0, least + 1 - digits);
  if (x == 0) return y > 0 ? tiny : -tiny;
  if (std::isinf(x)) return std::copysign(largest_of(type), x);
  int exponent = 0;
  const double part = std::abs(std::frexp(x, &exponent));
  const bool is_inwards = (x > 0) == (y < x);
  double unit = std::ldexp(1.0, exponent - digits);
  if (is_inwards && part == 0.5) unit /= 2;
  return rounded(y > x ? x + std::max(unit, tiny) : x - std::max(unit, tiny), type);
}

std::int64_t common_divisor(std::int64_t a, std::int64_t b, Type type) {
  if (is_unsigned(type))
    return static_cast<std::int64_t>(
        std::gcd(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
  return std::gcd(a, b);
}

// What wraps is left open.
Cell divisors(std::string_view name, const Cell& a, const Cell& b, Type type) {
  const double error = std::max(a.error, b.error);
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  if (error > 0 || a.whole == least || b.whole == least) return Cell::of(0, unknown);
  const std::int64_t divisor = common_divisor(a.whole, b.whole, type);
  std::int64_t value = divisor;
  if (name == "lcm" && divisor != 0) {
    if (is_unsigned(type) && (a.whole < 0 || b.whole < 0)) return Cell::of(0, unknown);
    const std::int64_t one = std::abs(a.whole / divisor), other = std::abs(b.whole);
    if (other > std::numeric_limits<std::int64_t>::max() / std::max<std::int64_t>(1, one))
      return Cell::of(0, unknown);
    value = one * other;
  }
  return wrapped(value, type) == value ? Cell::of(value) : Cell::of(0, unknown);
}

Cell picked(std::string_view name, const Cell& a, const Cell& b, Type type) {
  const std::string_view extreme = name == "fmax" ? "maximum" : "minimum";
  if (is_float(type) && !a.is_unknown() && !b.is_unknown()) {
    if (std::isnan(a.real)) return b;
    if (std::isnan(b.real)) return a;
  }
  return combined(extreme, a, b, type);
}

Cell step_at_zero(const Cell& x, const Cell& at_zero, Type type) {
  if (!is_float(type)) {
    const bool is_below = !is_unsigned(type) && x.whole < 0;
    return x.whole == 0 ? at_zero : Cell::of(is_below ? 0 : 1, x.error);
  }
  if (x.is_unknown() || (x.error > 0 && std::abs(x.real) <= x.error))
    return Cell::of_real(0, unknown);
  if (x.real == 0) return at_zero;
  return std::isnan(x.real) ? x : Cell::of_real(x.real > 0 ? 1 : 0);
}

Cell signed_as(const Cell& a, const Cell& b) {
  Cell result = Cell::of_real(std::copysign(a.real, b.real), a.error);
  if (std::isnan(b.real) || !(std::abs(b.real) > b.error)) result.error = unknown;
  return result;
}

Cell one_pair(std::string_view name, const Cell& a, const Cell& b, Type type) {
  if (const PairRule* rule = pair_rule(name)) return by_rule(*rule, a, b, type);
  if (name == "gcd" || name == "lcm") return divisors(name, a, b, type);
  if (name == "fmax" || name == "fmin") return picked(name, a, b, type);
  if (name == "heaviside") return step_at_zero(a, b, type);
  if (name == "copysign") return signed_as(a, b);
  const double error = a.error + b.error > 0 ? unknown : 0;
  return Cell::of_real(next(a.real, b.real, type), error);
}

}  // namespace

bool is_pair_function(std::string_view name) {
  constexpr std::array others{"gcd", "lcm", "fmax", "fmin", "heaviside", "copysign", "nextafter"};
  return pair_rule(name) != nullptr || std::ranges::find(others, name) != others.end();
}

Array pair_function(std::string_view name, const Array& x, const Array& y) {
  Type type = promoted(x.type, y.type);
  const bool is_of_any =
      name == "gcd" || name == "lcm" || name == "fmax" || name == "fmin" || name == "heaviside";
  if (!is_of_any) type = float_like(type);
  if (name == "float_power") type = Type::F64;
  const Numbers shape = broadcast_shape(x.shape, y.shape);
  const Array a = expanded(cast(x, type), shape), b = expanded(cast(y, type), shape);
  Array result = fresh(type, shape);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = one_pair(name, a[i], b[i], type);
  return result;
}

Array isclose(const Array& x, const Array& y, double rtol, double atol, bool equal_nan) {
  const Type type = promoted(float_like(promoted(x.type, y.type)), Type::F32);
  const Numbers shape = broadcast_shape(x.shape, y.shape);
  const Array a = expanded(cast(x, type), shape), b = expanded(cast(y, type), shape);
  Array result = fresh(Type::Bool, shape);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double one = a[i].real, other = b[i].real;
    if (a[i].is_unknown() || b[i].is_unknown()) {
      result[i] = Cell::of(0, unknown);
    } else if (!std::isfinite(one) || !std::isfinite(other)) {
      result[i] = Cell::of(one == other || (equal_nan && std::isnan(one) && std::isnan(other)));
    } else {
      const double limit = atol + rtol * std::abs(other), far = std::abs(one - other);
      const double open = 1e-3 * limit + a[i].error + b[i].error +
                          4 * half_ulp(type) * (std::abs(one) + std::abs(other));
      const bool is_same = one == other && a[i].error + b[i].error == 0;
      result[i] = Cell::of(far <= limit, is_same || std::abs(far - limit) > open ? 0 : unknown);
    }
  }
  return result;
}

namespace {

Cell one_triple(std::string_view name, const Cell& x, const Cell& a, const Cell& b, double value,
                Type type) {
  const Estimate own(type, x), first(type, a), second(type, b);
  const Estimate factor(type, Cell::of_real(rounded(value, type)));
  if (name == "lerp") return (own + (first - own) * second).cell();
  const Estimate term = name == "addcmul" ? first * second : first / second;
  return (own + (value == 1 ? term : term * factor)).cell();
}

}  // namespace

Array triple_function(std::string_view name, const Array& x, const Array& a, const Array& b,
                      double value) {
  const Type type = promoted(x.type, promoted(a.type, b.type));
  want(is_float(type), "of integers");
  const Numbers shape = broadcast_shape(x.shape, broadcast_shape(a.shape, b.shape));
  const Array own = expanded(cast(x, type), shape), first = expanded(cast(a, type), shape),
              second = expanded(cast(b, type), shape);
  Array result = fresh(type, shape);
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = one_triple(name, own[i], first[i], second[i], value, type);
  return result;
}

Array nan_to_num(const Array& x, double nan) {
  Array result = copied(x);
  for (std::size_t i = 0; i < x.size() && is_float(x.type); ++i) {
    Cell& cell = result[i];
    if (cell.is_unknown()) continue;
    if (std::isnan(cell.real)) cell.real = rounded(nan, x.type);
    if (std::isinf(cell.real)) cell.real = std::copysign(largest_of(x.type), cell.real);
  }
  return result;
}

Array isin(const Array& x, const Array& elements) {
  Array result = fresh(Type::Bool, x.shape);
  for (std::size_t i = 0; i < elements.size(); ++i)
    result = binary("logical_or", result, binary("eq", x, scalar(elements.type, elements[i])));
  return result;
}

Array clamped(const Array& x, const Array* least, const Array* most) {
  Array result = x;
  if (least != nullptr) result = binary("maximum", result, *least);
  if (most != nullptr) result = binary("minimum", result, *most);
  return result;
}

}  // namespace nets
