// Exponentials, logarithms and the hyperbolic functions, with their relative precision also near 0.

#include <cmath>
#include <limits>
#include <numbers>

#include "fits.h"
#include "functions.h"

namespace weft {

using std::numbers::ln2, std::numbers::log2e;

Tensor plain_expm1(const Tensor& x) {
  const Tensor near = with_sign_of(x, fused(x * x, polynomial(x, expm1_fit), x));  // of -0 it is -0
  return (x.abs() < 0.5).where(near, x.exp() - 1);
}

// What is lost when 1 is added comes back divided by the sum: the slope of log there. Of -0 it is -0.
Tensor plain_log1p(const Tensor& x) {
  const Tensor sum = x + 1, is_regular = (x > -1) & (x < std::numeric_limits<double>::infinity());
  return with_sign_of(x, sum.log() + is_regular.where((x - (sum - 1)) / sum, 0));
}

namespace {

// exp(|x|)/2, which is infinite only where sinh and cosh are: of large x by exp(|x| - less). Neither the difference is
// rounded, nor much of exp(less)/2, in f32 and f64.
Tensor half_exp(const Tensor& x) {
  constexpr double less = 1.6171875;
  const Tensor size = x.abs(), is_large = size > 64;
  const Tensor scale = is_large.where(size.full_like(std::exp(less) / 2), 0.5);
  return is_large.where(size - less, size).exp() * scale;
}

Tensor plain_tanh(const Tensor& x) {
  const Tensor size = x.abs(), z = x * x;
  const Tensor far = 1 - 2 / ((size * (2 * log2e)).exp2() + 1);
  return with_sign_of(x, (size < 0.625).where(fused(size * z, polynomial(z, tanh_fit), size), far));
}

Tensor plain_sinh(const Tensor& x) {
  const Tensor is_near = x.abs() < 1, half = half_exp(x);
  const Tensor t = plain_expm1(is_near.where(x.abs(), 0));
  return with_sign_of(x, is_near.where((t + t / (t + 1)) * 0.5, half - 0.25 / half));
}

Tensor plain_cosh(const Tensor& x) {
  const Tensor half = half_exp(x);
  return half + 0.25 / half;
}

// Beyond this x^2 + 1 is x^2, whose square is not computed.
constexpr double large = 1 << 28;

Tensor plain_asinh(const Tensor& x) {
  const Tensor size = x.abs(), is_large = size > large, a = is_large.where(1, size);
  const Tensor square = a * a;
  const Tensor regular = plain_log1p(a + square / ((square + 1).sqrt() + 1));
  return with_sign_of(x, is_large.where(size.log() + ln2, regular));
}

Tensor plain_acosh(const Tensor& x) {
  const Tensor is_large = x > large, t = is_large.where(1, x) - 1;
  return is_large.where(x.log() + ln2, plain_log1p(t + t.sqrt() * (t + 2).sqrt()));
}

Tensor plain_atanh(const Tensor& x) {
  const Tensor size = x.abs();
  return with_sign_of(x, plain_log1p(size * 2 / (1 - size)) * 0.5);
}

// `compute(larger, less)` of two operands, for less = -|a - b|, which of two equal infinities is 0.
template <class F>
Tensor added_logarithms(std::string_view op, const Tensor& x, const Operand& other, F compute) {
  return widely(op, x, other, [&](const Tensor& a, const Tensor& b) {
    return compute(a.maximum(b), -(a == b).where(0, a - b).abs());
  });
}

}  // namespace

Tensor Tensor::expm1() const {
  const Called called;
  return with_slope(*this, plain_expm1, [](const Tensor&, const Tensor& y) { return y + 1; });
}
Tensor Tensor::log1p() const {
  const Called called;
  return with_slope(*this, plain_log1p,
                    [](const Tensor& x, const Tensor&) { return (x + 1).reciprocal(); });
}
Tensor Tensor::sinh() const {
  const Called called;
  return with_slope(*this, plain_sinh, [](const Tensor& x, const Tensor&) { return x.cosh(); });
}
Tensor Tensor::cosh() const {
  const Called called;
  return with_slope(*this, plain_cosh, [](const Tensor& x, const Tensor&) { return x.sinh(); });
}
Tensor Tensor::tanh() const {
  const Called called;
  return with_slope(*this, plain_tanh, [](const Tensor&, const Tensor& y) { return 1 - y * y; });
}
Tensor Tensor::asinh() const {
  const Called called;
  return with_slope(*this, plain_asinh,
                    [](const Tensor& x, const Tensor&) { return (x * x + 1).rsqrt(); });
}
Tensor Tensor::acosh() const {
  const Called called;
  return with_slope(*this, plain_acosh,
                    [](const Tensor& x, const Tensor&) { return ((x - 1) * (x + 1)).rsqrt(); });
}
Tensor Tensor::atanh() const {
  const Called called;
  return with_slope(*this, plain_atanh, [](const Tensor& x, const Tensor&) {
    return ((1 - x) * (1 + x)).reciprocal();
  });
}

Tensor Tensor::logaddexp(const Operand& other) const {
  const Called called;
  return added_logarithms("logaddexp", *this, other, [](const Tensor& larger, const Tensor& less) {
    return larger + less.exp().log1p();
  });
}
Tensor Tensor::logaddexp2(const Operand& other) const {
  const Called called;
  return added_logarithms("logaddexp2", *this, other, [](const Tensor& larger, const Tensor& less) {
    return larger + less.exp2().log1p() * log2e;
  });
}

}  // namespace weft
