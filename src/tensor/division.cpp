// Quotients, remainders and what integers have in common.

#include <cmath>

#include <fmt/format.h>
#include <weft/error.h>

#include "functions.h"

namespace weft {
namespace {

void want_numbers(std::string_view op, DType dtype) {
  if (dtype.is_bool()) user_error(fmt::format("{}: not for bools", op));
}

// As Python: exact, where the rounded quotient may be the next integer already. How often four times the divisor is taken away
// is small enough for its quotient to round to it; how often the divisor fits into what is left is counted.
Tensor floored_quotient(const Tensor& a, const Tensor& b) {
  const Tensor four = b * 4, rest = a.fmod(four), fours = ((a - rest) / four).round();
  const Tensor one = b.abs(), two = one * 2, size = rest.abs();
  const Tensor has_two = size >= two, below_two = has_two.where(size - two, size);
  const Tensor has_one = below_two >= one, below_one = has_one.where(below_two - one, below_two);
  const Tensor is_negative = (a < 0) != (b < 0);
  const Tensor is_more = is_negative & (below_one != 0);
  const Tensor ones = (has_two.where(2, 0) + has_one.where(1, 0) + is_more).cast(a.dtype());
  return (b == 0).where(a / b, fours * 4 + is_negative.where(-ones, ones));
}

// What two unsigned numbers have in common. Each step halves the even one of them, or the difference of two
// odd ones, and so the product at least. The power of two in both stays in both: it is what one is odd by.
Tensor common_part(const Tensor& a, const Tensor& b) {
  const Tensor both = a | b, unit = both & (~both + 1);
  Tensor odd = ((a & unit) != 0).where(a, b), rest = a ^ b ^ odd;
  for (int step = 0; step < 2 * a.dtype().bits(); ++step) {
    const Tensor less = ((rest & unit) != 0).where(odd, 0), is_below = rest < less;
    odd = is_below.where(rest, odd);
    rest = is_below.where(less - rest, rest - less) >> 1;
  }
  return odd;
}

void want_integers(std::string_view op, const Operand& a, const Operand& b) {
  if (!joint(a, b).is_int())
    user_error(fmt::format("{}: of {} and {}: only for integers", op, a.uop()->dtype().str(),
                           b.uop()->dtype().str()));
}

// To a multiple of the unit, of two equally near ones the even multiple.
Tensor rounded_integers(const Tensor& x, std::int64_t unit) {
  const Tensor multiple = x.div(unit, Tensor::Rounding::Trunc), rest = (x - multiple * unit).abs();
  const Tensor goes_on = (rest > unit / 2) | ((rest == unit / 2) & (multiple % 2 != 0));
  return goes_on.where(multiple + x.sign(), multiple) * unit;
}

}  // namespace

Tensor Tensor::floordiv(const Operand& other) const {
  const Called called;
  const DType dtype = joint(*this, other);
  want_numbers("floordiv", dtype);
  if (!dtype.is_float())
    return elementwise("floordiv", *this, other, dtype,
                       [](const UOp& x, const UOp& y) { return x / y; });
  // A number is one of this dtype before the quotient is wider: 1 by 0.1 is 10 in f16, and would be 9 in f32.
  const auto [a, b] = brought_together("floordiv", *this, other, dtype);
  const DType wide = promote(dtype, dtypes::f32);
  return floored_quotient(a.detach().cast(wide), b.detach().cast(wide)).cast(dtype);
}

Tensor floordiv(const Operand& a, const Operand& b) {
  return Called(), brought_together("floordiv", a, b, joint(a, b)).first.floordiv(b);
}

Tensor Tensor::div(const Operand& other, Rounding rounding) const {
  const Called called;
  if (rounding == Rounding::None) return *this / other;
  if (rounding == Rounding::Floor) return floordiv(other);
  const DType dtype = joint(*this, other);
  want_numbers("div", dtype);
  if (dtype.is_float()) return (*this / other).trunc();
  return elementwise("div", *this, other, dtype,
                     [](const UOp& x, const UOp& y) { return make(Op::CDiv, {x, y}); });
}

Tensor Tensor::fmod(const Operand& other) const {
  const Called called;
  const DType dtype = joint(*this, other);
  want_numbers("fmod", dtype);
  const Op op = dtype.is_float() ? Op::Mod : Op::CMod;
  return elementwise("fmod", *this, other, dtype,
                     [op](const UOp& x, const UOp& y) { return make(op, {x, y}); });
}

Tensor Tensor::gcd(const Operand& other) const {
  const Called called;
  want_integers("gcd", *this, other);
  const DType dtype = joint(*this, other), within = unsigned_bits(dtype);
  const auto [a, b] = brought_together("gcd", *this, other, dtype);
  return common_part(a.abs().bitcast(within), b.abs().bitcast(within)).bitcast(dtype);
}

Tensor Tensor::lcm(const Operand& other) const {
  const Called called;
  want_integers("lcm", *this, other);
  return (div(gcd(other), Rounding::Trunc) * other).abs();
}

Tensor Tensor::frac() const { return Called(), *this - trunc(); }

Tensor Tensor::round(std::int64_t decimals) const {
  const Called called;
  if (decimals < 0 && dtype().is_int()) {
    std::int64_t unit = 1;
    for (std::int64_t i = decimals; i < 0; ++i)
      if (__builtin_mul_overflow(unit, 10, &unit) || !can_be(dtype(), unit)) return zeros_like();
    return rounded_integers(*this, unit);
  }
  if (decimals == 0 || !dtype().is_float()) return round();
  const double scale = std::pow(10.0, static_cast<double>(std::abs(decimals)));
  return widely(*this, [&](const Tensor& x) {
    return decimals > 0 ? (x * scale).round() / scale : (x / scale).round() * scale;
  });
}

Tensor Tensor::float_power(const Operand& exponent) const {
  return Called(), cast(dtypes::f64).pow(exponent);
}

Tensor pow(const Operand& base, const Operand& exponent) {
  const Called called;
  return brought_together("pow", base, exponent, joint(base, exponent)).first.pow(exponent);
}

}  // namespace weft
