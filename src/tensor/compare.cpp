// How near tensors are to each other, and to infinity.

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <weft/error.h>
#include <weft/limits.h>

#include "functions.h"

namespace weft {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

Tensor Tensor::isclose(const Operand& other, double rtol, double atol, bool equal_nan) const {
  const Called called;
  if (rtol < 0 || atol < 0)
    user_error(fmt::format("isclose: tolerances of {} and {}: want at least 0", rtol, atol));
  const DType own = promote(joint_float(*this, other), dtypes::f32);
  const auto [a, b] = brought_together("isclose", *this, other, own);
  const Tensor is_near = ((a - b).abs() <= b.abs() * rtol + atol) & b.isfinite();
  const Tensor result = (*this == other) | is_near;
  return equal_nan ? result | (a.isnan() & b.isnan()) : result;
}

bool Tensor::allclose(const Operand& other, double rtol, double atol, bool equal_nan) const {
  return Called(), isclose(other, rtol, atol, equal_nan).all().item<bool>();
}

bool Tensor::equal(const Tensor& other) const {
  return Called(), shape() == other.shape() && (*this == other).all().item<bool>();
}

Tensor Tensor::isinf(bool detect_positive, bool detect_negative) const {
  const Called called;
  if (detect_positive && detect_negative) return isinf();
  if (!dtype().is_float() || (!detect_positive && !detect_negative))
    return full_like(false).cast(dtypes::bool_);
  return *this == (detect_positive ? infinity : -infinity);
}

Tensor Tensor::nan_to_num(Scalar nan, std::optional<Scalar> posinf,
                          std::optional<Scalar> neginf) const {
  const Called called;
  if (!dtype().is_float()) return from(*this);
  const Scalar most = posinf.value_or(finfo(dtype()).max);
  const Scalar least = neginf.value_or(finfo(dtype()).min);
  const Tensor finite =
      isinf(true, false).where(value_of(most), isinf(false, true).where(value_of(least), *this));
  return isnan().where(value_of(nan), finite);
}

// Of NaN it is NaN, as in numpy.
Tensor Tensor::heaviside(const Operand& at_zero) const {
  const Called called;
  const auto [x, y] = brought_together("heaviside", *this, at_zero, joint(*this, at_zero));
  return (x == 0).where(y, (x > 0).where(x.full_like(1), (x < 0).where(0, x))).detach();
}

Tensor Tensor::fmax(const Operand& other) const {
  const Called called;
  const auto [a, b] = brought_together("fmax", *this, other, joint(*this, other));
  return a.isnan().where(b, b.isnan().where(a, a.maximum(b)));
}

Tensor Tensor::fmin(const Operand& other) const {
  const Called called;
  const auto [a, b] = brought_together("fmin", *this, other, joint(*this, other));
  return a.isnan().where(b, b.isnan().where(a, a.minimum(b)));
}

// Either may be left out. At a limit the gradient is the tensor's, not the limit's.
Tensor Tensor::clamp(const Tensor& least, const Tensor& most) const {
  const Called called;
  if (least.is_null() && most.is_null())
    user_error("clamp: neither a least nor a largest value is given");
  // As of a maximum, a NaN of either is the result.
  const auto stays = [](const Tensor& x, const Tensor& is_within) { return is_within | x.isnan(); };
  Tensor result = *this;
  if (!least.is_null()) result = stays(result, result >= least).where(result, least);
  if (!most.is_null()) result = stays(result, result <= most).where(result, most);
  return result;
}

Tensor Tensor::addcmul(const Tensor& a, const Tensor& b, Scalar value) const {
  return Called(), *this + a * b * value_of(value);
}
Tensor Tensor::addcdiv(const Tensor& a, const Tensor& b, Scalar value) const {
  return Called(), *this + a / b * value_of(value);
}

Tensor Tensor::logical_xor(const Operand& other) const {
  const Called called;
  return elementwise("logical_xor", *this, other, dtypes::bool_,
                     [](const UOp& x, const UOp& y) { return x != y; });
}

}  // namespace weft
