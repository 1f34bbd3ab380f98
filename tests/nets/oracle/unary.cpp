// Functions of one element. Each float function says how it changes by the error of its operand, and
// how many half units in the last place an implementation may be off.

#include <algorithm>
#include <array>
#include <functional>
#include <numbers>

#include "elementwise.h"

namespace nets {
namespace {

using Function = double (*)(double);

struct Rule {
  std::string_view name;
  Function value;
  double halves;  // beyond rounding once
  // Further ones for each unit of the operand's size, as where a product with a constant comes first.
  double halves_by_size = 0;
  // Where it is no smooth function, nothing is known beside these.
  bool is_step = false;
  // And of the size of 1, where terms that are not small cancel.
  double halves_of_one = 0;
  // And of the operand, which may be farther from 0 than the result.
  double halves_of_operand = 0;
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double relu(double x) { return x <= 0 ? 0 : x; }
double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
double gelu(double x) {
  return x * sigmoid(2 * std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x));
}
double quick_gelu(double x) { return x * sigmoid(1.702 * x); }
double exact_gelu(double x) { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); }
double elu(double x) { return x > 0 ? x : std::expm1(x); }
double selu(double x) {
  return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * std::expm1(x));
}
double hardsigmoid(double x) { return std::isnan(x) ? x : std::clamp(x / 6 + 0.5, 0.0, 1.0); }
double hardswish(double x) { return x <= -3 ? x * 0 : x < 3 ? x * (x + 3) / 6 : x; }
double mish(double x) {
  return x * std::tanh(std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))));
}
// By the distance to the next integer, so that it is 0 at integers.
double sinc(double x) {
  if (x == 0) return 1;
  const double whole = std::nearbyint(x), sine = std::sin(std::numbers::pi * (x - whole));
  return (std::fmod(whole, 2) == 0 ? sine : -sine) / (std::numbers::pi * x);
}
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

