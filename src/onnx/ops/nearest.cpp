#include "nearest.h"

namespace weft::onnx {

Tensor nearest(const Tensor& x, const Tensor& zero, double least, double most, DType dtype) {
  const Tensor moved = zero.is_null() ? Tensor(0.0F) : zero.cast(dtypes::f32);
  const Tensor low = least - moved, high = most - moved;
  const Tensor above = (x < low).where(low, x), within = (high < above).where(high, above);
  // At this size floats are whole numbers, and count up the lowest of their bits.
  constexpr float whole = 3 << 22;
  const Tensor steps = (within + whole).bitcast(dtypes::i32);
  return (zero.is_null() ? steps : steps + zero.cast(dtypes::i32)).cast(dtype);
}

}  // namespace weft::onnx
