// Functions of each element, composed of the primitive ones.

#include <cmath>
#include <numbers>

#include <weft/dev/tensor/quotient.h>
#include <weft/error.h>

#include "fits.h"
#include "functions.h"

namespace weft {

using std::numbers::log2e;

Tensor Tensor::abs() const {
  return Called(), dtype().is_unsigned() || dtype().is_bool() ? from(*this) : maximum(-*this);
}

// Of zeros and NaN, they themselves.
Tensor Tensor::sign() const {
  const Called called;
  const Tensor below =
      dtype().is_unsigned() ? detach() : (*this < 0).where(full_like(-1), detach());
  return (*this > 0).where(full_like(1), below);
}

Tensor Tensor::square() const { return Called(), *this * *this; }
Tensor Tensor::rsqrt() const {
  return Called(), widely(*this, [](const Tensor& x) { return x.sqrt().reciprocal(); });
}
Tensor Tensor::exp() const {
  return Called(), widely(*this, [](const Tensor& x) { return (x * log2e).exp2(); });
}
Tensor Tensor::log() const {
  return Called(), widely(*this, [](const Tensor& x) { return x.log2() * std::numbers::ln2; });
}
Tensor Tensor::log10() const {
  const Called called;
  constexpr double log10_2 = std::numbers::ln2 / std::numbers::ln10;
  return widely(*this, [](const Tensor& x) { return x.log2() * log10_2; });
}
Tensor Tensor::tan() const {
  return Called(), widely(*this, [](const Tensor& x) { return x.sin() / x.cos(); });
}

Tensor Tensor::floor() const {
  const Called called;
  const Tensor whole = trunc();
  return dtype().is_float() ? (*this < whole).where(whole - 1, whole) : whole;
}

Tensor Tensor::ceil() const {
  const Called called;
  const Tensor whole = trunc();
  return dtype().is_float() ? (*this > whole).where(whole + 1, whole) : whole;
}

// The distance to the truncated value is exact; at a half the even neighbour is the nearer.
Tensor Tensor::round() const {
  const Called called;
  Tensor whole = trunc();
  if (!dtype().is_float()) return whole;
  const Tensor rest = (*this - whole).abs();
  const Tensor is_odd = (whole / 2).trunc() * 2 != whole;
  return ((rest > 0.5) | ((rest == 0.5) & is_odd)).where(whole + sign(), whole);
}

Tensor Tensor::isnan() const { return Called(), *this != *this; }

Tensor Tensor::isinf() const {
  const Called called;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return dtype().is_float() ? abs() == infinity : full_like(false).cast(dtypes::bool_);
}

Tensor Tensor::isfinite() const { return Called(), !(isnan() | isinf()); }

Tensor Tensor::lerp(const Operand& end, const Operand& weight) const {
  const Called called;
  const auto between = [&](const Tensor& start) { return start + (end - start) * weight; };
  return between(cast(between(*this).dtype()));  // differences of integers would wrap
}

// At a limit no gradient passes, as where it is beyond; NaN stays.
Tensor Tensor::clamp(std::optional<Scalar> least, std::optional<Scalar> most) const {
  const Called called;
  if (!least && !most) user_error("clamp: neither a least nor a largest value is given");
  Tensor result = *this;
  if (least) result = (result <= value_of(*least)).where(value_of(*least), result);
  if (most) result = (result >= value_of(*most)).where(value_of(*most), result);
  return result;
}

Tensor Tensor::clip(std::optional<Scalar> least, std::optional<Scalar> most) const {
  return Called(), clamp(least, most);
}

// At 0 and for NaN as the framework's users expect: no gradient at 0, and NaN stays.
Tensor Tensor::relu() const { return Called(), (*this <= 0).where(0, *this); }
Tensor Tensor::relu6() const { return Called(), clamp(0, 6); }
Tensor Tensor::leaky_relu(double slope) const {
  return Called(), (*this > 0).where(*this, *this * slope);
}
// Where exp overflows this is 0, of which the slope makes a number again.
Tensor Tensor::sigmoid() const {
  const Called called;
  return with_slope(
      *this, [](const Tensor& x) { return ((x * -log2e).exp2() + 1).reciprocal(); },
      [](const Tensor&, const Tensor& y) { return y * (1 - y); });
}
Tensor Tensor::logsigmoid() const { return Called(), -(-*this).softplus(); }

Tensor gated(const Tensor& x, const Tensor& gate) {
  return with_slopes(
      {x, gate}, [](const Tensor& a, const Tensor& b) { return a / ((b * -log2e).exp2() + 1); },
      [](const Tensor&, const Tensor& b, const Tensor& y) {
        const Tensor share = b.sigmoid();
        return std::pair(share, y * (1 - share));
      });
}

Tensor Tensor::silu() const {
  return Called(), widely(*this, [](const Tensor& x) { return gated(x, x); });
}
Tensor Tensor::quick_gelu() const {
  return Called(), widely(*this, [](const Tensor& x) { return gated(x, x * 1.702); });
}

// tanh(log(1 + e)) is (e^2 + 2e)/(e^2 + 2e + 2), which is 1 long before the square overflows.
Tensor Tensor::mish() const {
  const Called called;
  return widely(*this, [](const Tensor& x) {
    const Tensor e = (x > 20).where(20, x).exp(), part = e * (e + 2);
    return x * (part / (part + 2));
  });
}
Tensor Tensor::hardtanh(double least, double most) const { return Called(), clamp(least, most); }

// A product with the reciprocal, and what it is wrong by: the remainder of both is exact, but where it is a subnormal
// number, and negated so that zeros keep their signs. What is infinite, or becomes so, has none.
Tensor quotient(const Tensor& x, double divisor) {
  const double size = std::abs(divisor);
  if (!(size > 0x1p-100 && size < 0x1p100)) return x / divisor;
  const auto compute = [size](const Tensor& a) {
    const double known = a.dtype() == dtypes::f32 ? static_cast<float>(size) : size;
    const Tensor near = a * (1 / known), rest = fused(near, known, -a);
    return (rest - rest == 0).where(fused(rest, -1 / known, near), near);
  };
  return with_slope(divisor < 0 ? -x : x, compute,
                    [size](const Tensor& a, const Tensor&) { return a.full_like(1 / size); });
}

// log(1 + exp(x)), without exp of what is large.
Tensor Tensor::softplus(double beta) const {
  const Called called;
  const auto compute = [beta](const Tensor& wide) {
    const Tensor x = wide * beta, e = (x.abs() * -log2e).exp2();
    return fused(e, polynomial(e, log1p_fit), x.relu()) * (1 / beta);
  };
  return with_slope(*this, compute,
                    [beta](const Tensor& x, const Tensor&) { return (x * beta).sigmoid(); });
}

// (1 + tanh(x))/2 is the sigmoid of 2x.
Tensor Tensor::gelu(Gelu form) const {
  const Called called;
  const double scale = 4 * std::numbers::inv_sqrtpi / std::numbers::sqrt2;  // 2 sqrt(2 / pi)
  return widely(*this, [&](const Tensor& x) {
    if (form == Gelu::Tanh) return gated(x, x * fused(x.square(), scale * 0.044715, scale));
    const Tensor half = x * 0.5;
    return fused(half, (x * (1 / std::numbers::sqrt2)).erf(), half);
  });
}

Operand Tensor::value_of(Scalar value) { return {value.as(value.literal()), {}, false}; }

}  // namespace weft