constexpr std::array rules{
    Rule{"neg", [](double x) { return -x; }, 0},
    Rule{"abs", [](double x) { return std::abs(x); }, 0},
    Rule{"square", [](double x) { return x * x; }, 0},
    Rule{"sqrt", [](double x) { return std::sqrt(x); }, 0},
    Rule{"relu", relu, 0},
    Rule{"reciprocal", [](double x) { return 1 / x; }, 0},
    Rule{"rsqrt", [](double x) { return 1 / std::sqrt(x); }, 4},
    Rule{"exp", [](double x) { return std::exp(x); }, 16, 8},
    Rule{"exp2", [](double x) { return std::exp2(x); }, 8},
    Rule{"log", [](double x) { return std::log(x); }, 16},
    Rule{"log2", [](double x) { return std::log2(x); }, 8},
    Rule{"sin", [](double x) { return std::sin(x); }, 8},
    Rule{"cos", [](double x) { return std::cos(x); }, 8},
    Rule{"tanh", [](double x) { return std::tanh(x); }, 64},
    Rule{"sigmoid", sigmoid, 32, 8},
    Rule{"silu", [](double x) { return x * sigmoid(x); }, 32, 8},
    Rule{"gelu", gelu, 64, 64},
    Rule{"softplus", softplus, 64, 16},
    Rule{"erf", [](double x) { return std::erf(x); }, 64},
    Rule{"expm1", [](double x) { return std::expm1(x); }, 8},
    Rule{"log1p", [](double x) { return std::log1p(x); }, 8},
    Rule{"log10", [](double x) { return std::log10(x); }, 8},
    Rule{"tan", [](double x) { return std::tan(x); }, 8},
    Rule{"asin", [](double x) { return std::asin(x); }, 10},
    Rule{"acos", [](double x) { return std::acos(x); }, 10},
    Rule{"atan", [](double x) { return std::atan(x); }, 8},
    Rule{"sinh", [](double x) { return std::sinh(x); }, 8},
    Rule{"cosh", [](double x) { return std::cosh(x); }, 8},
    Rule{"asinh", [](double x) { return std::asinh(x); }, 8},
    Rule{"acosh", [](double x) { return std::acosh(x); }, 8},
    Rule{"atanh", [](double x) { return std::atanh(x); }, 8},
    Rule{"sinc", sinc, 10},
    Rule{"erfc", [](double x) { return std::erfc(x); }, 12},
    Rule{"lgamma", [](double x) { return std::lgamma(x); }, 120, 0, false, 120},
    Rule{"deg2rad", [](double x) { return x * (std::numbers::pi / 180); }, 3},
    Rule{"rad2deg", [](double x) { return x * (180 / std::numbers::pi); }, 4},
    Rule{"frac", [](double x) { return x - std::trunc(x); }, 0},
    Rule{"relu6", [](double x) { return std::isnan(x) ? x : std::clamp(x, 0.0, 6.0); }, 0},
    Rule{"hardtanh", [](double x) { return std::isnan(x) ? x : std::clamp(x, -1.0, 1.0); }, 0},
    Rule{"leaky_relu", [](double x) { return x > 0 ? x : x * 0.01; }, 3},
    Rule{"elu", elu, 6},
    Rule{"celu", elu, 6},
    Rule{"selu", selu, 10},
    Rule{"mish", mish, 12, 0.01},
    Rule{"softsign", [](double x) { return x / (1 + std::abs(x)); }, 6},
    Rule{"logsigmoid", [](double x) { return -softplus(-x); }, 16},
    Rule{"quick_gelu", quick_gelu, 32, 16},
    Rule{"exact_gelu", exact_gelu, 4, 0, false, 0, 6},
    Rule{"hardsigmoid", hardsigmoid, 2, 0, false, 4},
    Rule{"hardswish", hardswish, 8, 0, false, 0, 4},
    Rule{"sign", sign, 0, 0, true},
    Rule{"trunc", [](double x) { return std::trunc(x); }, 0, 0, true},
    Rule{"floor", [](double x) { return std::floor(x); }, 0, 0, true},
    Rule{"ceil", [](double x) { return std::ceil(x); }, 0, 0, true},
    Rule{"round", [](double x) { return std::nearbyint(x); }, 0, 0, true},
};

const Rule& rule_of(std::string_view name) {
  for (const Rule& rule : rules)
    if (rule.name == name) return rule;
  throw std::logic_error("no unary function " + std::string(name));
}

// By how much the value changes within the error: at both ends and halfway.
double spread(Function value, double x, double error) {
  const double here = value(x);
  double most = 0;
  for (const double part : {-1.0, -0.5, 0.5, 1.0}) {
    const double change = std::abs(value(x + part * error) - here);
    if (!(change <= std::numeric_limits<double>::max())) return unknown;
    most = std::max(most, change);
  }
  return most;
}

// Periodic functions turn around within the error, but change by no more than their slope allows.
double change_of(const Rule& rule, double x, double error) {
  if (rule.name == "sin" || rule.name == "cos") return error;
  if (rule.name == "sinc") return 1.4 * error;
  const double slope = 1 + std::abs(rule.value(x));
  if (rule.name == "tan") return error * slope < 0.1 ? 2 * error * slope * slope : unknown;
  const bool has_poles = rule.name == "lgamma" && x - error <= 0;
  const bool has_jumps = rule.name == "frac" && std::trunc(x - error) != std::trunc(x + error);
  if (has_poles || has_jumps) return unknown;
  return 1.5 * spread(rule.value, x, error);
}

