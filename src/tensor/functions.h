// How functions of each element are made.
#pragma once

#include <utility>
#include <vector>

#include "ops.h"

namespace weft {

// `compute(x)` in f32 at least, where one rounding of a narrower float after each op would add up.
template <class F>
Tensor widely(const Tensor& x, F compute) {
  const DType own = float_like(x.dtype());
  return compute(x.cast(promote(own, dtypes::f32))).cast(own);
}

// Two operands in this dtype and one shape.
std::pair<Tensor, Tensor> brought_together(std::string_view op, const Operand& a, const Operand& b,
                                           DType dtype);
// What both are promoted to; as a float.
DType joint(const Operand& a, const Operand& b);
DType joint_float(const Operand& a, const Operand& b);

// `compute(a, b)` of two operands in f32 at least.
template <class F>
Tensor widely(std::string_view op, const Operand& a, const Operand& b, F compute) {
  const DType own = joint_float(a, b);
  const auto [wide_a, wide_b] = brought_together(op, a, b, promote(own, dtypes::f32));
  return compute(wide_a, wide_b).cast(own);
}

// `compute(x)` so too, where the gradient of what is computed would be poor: it is `slope(x, y)` for x and the result y.
template <class F, class G>
Tensor with_slope(const Tensor& x, F compute, G slope) {
  return widely(x, [&](const Tensor& wide) {
    return Tensor::custom(
        {wide}, [&](const std::vector<Tensor>& in) { return compute(in[0]); },
        [slope](const Tensor& g, const std::vector<Tensor>& in, const Tensor& y) {
          return std::vector<Tensor>{g * slope(in[0], y)};
        });
  });
}

// The same of two tensors, with a slope for each: `slopes(a, b, y)`.
template <class F, class G>
Tensor with_slopes(const std::pair<Tensor, Tensor>& both, F compute, G slopes) {
  return Tensor::custom(
      {both.first, both.second},
      [&](const std::vector<Tensor>& in) { return compute(in[0], in[1]); },
      [slopes](const Tensor& g, const std::vector<Tensor>& in, const Tensor& y) {
        const auto [a, b] = slopes(in[0], in[1], y);
        return std::vector<Tensor>{g * a, g * b};
      });
}

// The p-th root. At 0, where it has no slope, its gradient is 0.
Tensor root_of(const Tensor& x, double p = 2);
// Whether the sign bit is set, also of zeros and NaN.
Tensor is_signed(const Tensor& x);
// What is not negative, with the sign bit of x; of f32 or f64.
Tensor with_sign_of(const Tensor& x, const Tensor& magnitude);
// The signed and the unsigned integers as wide as this dtype.
DType bits_of(DType dtype);
DType unsigned_bits(DType dtype);

// Within 2 units in the last place, plain_atan within 3, of f32 or f64. They have no gradients of their own.
Tensor plain_expm1(const Tensor& x);
Tensor plain_log1p(const Tensor& x);
Tensor plain_atan(const Tensor& x);

// x * sigmoid(gate), with one exponential and one division, of f32 or f64.
Tensor gated(const Tensor& x, const Tensor& gate);

}  // namespace weft
