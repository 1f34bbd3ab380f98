#include "nearest.h"

#include <bit>
#include <cstdint>

namespace weft::onnx {

namespace {

// At this size floats are whole numbers, and count up the lowest of their bits.
constexpr float whole = 3 << 22;

// The bits of that and of whole numbers from the zero point.
Tensor steps(const Tensor& x, const Tensor& zero, double least, double most) {
  const Tensor moved = zero.is_null() ? Tensor(0.0F) : zero.cast(dtypes::f32);
  const Tensor low = least - moved, high = most - moved;
  // NaN is the least.
  const Tensor above = (low < x).where(x, low), within = (high < above).where(high, above);
  return (within + whole).bitcast(dtypes::i32);
}

}  // namespace

Tensor nearest(const Tensor& x, const Tensor& zero, double least, double most, DType dtype) {
  const Tensor bits = steps(x, zero, least, most);
  return (zero.is_null() ? bits : bits + zero.cast(dtypes::i32)).cast(dtype);
}

Tensor rounded(const Tensor& x, const Tensor& zero, double least, double most) {
  return (steps(x, zero, least, most) - std::bit_cast<std::int32_t>(whole)).cast(dtypes::f32);
}

}  // namespace weft::onnx
