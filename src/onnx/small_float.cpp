// Floats of 8 bits and fewer that are no dtypes, as ONNX has them.

#include "small_float.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::onnx {
namespace {

constexpr SmallFloat formats[] = {
    {Type::F8E4M3FNUZ, 3, 8, 0x80, true}, {Type::F8E5M2FNUZ, 2, 16, 0x80, true},
    {Type::F6E2M3, 3, 1, 0x20, false},    {Type::F6E3M2, 2, 3, 0x20, false},
    {Type::F4E2M1, 1, 1, 0x08, false},
};

constexpr std::int32_t infinity_bits = 0x7f800000;  // in f32
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

Tensor bits_of(const Tensor& reals) { return reals.cast(dtypes::f32).bitcast(dtypes::i32); }

Tensor looked_up(const std::vector<float>& table, const Tensor& codes) {
  return Tensor(table, {.device = codes.device()}).take(codes.cast(dtypes::i32));
}

}  // namespace

const SmallFloat* small_float(Type type) {
  const auto* found = std::ranges::find(formats, type, &SmallFloat::type);
  return found == std::end(formats) ? nullptr : found;
}

float real_of(int code, const SmallFloat& format) {
  if (format.has_nan && code == format.sign) return nan;
  const int size = code & (format.sign - 1), ones = 1 << format.mantissa_bits;
  const int exponent = size / ones, mantissa = size % ones;
  const float steps = static_cast<float>(exponent == 0 ? mantissa : mantissa + ones);
  const float real = std::ldexp(steps, std::max(exponent, 1) - format.bias - format.mantissa_bits);
  return code < format.sign ? real : -real;
}

// A binade has as many floats as the mantissa has codes: steps of it, counted, are the end of the code, and the
// binade is its beginning. Steps that round up to the next binade carry over by themselves.
Tensor codes_of(const Tensor& reals, const SmallFloat& format, bool saturate) {
  const int first = 1 - format.bias;  // below it are subnormal ones, with the same steps
  const Tensor bits = bits_of(reals), size = bits & 0x7fffffff;
  const Tensor exponent = ((size >> 23) - 127).maximum(first);
  const Tensor per_real =
      ((exponent * -1 + (format.mantissa_bits + 127)) << 23).bitcast(dtypes::f32);
  const Tensor finite = (size < infinity_bits).where(size, 0).bitcast(dtypes::f32);
  const Tensor steps = (finite * per_real).round().cast(dtypes::i32);
  const Tensor code = steps + ((exponent - first) << format.mantissa_bits);
  const Tensor is_larger = (code > format.largest()) | (size == infinity_bits);
  const bool is_clamped = saturate || !format.has_nan;
  const Tensor number = is_larger.where(is_clamped ? format.largest() : format.sign, code);
  const Tensor known = (size > infinity_bits).where(format.has_nan ? format.sign : 0, number);
  const Tensor with_sign = known | (bits < 0).cast(dtypes::i32) * format.sign;
  return format.has_nan ? (known == 0).where(0, with_sign) : with_sign;
}

Tensor small_floats_of(const Tensor& reals, const SmallFloat& format, bool saturate) {
  const Tensor codes = codes_of(reals, format, saturate);
  const DType dtype = dtype_of(format.type);
  return dtype.is_float() ? reals_of(codes, format) : codes.cast(dtype);
}

Tensor reals_of(const Tensor& codes, const SmallFloat& format) {
  std::vector<float> table;
  for (int code = 0; code < 2 * format.sign; ++code) table.push_back(real_of(code, format));
  return looked_up(table, codes);
}

// The exponents of f32 are the codes. Negative numbers have none: their sizes are taken.
Tensor powers_of(const Tensor& reals, Rounding rounding, bool saturate) {
  constexpr std::int32_t none = 255, most = 254, half = 1 << 22;
  const Tensor bits = bits_of(reals) & 0x7fffffff;
  const Tensor exponent = bits >> 23, mantissa = bits & 0x7fffff;
  Tensor code = exponent;
  if (rounding == Rounding::Up) code = (mantissa > 0).where(exponent + 1, exponent);
  if (rounding == Rounding::Nearest)
    code =
        ((mantissa > half) | ((mantissa == half) & (exponent > 0))).where(exponent + 1, exponent);
  if (!saturate) code = (bits < half).where(none, code);  // less than the least
  const Tensor in_range = saturate ? code.minimum(most) : code.minimum(none);
  const Tensor beyond = (bits == infinity_bits).where(saturate ? most : none, in_range);
  return (bits > infinity_bits).where(none, beyond);
}

Tensor reals_of_powers(const Tensor& codes) {
  std::vector<float> table;
  for (int code = 0; code < 255; ++code) table.push_back(std::ldexp(1.0F, code - 127));
  table.push_back(nan);
  return looked_up(table, codes);
}

}  // namespace weft::onnx
