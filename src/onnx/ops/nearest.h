// Floats to the nearest integers.
#pragma once

#include <weft/tensor.h>

namespace weft::onnx {

// Of a type that has at most 16 bits, from `least` to `most`; halves become even. A zero point is added.
Tensor nearest(const Tensor& x, const Tensor& zero, double least, double most, DType dtype);
// The same as floats, without the zero point.
Tensor rounded(const Tensor& x, const Tensor& zero, double least, double most);

}  // namespace weft::onnx
