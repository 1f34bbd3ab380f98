// Angles: the inverse functions, all of one polynomial, and what else is counted in them.

#include <limits>
#include <numbers>

#include "fits.h"
#include "functions.h"

namespace weft {

using std::numbers::pi;

// Of what is at most tan(pi/8), by atan(x) = pi/2 - atan(1/x) and atan(x) = pi/4 + atan((x-1)/(x+1)).
Tensor plain_atan(const Tensor& x) {
  constexpr double eighth = std::numbers::sqrt2 - 1;
  const Tensor size = x.abs(), is_large = size > 1 / eighth, is_small = size <= eighth;
  const Tensor middle = (size - 1) / (size + 1);
  const Tensor t = is_large.where(-size.reciprocal(), is_small.where(size, middle));
  const Tensor start = is_large.where(pi / 2, is_small.where(t * 0, pi / 4));
  const Tensor z = t * t, angle = start + (t + t * z * polynomial(z, atan_fit));
  return with_sign_of(x, angle);
}

namespace {

Tensor arc_slope(const Tensor& x) { return ((1 - x) * (1 + x)).rsqrt(); }

// The angle of the point (x, y): that of the quotient, or the opposite one. Of zeros the sign counts.
Tensor plain_atan2(const Tensor& y, const Tensor& x) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Tensor rise = y.abs(), run = x.abs();
  const Tensor equal = (rise == run) & ((rise == 0) | (rise == infinity));
  const Tensor quotient = equal.where((rise == 0).where(rise, 1), rise / run);
  const Tensor angle = plain_atan(quotient);
  const Tensor turned = is_signed(x).where(pi - angle, angle);
  return is_signed(y).where(-turned, turned);
}

// By the larger one, so that no square overflows.
Tensor plain_hypot(const Tensor& a, const Tensor& b) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Tensor x = a.abs(), y = b.abs(), most = x.maximum(y), least = x.minimum(y);
  const Tensor rest = least / (most == 0).where(1, most);
  const Tensor is_infinite = (x == infinity) | (y == infinity);
  return is_infinite.where(infinity, most * (rest * rest + 1).sqrt());
}

}  // namespace

Tensor Tensor::atan() const {
  const Called called;
  return with_slope(*this, plain_atan,
                    [](const Tensor& x, const Tensor&) { return (x * x + 1).reciprocal(); });
}
Tensor Tensor::asin() const {
  const Called called;
  return with_slope(
      *this, [](const Tensor& x) { return plain_atan(x * arc_slope(x)); },
      [](const Tensor& x, const Tensor&) { return arc_slope(x); });
}
Tensor Tensor::acos() const {
  const Called called;
  return with_slope(
      *this, [](const Tensor& x) { return plain_atan(((1 - x) / (1 + x)).sqrt()) * 2; },
      [](const Tensor& x, const Tensor&) { return -arc_slope(x); });
}

// At the origin, where it has none, the gradient is 0, here and below.
Tensor Tensor::atan2(const Operand& other) const {
  const Called called;
  const DType own = joint_float(*this, other);
  return with_slopes(brought_together("atan2", *this, other, promote(own, dtypes::f32)),
                     plain_atan2,
                     [](const Tensor& y, const Tensor& x, const Tensor&) {
                       const Tensor sum = x * x + y * y, square = (sum == 0).where(1, sum);
                       return std::pair(x / square, -y / square);
                     })
      .cast(own);
}

Tensor Tensor::hypot(const Operand& other) const {
  const Called called;
  const DType own = joint_float(*this, other);
  return with_slopes(brought_together("hypot", *this, other, promote(own, dtypes::f32)),
                     plain_hypot,
                     [](const Tensor& a, const Tensor& b, const Tensor& y) {
                       const Tensor length = (y == 0).where(1, y);
                       return std::pair(a / length, b / length);
                     })
      .cast(own);
}

// The sine of x less the nearest integer, which is exact: it is 0 at integers, and none is too large.
Tensor Tensor::sinc() const {
  const Called called;
  return widely(*this, [](const Tensor& x) {
    const Tensor is_zero = x == 0, turns = is_zero.where(1, x), whole = turns.round();
    const Tensor sine = ((turns - whole) * pi).sin(), is_odd = (whole / 2).trunc() * 2 != whole;
    return is_zero.where(1, is_odd.where(-sine, sine) / (turns * pi));
  });
}

Tensor Tensor::deg2rad() const {
  return Called(), widely(*this, [](const Tensor& x) { return x * (pi / 180); });
}
Tensor Tensor::rad2deg() const {
  return Called(), widely(*this, [](const Tensor& x) { return x * (180 / pi); });
}

}  // namespace weft
