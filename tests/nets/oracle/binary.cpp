// Functions of two elements.

#include <algorithm>
#include <array>

#include "elementwise.h"

namespace nets {
namespace {

using Natural = std::uint64_t;

// Quotients and remainders round down; by 0 they are 0 and the dividend.
template <class Whole>
Whole floored(Whole a, Whole b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<Whole>) {
    if (b == -1) return static_cast<Whole>(-static_cast<Natural>(a));
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
  }
  return a / b;
}

template <class Whole>
Whole truncated(Whole a, Whole b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<Whole>)
    if (b == -1) return static_cast<Whole>(-static_cast<Natural>(a));
  return a / b;
}

template <class Whole>
std::int64_t shifted(std::string_view name, Whole a, Whole b, Type type) {
  const bool is_beyond = b < 0 || b >= static_cast<Whole>(bits_of(type));
  if (name == "lshift")
    return is_beyond ? 0 : static_cast<std::int64_t>(static_cast<Natural>(a) << b);
  return static_cast<std::int64_t>(is_beyond ? (a < 0 ? Whole(-1) : Whole(0)) : a >> b);
}

// Modulo 2^64. Below 0 only 1 and -1 have powers that are integers; the others are 0.
template <class Whole>
Natural power(Whole base, Whole exponent) {
  if (exponent < 0) {
    const bool is_one = base == 1 || base == static_cast<Whole>(-1);
    return !is_one ? 0 : exponent % 2 == 0 ? 1 : static_cast<Natural>(base);
  }
  Natural result = 1, square = static_cast<Natural>(base);
  for (auto left = static_cast<Natural>(exponent); left > 0; left >>= 1, square *= square)
    if ((left & 1) != 0) result *= square;
  return result;
}

template <class Whole>
std::int64_t of_integers(std::string_view name, Whole a, Whole b, Type type) {
  const auto x = static_cast<Natural>(a), y = static_cast<Natural>(b);
  const auto signed_one = [](Natural value) { return static_cast<std::int64_t>(value); };
  if (name == "add") return signed_one(x + y);
  if (name == "sub") return signed_one(x - y);
  if (name == "mul") return signed_one(x * y);
  if (name == "floordiv") return signed_one(static_cast<Natural>(floored(a, b)));
  if (name == "mod") return signed_one(x - static_cast<Natural>(floored(a, b)) * y);
  if (name == "div_trunc") return signed_one(static_cast<Natural>(truncated(a, b)));
  if (name == "fmod") return signed_one(x - static_cast<Natural>(truncated(a, b)) * y);
  if (name == "maximum") return signed_one(static_cast<Natural>(std::max(a, b)));
  if (name == "minimum") return signed_one(static_cast<Natural>(std::min(a, b)));
  if (name == "pow") return signed_one(power(a, b));
  if (name == "bitwise_and") return signed_one(x & y);
  if (name == "bitwise_or") return signed_one(x | y);
  if (name == "bitwise_xor") return signed_one(x ^ y);
  return shifted(name, a, b, type);
}

std::int64_t of_bools(std::string_view name, bool a, bool b) {
  if (name == "add" || name == "maximum" || name == "bitwise_or") return a || b;
  if (name == "mul" || name == "minimum" || name == "bitwise_and") return a && b;
  return a != b;
}

bool is_comparison(std::string_view name) {
  return name == "lt" || name == "le" || name == "gt" || name == "ge" || name == "eq" ||
         name == "ne";
}

Cell compared(std::string_view name, const Cell& a, const Cell& b, Type type) {
  const auto is_nan = [&](const Cell& cell) {
    return is_float(type) && cell.error == 0 && std::isnan(cell.real);
  };
  if ((is_nan(a) && !b.is_unknown()) || (is_nan(b) && !a.is_unknown()))
    return Cell::of(name == "ne");
  const std::optional<int> order = order_of(a, b, type);
  if (!order) return Cell::of(0, unknown);
  if (name == "lt") return Cell::of(*order < 0);
  if (name == "le") return Cell::of(*order <= 0);
  if (name == "gt") return Cell::of(*order > 0);
  if (name == "ge") return Cell::of(*order >= 0);
  return Cell::of((*order == 0) == (name == "eq"));
}

// The quotient rounded down and what is left, as Python: what is left is exact, or rounded once.
Cell floored_real(std::string_view name, double x, double y, Type type) {
  const double rest = std::isinf(y) && std::isfinite(x) ? x : std::fmod(x, y);
  const bool is_apart = rest != 0 && (rest < 0) != (y < 0);
  if (name == "mod") return Cell::of_real(rounded(is_apart ? rest + y : rest, type));
  if (y == 0 || !std::isfinite(x / y) || std::abs(x / y) >= std::ldexp(1.0, format_of(type).digits))
    return Cell::of_real(0, unknown);
  const double whole = std::isinf(y) ? 0 : std::nearbyint((x - rest) / y);
  return Cell::of_real(is_apart ? whole - 1 : whole);
}

Cell divided(const Cell& a, const Cell& b, Type type) {
  const double x = a.real, y = b.real, value = x / y;
  if (y == 0)
    return Cell::of_real(value, std::isnan(value) && a.error + b.error == 0 ? 0 : unknown);
  if (a.error == 0 && b.error == 0) return rounded_cell(value, 0, type);
  const double least = std::abs(y) - b.error;
  if (!(least > 0)) return Cell::of_real(value, unknown);
  return rounded_cell(value, (a.error + std::abs(value) * b.error) / least, type);
}

Cell multiplied(const Cell& a, const Cell& b, Type type) {
  const double x = a.real, y = b.real;
  if (a.error > 0 || b.error > 0)
    return rounded_cell(x * y, std::abs(x) * b.error + std::abs(y) * a.error + a.error * b.error,
                        type);
  Cell result = rounded_cell(x * y, 0, type);
  if (std::isfinite(result.real) && std::fma(x, y, -result.real) != 0)
    result.slack = half_ulp(type) * std::abs(x * y);
  return result;
}

