// Norms, and how far tensors are apart by them.

#include <cmath>

#include <fmt/format.h>
#include <weft/error.h>

#include "functions.h"

namespace weft {
namespace {

// Of what is 0, a power below 1 has an infinite slope.
Tensor powers_of(const Tensor& size, double p) {
  const Tensor is_zero = size == 0;
  return is_zero.where(0, is_zero.where(1, size).pow(p));
}

void want_order(std::string_view op, double p) {
  if (!(p >= 0)) user_error(fmt::format("{}: p is {}: want at least 0", op, p));
}

// Each distance in floats of at least 32 bits, whatever the elements are.
Tensor distance(const Tensor& a, const Tensor& b, double p, const AxisList& axes) {
  const DType own = joint_float(a, b), wide = promote(own, dtypes::f32);
  return (a.cast(wide) - b.cast(wide)).norm(p, axes).cast(own);
}

}  // namespace

Tensor Tensor::norm(double p, const AxisList& axes, bool keepdim) const {
  const Called called;
  if (std::isnan(p)) user_error("norm: p is not a number");
  return widely(*this, [&](const Tensor& x) {
    if (std::isinf(p)) return p > 0 ? x.abs().max(axes, keepdim) : x.abs().min(axes, keepdim);
    if (p == 0) return (x != 0).cast(x.dtype()).sum(axes, keepdim);
    if (p == 1) return x.abs().sum(axes, keepdim);
    if (p == 2) return root_of(x.square().sum(axes, keepdim), p);
    if (p < 0) return x.abs().pow(p).sum(axes, keepdim).pow(1 / p);
    return root_of(powers_of(x.abs(), p).sum(axes, keepdim), p);
  });
}

Tensor Tensor::dist(const Tensor& other, double p) const {
  const Called called;
  want_order("dist", p);
  return distance(*this, other, p, {});
}

Tensor Tensor::cdist(const Tensor& other, double p) const {
  const Called called;
  want_order("cdist", p);
  if (ndim() < 2 || other.ndim() < 2 || size(-1) != other.size(-1))
    user_error(fmt::format("cdist: shapes {} and {} are not (..., points, width)",
                           shape_text(uop()), shape_text(other.uop())));
  return distance(unsqueeze(-2), other.unsqueeze(-3), p, -1);
}

}  // namespace weft
