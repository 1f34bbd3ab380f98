// Numbers held as small integers: (integer - zero) * scale.
#pragma once

#include <cstdint>

#include "microsoft.h"

namespace weft::onnx {

// Scale and zero of a tensor, or one of each for every place of an axis; without a zero it is 0.
struct Quant {
  Tensor scale, zero;
  Quant(const Call& call, std::size_t scale_input, std::size_t zero_input)
      : scale(call.tensor(scale_input)), zero(call.tensor_or_null(zero_input)) {}
  Quant(Tensor one_scale, Tensor one_zero)
      : scale(std::move(one_scale)), zero(std::move(one_zero)) {}
  // Along this axis of a tensor of so many, where there is one for each place.
  Quant along(std::int64_t axis, std::int64_t rank) const;
};

// As i32, less the zero.
Tensor centred(const Tensor& x, const Quant& quant);
// In the scale's dtype.
Tensor dequantized(const Tensor& x, const Quant& quant);
// Rounded to the nearest, to even ones in the middle, and within what the type holds.
Tensor quantized(const Tensor& x, const Quant& quant, Type type);

// By the least and largest element, 0 among them, as u8.
struct Dynamic {
  Tensor values;
  Quant quant;
};
Dynamic dynamically_quantized(const Tensor& x);

}  // namespace weft::onnx