Cell powered(const Cell& a, const Cell& b, Type type) {
  const double value = std::pow(a.real, b.real);
  // The sign of a zero is open.
  if (!std::isfinite(value) && a.real == 0) return Cell::of_real(value, unknown);
  if (a.error == 0 && b.error == 0) return rounded_cell(value, 0, type, 8);
  double most = 0;
  for (const double one : {-1.0, 1.0})
    for (const double other : {-1.0, 1.0}) {
      const double change =
          std::abs(std::pow(a.real + one * a.error, b.real + other * b.error) - value);
      if (!(change < unknown)) return Cell::of_real(value, unknown);
      most = std::max(most, change);
    }
  // Around 0 it is no monotonic function.
  if (std::abs(a.real) <= a.error) return Cell::of_real(value, unknown);
  return rounded_cell(value, 1.5 * most, type, 8);
}

Cell of_reals(std::string_view name, const Cell& a, const Cell& b, Type type) {
  const double x = a.real, y = b.real;
  if (a.is_unknown() || b.is_unknown()) return Cell::of_real(x, unknown);
  const double both = a.error + b.error;
  if (name == "add") return rounded_cell(x + y, both, type);
  if (name == "sub") return rounded_cell(x - y, both, type);
  if (name == "mul") return multiplied(a, b, type);
  if (name == "div") return divided(a, b, type);
  if (name == "pow") return powered(a, b, type);
  if (name == "maximum" || name == "minimum") {
    if (std::isnan(x) || std::isnan(y)) return Cell::of_real(std::nan(""));
    const bool is_first = (x > y) == (name == "maximum");
    return Cell::of_real(is_first ? x : y, x == y || both > 0 ? std::max(a.error, b.error) : 0);
  }
  if (both > 0) return Cell::of_real(x, unknown);
  if (name == "fmod") return Cell::of_real(std::fmod(x, y));
  if (name == "div_trunc") {
    const Cell quotient = divided(a, b, type);
    return Cell::of_real(std::trunc(quotient.real), quotient.error);
  }
  return floored_real(name, x, y, type);
}

bool is_logical(std::string_view name) {
  return name == "logical_and" || name == "logical_or" || name == "logical_xor";
}

Cell logical(std::string_view name, const Cell& a, const Cell& b) {
  if (name == "logical_and" && ((a.error == 0 && a.whole == 0) || (b.error == 0 && b.whole == 0)))
    return Cell::of(0);
  if (name == "logical_or" && ((a.error == 0 && a.whole != 0) || (b.error == 0 && b.whole != 0)))
    return Cell::of(1);
  const bool value = name == "logical_and"  ? a.whole && b.whole
                     : name == "logical_or" ? a.whole || b.whole
                                            : a.whole != b.whole;
  return Cell::of(value, std::max(a.error, b.error));
}

}  // namespace

std::optional<int> order_of(const Cell& a, const Cell& b, Type type) {
  if (a.is_unknown() || b.is_unknown()) return {};
  if (!is_float(type)) {
    if (is_unsigned(type)) {
      const auto x = static_cast<Natural>(a.whole), y = static_cast<Natural>(b.whole);
      return x < y ? -1 : x > y;
    }
    return a.whole < b.whole ? -1 : a.whole > b.whole;
  }
  const double x = a.real, y = b.real, both = a.error + b.error;
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) ? !std::isnan(y) : -1;
  if (x == y) return both == 0 ? std::optional(0) : std::nullopt;
  if (std::isfinite(x) && std::isfinite(y) && std::abs(x - y) <= both) return {};
  return x < y ? -1 : 1;
}

Cell combined(std::string_view name, const Cell& a, const Cell& b, Type type) {
  if (is_comparison(name)) return compared(name, a, b, type);
  if (is_logical(name)) return logical(name, a, b);
  if (is_float(type)) return of_reals(name, a, b, type);
  const double error = std::max(a.error, b.error);
  if (is_bool(type)) return Cell::of(of_bools(name, a.whole != 0, b.whole != 0), error);
  const std::int64_t value = is_unsigned(type) ? of_integers(name, static_cast<Natural>(a.whole),
                                                             static_cast<Natural>(b.whole), type)
                                               : of_integers(name, a.whole, b.whole, type);
  return Cell::of(wrapped(value, type), error);
}

Array binary(std::string_view name, const Array& x, const Array& y) {
  Type type = is_logical(name) ? Type::Bool : promoted(x.type, y.type);
  if (name == "div") type = float_like(type);
  const bool is_on_bits = name.starts_with("bitwise") || name.ends_with("shift");
  want(!is_on_bits || !is_float(type), "bits of floats");
  const Numbers shape = broadcast_shape(x.shape, y.shape);
  const Array a = expanded(cast(x, type), shape), b = expanded(cast(y, type), shape);
  Array result = fresh(is_comparison(name) ? Type::Bool : type, shape);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = combined(name, a[i], b[i], type);
  return result;
}

Array where(const Array& condition, const Array& yes, const Array& no) {
  want(is_bool(condition.type), "a condition of another type");
  const Type type = promoted(yes.type, no.type);
  const Numbers shape = broadcast_shape(condition.shape, broadcast_shape(yes.shape, no.shape));
  const Array mask = expanded(condition, shape), a = expanded(cast(yes, type), shape),
              b = expanded(cast(no, type), shape);
  Array result = fresh(type, shape);
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = mask[i].whole != 0 ? a[i] : b[i];
    if (mask[i].error > 0) result[i].error = unknown;
  }
  return result;
}

}  // namespace nets