Cell real(const Rule& rule, const Cell& cell, Type type) {
  const double x = cell.real, value = rule.value(x);
  // An exponential on the way may overflow, and what it divides is then 0.
  const bool is_tiny = rule.halves_by_size > 0 &&
                       std::abs(value) < 1e3 * std::ldexp(1.0, format_of(type).least_exponent);
  if (is_tiny) return Cell::of_real(value, unknown);
  if (cell.is_unknown()) return Cell::of_real(value, unknown);
  // The sign of a zero is open, and so is that of its reciprocal.
  const bool is_pole = rule.name == "reciprocal" || rule.name == "rsqrt";
  if (is_pole && x == 0) return Cell::of_real(value, unknown);
  if (!std::isfinite(value)) return Cell::of_real(value, cell.error == 0 ? 0 : unknown);
  if (rule.name == "square") return combined("mul", cell, cell, type);
  const double beside =
      half_ulp(type) * (rule.halves_of_one + rule.halves_of_operand * std::abs(x));
  if (cell.error == 0) {
    const double halves = rule.halves + rule.halves_by_size * std::abs(x);
    Cell result = rounded_cell(value, beside, type, halves);
    if (rule.name == "neg") result.slack = cell.slack;
    return result;
  }
  if (rule.is_step) {
    const bool is_certain =
        rule.value(x - cell.error) == value && rule.value(x + cell.error) == value;
    return Cell::of_real(value, is_certain ? 0 : unknown);
  }
  const double change = change_of(rule, x, cell.error);
  return rounded_cell(value, change + beside, type,
                      rule.halves + rule.halves_by_size * std::abs(x));
}

Cell whole(std::string_view name, const Cell& cell, Type type) {
  const std::int64_t x = cell.whole;
  const auto natural = static_cast<std::uint64_t>(x);
  const bool is_below = !is_unsigned(type) && x < 0;
  std::int64_t value = x;  // of trunc, floor ...
  if (name == "neg" || (name == "abs" && is_below)) value = static_cast<std::int64_t>(-natural);
  if (name == "square") value = static_cast<std::int64_t>(natural * natural);
  if (name == "relu" && is_below) value = 0;
  if (name == "sign") value = is_below ? -1 : x != 0;
  if (name == "bitwise_not") value = is_bool(type) ? x == 0 : ~x;
  return Cell::of(wrapped(value, type), cell.error);
}

bool is_whole_rule(std::string_view name) {
  constexpr std::array names{"neg",   "square", "abs",  "relu",  "sign",
                             "trunc", "floor",  "ceil", "round", "bitwise_not"};
  for (const std::string_view each : names)
    if (each == name) return true;
  return false;
}

// The sign of a zero and of NaN is open.
Array below_zero(const Array& x) {
  Array result = fresh(Type::Bool, x.shape);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Cell& cell = x[i];
    if (is_float(x.type))
      result[i] = Cell::of(cell.real<0, std::abs(cell.real)> cell.error ? 0 : unknown);
    else
      result[i] = Cell::of(!is_unsigned(x.type) && !is_bool(x.type) && cell.whole < 0, cell.error);
  }
  return result;
}

// Conditions of one element.
std::optional<Array> condition(std::string_view name, const Array& x) {
  if (name == "signbit") return below_zero(x);
  if (name != "isnan" && name != "isinf" && name != "isfinite" && name != "logical_not") return {};
  Array result = fresh(Type::Bool, x.shape);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Cell& cell = x[i];
    if (name == "logical_not") {
      result[i] = converted(cell, x.type, Type::Bool);
      result[i].whole = result[i].whole == 0;
      continue;
    }
    const double value = is_float(x.type) ? cell.real : 0;
    result[i].whole = name == "isnan"   ? std::isnan(value)
                      : name == "isinf" ? std::isinf(value)
                                        : std::isfinite(value);
    result[i].error = cell.is_unknown() ? unknown : 0;
  }
  return result;
}

}  // namespace

Array unary(std::string_view name, const Array& x) {
  if (const auto result = condition(name, x)) return *result;
  if (!is_float(x.type) && is_whole_rule(name)) {
    Array result = fresh(x.type, x.shape);
    for (std::size_t i = 0; i < x.size(); ++i) result[i] = whole(name, x[i], x.type);
    return result;
  }
  const Rule& rule = rule_of(name);
  const Array from = cast(x, float_like(x.type));
  Array result = fresh(from.type, x.shape);
  for (std::size_t i = 0; i < x.size(); ++i) result[i] = real(rule, from[i], from.type);
  return result;
}

}  // namespace nets
