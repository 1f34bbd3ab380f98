// Numbers as small integers or floats with a scale and a zero point, and products of these.

#include <algorithm>

#include <fmt/format.h>

#include "axes.h"
#include "nearest.h"
#include "sliding.h"
#include "small_float.h"
#include "tables.h"

namespace weft::onnx {
namespace {

// An input by its values, where the tensor holds codes of floats.
Tensor numbers_of(const Call& call, std::size_t input) {
  const Tensor x = call.tensor(input);
  const Type type = call.value(input).type();
  if (type == Type::F8E8M0) return reals_of_powers(x);
  const SmallFloat* format = small_float(type);
  return format != nullptr && x.dtype() == dtypes::u8 ? reals_of(x, *format) : x;
}

// 0 stands for none.
Type type_or_none(const Call& call, std::string_view attribute) {
  return call.attr(attribute, 0) == 0 ? Type::Undefined : call.attr<Type>(attribute);
}

// --- Quantised values --------------------------------------------------------------------------------

struct Range {
  double least, most;
};

Range range_of(const Call& call, Type type) {
  switch (type) {
    case Type::U2: return {0, 3};
    case Type::I2: return {-2, 1};
    case Type::U4: return {0, 15};
    case Type::I4: return {-8, 7};
    case Type::U8: return {0, 255};
    case Type::I8: return {-128, 127};
    case Type::U16: return {0, 65535};
    case Type::I16: return {-32768, 32767};
    default: call.refuse(fmt::format("nothing is quantised to {}", name_of(type)));
  }
}

// Values that are divided by their scale already, as the nearest of a type; halves become even.
Value quantised(const Call& call, const Tensor& x, const Tensor& zero, Type type, bool saturates) {
  const DType dtype = dtype_of(type);
  if (dtype.is_fp8()) return {x.cast(dtype, {.saturate = saturates}), type};
  if (const SmallFloat* format = small_float(type)) {
    const Tensor moved = zero.is_null() || dtype != dtypes::f32 ? x : x + zero;
    return {small_floats_of(moved, *format, saturates), type};
  }
  const Range range = range_of(call, type);
  if (wide(x.dtype()) == dtypes::f32 && (zero.is_null() || zero.dtype().is_int()))
    return {nearest(x.cast(dtypes::f32), zero, range.least, range.most, dtype), type};
  const Tensor rounded = x.cast(wide(x.dtype())).round();
  const Tensor moved = zero.is_null() ? rounded : rounded + zero.cast(rounded.dtype());
  return {moved.clamp(range.least, range.most).cast(dtype), type};
}

// Scales and zero points as they broadcast to x: one for all, for each place of an axis, for each block of it.
Tensor spread(const Call& call, const Tensor& scale, const Tensor& x) {
  if (scale.ndim() == 0) return scale;
  if (scale.ndim() == 1 && scale.size(0) == 1) return scale.reshape(Shape{});
  const std::int64_t axis = axis_of(call, call.attr("axis", 1), x.ndim());
  const std::int64_t block = call.attr("block_size", 0);
  if (block == 0) {
    if (scale.ndim() != 1 || scale.size(0) != x.size(axis))
      call.refuse(fmt::format("scales of {} axes for axis {} of size {}", scale.ndim(), axis,
                              x.size(axis)));
    return along(scale, axis, x.ndim());
  }
  const std::int64_t size = x.size(axis);
  if (block < 1 || scale.ndim() != x.ndim() || (size - 1) / block + 1 != scale.size(axis))
    call.refuse(fmt::format("scales of {} axes for blocks of {} in axis {} of size {}",
                            scale.ndim(), block, axis, size));
  return scale.repeat_interleave(std::min(block, size), axis).narrow(axis, 0, size);
}

Tensor zero_point(const Call& call, std::size_t input, const Tensor& x) {
  return call.has(input) ? spread(call, numbers_of(call, input), x) : Tensor();
}

Values quantize_linear(const Call& call) {
  const Tensor x = call.tensor(0), given = numbers_of(call, 1);
  const Tensor scale = spread(call, given, x);
  Type type = type_or_none(call, "output_dtype");
  if (call.has(2)) type = call.value(2).type();
  if (type == Type::Undefined) type = Type::U8;
  const Type precision = type_or_none(call, "precision");
  const DType within = precision == Type::Undefined ? given.dtype() : dtype_of(precision);
  if (!within.is_float()) call.refuse("neither the scale nor the precision is of floats");
  return {quantised(call, x.cast(within) / scale.cast(within), zero_point(call, 2, x), type,
                    call.attr("saturate", 1) != 0)};
}

Values dequantize_linear(const Call& call) {
  const Tensor given = numbers_of(call, 0);
  const bool is_int = given.dtype().is_int();
  const Tensor scale = spread(call, numbers_of(call, 1), given);
  const Type stated = type_or_none(call, "output_dtype");
  const DType dtype = stated == Type::Undefined ? scale.dtype() : dtype_of(stated);
  Tensor x = is_int ? given.cast(dtypes::i32) : given;
  if (const Tensor zero = zero_point(call, 2, given); is_int && !zero.is_null())
    x = x - zero.cast(dtypes::i32);
  const DType within = wide(promote(dtype, scale.dtype()));
  return {(x.cast(within) * scale.cast(within)).cast(dtype)};
}

// To u8, by a scale and a zero point that make the most of it.
Values dynamic_quantize_linear(const Call& call) {
  const Tensor x = call.tensor(0);
  const Tensor least = x.min().minimum(0), range = x.max().maximum(0) - least;
  const Tensor scale = (range == 0).where(1, range) / 255;
  const Tensor zero = (-least / scale).clamp(0, 255).round();
  return {quantised(call, x / scale, zero, Type::U8, true), scale, zero.cast(dtypes::u8)};
}

// --- Products ------------------------------------------------------------------------------------------

// Integers less their zero point, as i32; floats as they are.
Tensor centred(const Call& call, std::size_t input, const Tensor& zero) {
  const Tensor x = numbers_of(call, input);
  if (!x.dtype().is_int()) return x.cast(dtypes::f32);
  const Tensor wider = x.cast(dtypes::i32);
  return zero.is_null() ? wider : wider - zero.cast(dtypes::i32);
}

// One for all, or one for each row of a matrix, or for each of its columns, as a vector.
enum class Of : std::uint8_t { Rows, Columns };
Tensor fitted(const Call& call, std::size_t input, Of of) {
  if (!call.has(input)) return {};
  const Tensor x = numbers_of(call, input);
  if (x.ndim() == 1 && x.size(0) == 1) return x.reshape(Shape{});
  return x.ndim() == 1 && of == Of::Rows ? x.unsqueeze(-1) : x;
}

Tensor sums_of(const Tensor& a, const Tensor& b) {
  const bool are_ints = a.dtype().is_int() && b.dtype().is_int();
  return a.matmul(b, are_ints ? dtypes::i32 : dtypes::f32);
}

Tensor matmul_integer(const Call& call) {
  return sums_of(centred(call, 0, fitted(call, 2, Of::Rows)),
                 centred(call, 1, fitted(call, 3, Of::Columns)));
}

Values qlinear_matmul(const Call& call) {
  const Tensor a = centred(call, 0, fitted(call, 2, Of::Rows));
  const Tensor b = centred(call, 3, fitted(call, 5, Of::Columns));
  const auto scale = [&](std::size_t input, Of of) {
    return fitted(call, input, of).cast(dtypes::f32);
  };
  const Tensor factor = scale(1, Of::Rows) * scale(4, Of::Columns) / scale(6, Of::Rows);
  return {quantised(call, sums_of(a, b).cast(dtypes::f32) * factor, fitted(call, 7, Of::Rows),
                    call.value(7).type(), true)};
}

// What belongs to each channel, or to all of them, along this axis of so many.
Tensor by_channel(const Call& call, std::size_t input, std::int64_t axis, std::int64_t rank) {
  if (!call.has(input)) return {};
  const Tensor x = call.tensor(input);
  return x.ndim() == 0 || x.size(0) == 1 ? x.reshape(Shape{}) : along(x, axis, rank);
}

// Zeros around x are there once its zero point is taken from it.
Tensor sums_of_bytes(const Call& call, const Tensor& x, const Tensor& weight) {
  return convolved(call, x, weight, {}, dtypes::i32);
}

Tensor conv_integer(const Call& call) {
  const std::int64_t rank = call.tensor(1).ndim();
  return sums_of_bytes(call, centred(call, 0, fitted(call, 2, Of::Columns)),
                       centred(call, 1, by_channel(call, 3, 0, rank)));
}

Values qlinear_conv(const Call& call) {
  const std::int64_t rank = call.tensor(3).ndim();
  Tensor sum = sums_of_bytes(call, centred(call, 0, fitted(call, 2, Of::Columns)),
                             centred(call, 3, by_channel(call, 5, 0, rank)));
  if (call.has(8)) sum = sum + along(call.tensor(8), 1, rank);
  const Tensor factor =
      fitted(call, 1, Of::Columns) * by_channel(call, 4, 1, rank) / fitted(call, 6, Of::Columns);
  return {quantised(call, sum.cast(dtypes::f32) * factor, fitted(call, 7, Of::Columns),
                    call.value(7).type(), true)};
}

}  // namespace

OpTable quantization_ops() {
  static const Op ops[] = {
      {"ConvInteger", 10, conv_integer},
      {"DequantizeLinear", 10, dequantize_linear},
      {"DynamicQuantizeLinear", 11, dynamic_quantize_linear},
      {"MatMulInteger", 10, matmul_integer},
      {"QLinearConv", 10, qlinear_conv},
      {"QLinearMatMul", 10, qlinear_matmul},
      {"QuantizeLinear", 10, quantize_linear},
  };
  return {"", ops};
}

}  // namespace weft::onnx
