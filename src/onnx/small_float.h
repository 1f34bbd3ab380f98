// Floats of 8 bits and fewer, as ONNX has them.
#pragma once

#include "op.h"

namespace weft::onnx {

// How such a float is made of bits: a sign, an exponent, and a mantissa. Codes are those bits as a number; without
// the sign the larger code is the larger float.
struct SmallFloat {
  Type type;
  int mantissa_bits, bias;
  int sign;     // the bit of the sign
  int largest;  // the code of the largest finite one
  int overflow;  // what is larger becomes, where it does not saturate: the code of infinity, or of NaN
  int nan;       // a code; that of 0 where there is no NaN
  bool has_negative_zero = true;
};

// Null for all others, and for F8E8M0.
const SmallFloat* small_float(Type type);

float real_of(int code, const SmallFloat& format);

// The code of each element, as i32: of the nearest float, of two the even one.
Tensor codes_of(const Tensor& reals, const SmallFloat& format, bool saturate);
Tensor reals_of(const Tensor& codes, const SmallFloat& format);  // as f32

enum class Rounding : std::uint8_t { Up, Down, Nearest };

// F8E8M0 has powers of 2 alone, and 255 for NaN.
Tensor powers_of(const Tensor& reals, Rounding rounding, bool saturate);
Tensor reals_of_powers(const Tensor& codes);

}  // namespace weft::onnx
