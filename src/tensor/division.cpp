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

// As Python: exact, where the rounded quotient may be the next integer already.
Tensor floored_quotient(const Tensor& a, const Tensor& b) {
  const Tensor rest = a.fmod(b), whole = ((a - rest) / b).round();
  const Tensor is_above = (rest != 0) & ((rest < 0) != (b < 0));
  return (b == 0).where(a / b, is_above.where(whole - 1, whole));
}

// As many steps as the two neighbouring Fibonacci numbers take that are the largest of these bits.
std::int64_t euclid_steps(DType dtype) {
  return static_cast<std::int64_t>(std::ceil(dtype.bits() * 1.4405)) + 1;
}

void want_integers(std::string_view op, const Operand& a, const Operand& b) {
  if (!joint(a, b).is_int())
    user_error(fmt::format("{}: of {} and {}: only for integers", op, a.uop->dtype().str(),
                           b.uop->dtype().str()));
}

}  // namespace

Tensor Tensor::floordiv(const Operand& other) const {
  const DType dtype = joint(*this, other);
  want_numbers("floordiv", dtype);
  if (!dtype.is_float())
    return elementwise("floordiv", *this, other, dtype,
                       [](const UOp& x, const UOp& y) { return x / y; });
  const auto [a, b] = brought_together("floordiv", *this, other, promote(dtype, dtypes::f32));
  return floored_quotient(a.detach(), b.detach()).cast(dtype);
}

Tensor floordiv(const Operand& a, const Operand& b) {
  return brought_together("floordiv", a, b, joint(a, b)).first.floordiv(b);
}

Tensor Tensor::div(const Operand& other, Rounding rounding) const {
  if (rounding == Rounding::None) return *this / other;
  if (rounding == Rounding::Floor) return floordiv(other);
  const DType dtype = joint(*this, other);
  want_numbers("div", dtype);
  if (dtype.is_float()) return (*this / other).trunc();
  return elementwise("div", *this, other, dtype,
                     [](const UOp& x, const UOp& y) { return make(Op::CDiv, {x, y}); });
}

Tensor Tensor::fmod(const Operand& other) const {
  const DType dtype = joint(*this, other);
  want_numbers("fmod", dtype);
  const Op op = dtype.is_float() ? Op::Mod : Op::CMod;
  return elementwise("fmod", *this, other, dtype,
                     [op](const UOp& x, const UOp& y) { return make(op, {x, y}); });
}

// Euclid's algorithm, as often as any two numbers of the dtype need.
Tensor Tensor::gcd(const Operand& other) const {
  want_integers("gcd", *this, other);
  const DType dtype = joint(*this, other);
  auto [a, b] = brought_together("gcd", *this, other, dtype);
  a = a.abs();
  b = b.abs();
  for (std::int64_t i = euclid_steps(dtype); i > 0; --i) {
    const Tensor is_done = b == 0, rest = a.fmod(is_done.where(1, b));
    a = is_done.where(a, b);
    b = is_done.where(0, rest);
  }
  return a;
}

Tensor Tensor::lcm(const Operand& other) const {
  want_integers("lcm", *this, other);
  return (div(gcd(other), Rounding::Trunc) * other).abs();
}

Tensor Tensor::frac() const { return *this - trunc(); }

Tensor Tensor::round(std::int64_t decimals) const {
  if (decimals == 0 || !dtype().is_float()) return round();
  const double scale = std::pow(10.0, static_cast<double>(std::abs(decimals)));
  return widely(*this, [&](const Tensor& x) {
    return decimals > 0 ? (x * scale).round() / scale : (x / scale).round() * scale;
  });
}

Tensor Tensor::float_power(const Operand& exponent) const {
  return cast(dtypes::f64).pow(exponent);
}

Tensor pow(const Operand& base, const Operand& exponent) {
  return brought_together("pow", base, exponent, joint(base, exponent)).first.pow(exponent);
}

}  // namespace weft
