// The error function, the gamma function, Bessel's I0.

#include <cmath>
#include <limits>
#include <numbers>

#include <weft/dev/tensor/short_erf.h>

#include "fits.h"
#include "functions.h"

namespace weft {
namespace {

using std::numbers::pi, std::numbers::inv_sqrtpi, std::numbers::log2e;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// exp(-x^2) for 0 <= x <= 40. x^2 has more digits than a float, and exp loses as many as its argument has before
// the point: so a square of few digits, which is exact, leaves its multiples of log 2 to powers of two. Log 2 in
// two parts, of which the first times such a multiple is exact as well.
Tensor gaussian(const Tensor& x) {
  constexpr double log_2 = 0.693359375, log_2_rest = -2.121944400546905827679e-4;
  const Tensor few = (x * 64).trunc() / 64, square = few * few;
  const Tensor powers = (square * log2e).trunc();
  const Tensor rest = square - powers * log_2 - powers * log_2_rest + (x - few) * (x + few);
  return (-rest).exp() * (-powers).exp2();
}

// Of x >= 0: exp(-x^2) times what changes slowly. From 40 on it is 0.
Tensor erfc_tail(const Tensor& x) {
  const Tensor near = x.minimum(40);
  return gaussian(near) * polynomial((near - 4) / (near + 4), erfcx_fit) / (near * 2 + 1);
}

// Beyond `most` it is 1. What is missing to that has fewer digits the smaller it is: for f32 a polynomial's fourth power
// has enough of them, which takes less time than a power of two.
Tensor plain_erf(const Tensor& x) {
  const bool is_f64 = x.dtype() == dtypes::f64;
  const double most = is_f64 ? 6 : 4;
  const Tensor size = x.abs(), bounded = (size > most).where(most, size);
  const Tensor tail = polynomial(bounded - (1 + most) / 2, erf_tail_fit);
  const Tensor missing = is_f64 ? tail.exp2() : tail.square().square();
  const Tensor near = fused(x, polynomial(x * x, erf_fit), x);
  return (size < 1).where(near, with_sign_of(x, 1 - missing));
}

Tensor plain_short_erf(const Tensor& x) {
  constexpr double most = 2.875;
  const Tensor below = (x > most).where(most, x), bounded = (below < -most).where(-most, below);
  return bounded * polynomial(bounded * bounded, erf_short_fit);
}

bool is_short(DType dtype) { return dtype == dtypes::bf16 || dtype.is_fp8(); }

// Near 0 it is 1 - erf.
Tensor plain_erfc(const Tensor& x) {
  const Tensor is_near = x.abs() < 0.5, tail = erfc_tail(x.abs());
  const Tensor near = 1 - fused(x, polynomial(x * x, erf_fit), x);
  return is_near.where(near, (x < 0).where(2 - tail, tail));
}

// By how far y is from 1: f32 numbers are never as near as the last piece is for.
Tensor plain_erfinv(const Tensor& y) {
  const Tensor far = -((1 - y) * (1 + y)).log();
  const Tensor depth = (y.abs() < 0.5).where(-plain_log1p(-y * y), far);
  const Tensor is_small = depth <= 6.25, root = is_small.where(6.25, depth).sqrt();
  Tensor factor = polynomial(root - 3.25, erfinv_middle_fit);
  if (y.dtype() == dtypes::f64)
    factor = (root > 4).where(polynomial(root - 5, erfinv_large_fit), factor);
  factor = is_small.where(polynomial(is_small.where(depth, 0) - 3.125, erfinv_small_fit), factor);
  return (y.abs() == 1).where(y * infinity, (y.abs() > 1).where(nan, y * factor));
}

Tensor exp_slope(const Tensor& x) { return (-x * x).exp() * (2 * inv_sqrtpi); }
Tensor erf_slope(const Tensor& x, const Tensor&) { return exp_slope(x); }

// sin(pi x) without the multiples of pi.
Tensor sine_of_turns(const Tensor& x) { return ((x - x.round()) * pi).sin(); }

// From 3 on Stirling's formula; below, from log gamma between 1 and 2, which is 0 at both ends.
Tensor lgamma_right(const Tensor& x) {
  const double half_log_2pi = 0.91893853320467274178;
  const Tensor is_large = x >= 3, a = is_large.where(x, 3), b = is_large.where(1, x);
  const Tensor log_a = a.log();
  const Tensor tail = polynomial(a.reciprocal(), lgamma_tail_fit) / a;
  const Tensor large = (a - 0.5) * (log_a - 1) + (half_log_2pi - 0.5) + tail;
  const Tensor u = b - b.floor().minimum(2), step = (b >= 2).where(b - 1, (b < 1).where(b, 1));
  const Tensor middle = u * (u - 1) * polynomial(u, lgamma_one_fit);
  const Tensor log_step = step.log();
  return is_large.where(large, (b < 1).where(middle - log_step, middle + log_step));
}

Tensor plain_lgamma(const Tensor& x) {
  const Tensor is_left = x < 0, mirrored = lgamma_right(is_left.where(1 - x, x));
  const Tensor sine = sine_of_turns(is_left.where(x, 0.5)).abs();
  const Tensor is_tiny = x > -1e-18;  // of numbers so near 0, pi/sine may be infinite
  const Tensor left = is_tiny.where(-(-x).log(), (pi / sine).log() - mirrored);
  const Tensor regular = is_left.where(left, mirrored);
  return ((x.abs() == infinity) | (sine == 0)).where(infinity, regular);
}

// Around the root, whose last bits are a number of their own.
Tensor digamma_right(const Tensor& x) {
  constexpr double root = 0.46163214496836236, root_f32 = 0.46163213F;
  const bool is_f32 = x.dtype() == dtypes::f32;
  const double high = is_f32 ? root_f32 : root;
  const double low = is_f32 ? root - root_f32 : -1.5522348162858677e-17;
  const Tensor is_large = x >= 3, a = is_large.where(x, 3), b = is_large.where(1, x);
  const Tensor w = a.reciprocal();
  const Tensor large = a.log() - w * 0.5 - w * w * polynomial(w, digamma_tail_fit);
  const Tensor u = b - b.floor().minimum(2), step = (b >= 2).where(b - 1, (b < 1).where(b, 1));
  const Tensor middle = (u - high - low) * polynomial(u, digamma_one_fit);
  const Tensor turn = step.reciprocal();
  return is_large.where(large, (b < 1).where(middle - turn, middle + (b >= 2).where(turn, 0)));
}

Tensor plain_digamma(const Tensor& x) {
  const Tensor is_left = x < 0, mirrored = digamma_right(is_left.where(1 - x, x));
  const Tensor angle = (is_left.where(x - x.round(), 0.25)) * pi;
  const Tensor regular = is_left.where(mirrored - pi / angle.tan(), mirrored);
  const Tensor is_pole = is_left & (x == x.round());
  return is_pole.where(nan, regular);
}

// Of large x by exp(x - less), as sinh. From 1000 on it is infinite.
Tensor plain_i0(const Tensor& x) {
  constexpr double less = 4.828125;
  const Tensor size = x.abs().minimum(1000), is_small = size <= 8, is_large = size > 64;
  const Tensor a = is_small.where(size, 8), b = is_small.where(8, size);
  const Tensor small = polynomial(a * 0.25 - 1, i0_small_fit);
  const Tensor scale = is_large.where(size.full_like(std::exp(less)), 1);
  const Tensor large = polynomial(16 / b - 1, i0_large_fit) / b.sqrt() * scale;
  return is_large.where(size - less, size).exp() * is_small.where(small, large);
}

}  // namespace

Tensor Tensor::erf() const {
  const Called called;
  return with_slope(*this, is_short(dtype()) ? plain_short_erf : plain_erf, erf_slope);
}
Tensor short_erf(const Tensor& x) { return with_slope(x, plain_short_erf, erf_slope); }
Tensor Tensor::erfc() const {
  const Called called;
  return with_slope(*this, plain_erfc,
                    [](const Tensor& x, const Tensor&) { return -exp_slope(x); });
}
Tensor Tensor::erfinv() const {
  const Called called;
  return with_slope(*this, plain_erfinv, [](const Tensor&, const Tensor& y) {
    return (y * y).exp() * (0.5 / inv_sqrtpi);
  });
}
Tensor Tensor::lgamma() const {
  const Called called;
  return with_slope(*this, plain_lgamma,
                    [](const Tensor& x, const Tensor&) { return x.digamma(); });
}
Tensor Tensor::digamma() const { return Called(), widely(*this, plain_digamma); }
Tensor Tensor::i0() const { return Called(), widely(*this, plain_i0); }

// The logarithm is not asked for where 0 times it is 0.
Tensor Tensor::xlogy(const Operand& other) const {
  const Called called;
  return widely("xlogy", *this, other, [](const Tensor& x, const Tensor& y) {
    const Tensor is_open = (y <= 0) | (y == infinity);
    return x * ((x == 0) & is_open).where(1, y).log();
  });
}

}  // namespace weft
