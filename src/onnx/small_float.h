// Floats of 8 bits and fewer that are no dtypes, as ONNX has them.
#pragma once

#include "op.h"

namespace weft::onnx {

// How such a float is made of bits: a sign, an exponent, and a mantissa. Codes are those bits as a number; without
// the sign the larger code is the larger float. None is infinite.
struct SmallFloat {
  Type type;
  int mantissa_bits, bias;
  int sign;      // the bit of the sign
  bool has_nan;  // the code of -0; those that have none always saturate

  constexpr int largest() const { return sign - 1; }
};

// Null for all others: F8E8M0, and the two that are dtypes.
const SmallFloat* small_float(Type type);

float real_of(int code, const SmallFloat& format);

// The code of each element, as i32: of the nearest float, of two the even one.
Tensor codes_of(const Tensor& reals, const SmallFloat& format, bool saturate);
// The same as tensors hold them: by their codes, or as f32.
Tensor small_floats_of(const Tensor& reals, const SmallFloat& format, bool saturate);
Tensor reals_of(const Tensor& codes, const SmallFloat& format);  // as f32

enum class Rounding : std::uint8_t { Up, Down, Nearest };

// F8E8M0 has powers of 2 alone, and 255 for NaN.
Tensor powers_of(const Tensor& reals, Rounding rounding, bool saturate);
Tensor reals_of_powers(const Tensor& codes);

}  // namespace weft::onnx
