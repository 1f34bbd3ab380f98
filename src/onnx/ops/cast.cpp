// Other types for what is there: by value, and by bits.

#include <fmt/format.h>

#include "numerals.h"
#include "small_float.h"
#include "tables.h"

namespace weft::onnx {
namespace {

struct Target {
  Type type;
  bool saturate;
  Rounding rounding;
};

bool is_small_int(Type type) {
  return type == Type::U4 || type == Type::I4 || type == Type::U2 || type == Type::I2;
}

// Floats that tensors hold by their bits, as such.
Tensor numbers_of(const Call& call) {
  const Type type = call.value(0).type();
  if (type == Type::F8E8M0) return reals_of_powers(call.tensor(0));
  if (type == Type::F8E4M3FNUZ || type == Type::F8E5M2FNUZ)
    return reals_of(call.tensor(0), *small_float(type));
  return call.tensor(0);
}

// The lowest bits; the highest of these is the sign.
Tensor narrowed(const Tensor& integers, Type type) {
  const int bits = bits_of(type), sign = 1 << (bits - 1);
  const Tensor low = integers.cast(dtypes::i32) & ((1 << bits) - 1);
  return type == Type::I4 || type == Type::I2 ? (low ^ sign) - sign : low;
}

Value cast_numbers(const Tensor& x, const Target& to) {
  const DType dtype = dtype_of(to.type);
  if (const SmallFloat* format = small_float(to.type))
    return {small_floats_of(x, *format, to.saturate), to.type};
  if (to.type == Type::F8E8M0) return {powers_of(x, to.rounding, to.saturate).cast(dtype), to.type};
  if (is_small_int(to.type)) return {narrowed(x, to.type).cast(dtype), to.type};
  return {x.cast(dtype, {.saturate = to.saturate && dtype.is_fp8()}), to.type};
}

Value cast_to(const Call& call, const Target& to) {
  const Value& value = call.value(0);
  if (value.is_text() && to.type == Type::String) return value;
  if (value.is_text()) {
    const DType dtype = dtype_of(to.type);
    return cast_numbers(numbers_in(call, value.text(), dtype), to);
  }
  const Tensor numbers = numbers_of(call);
  return to.type == Type::String ? Value(text_of(numbers)) : cast_numbers(numbers, to);
}

Rounding rounding_of(const Call& call) {
  const std::string mode = call.attr("round_mode", "up");
  if (mode == "up") return Rounding::Up;
  if (mode == "down") return Rounding::Down;
  if (mode == "nearest") return Rounding::Nearest;
  call.refuse(fmt::format("round_mode {}: want up, down or nearest", mode));
}

Target target(const Call& call, Type type) {
  return {type, call.attr("saturate", 1) != 0, rounding_of(call)};
}

// The first opset names its types.
Values cast_by_name(const Call& call) {
  constexpr std::pair<std::string_view, Type> types[] = {
      {"FLOAT", Type::F32},  {"FLOAT16", Type::F16}, {"DOUBLE", Type::F64}, {"INT8", Type::I8},
      {"INT16", Type::I16},  {"INT32", Type::I32},   {"INT64", Type::I64},  {"UINT8", Type::U8},
      {"UINT16", Type::U16}, {"UINT32", Type::U32},  {"UINT64", Type::U64}, {"BOOL", Type::Bool}};
  const auto wanted = call.attr<std::string>("to");
  for (const auto& [name, type] : types)
    if (wanted == name) return {cast_to(call, target(call, type))};
  call.refuse(fmt::format("there is no type {}", wanted));
}

Values cast(const Call& call) { return {cast_to(call, target(call, call.attr<Type>("to")))}; }

Values cast_like(const Call& call) { return {cast_to(call, target(call, call.value(1).type()))}; }

// --- By bits ------------------------------------------------------------------------------------------

// Of less than 8 bits as u8.
Tensor bits_in(const Call& call) {
  const Type type = call.value(0).type();
  const Tensor x = call.tensor(0);
  if (is_small_int(type)) return x.cast(dtypes::u8) & ((1 << bits_of(type)) - 1);
  const SmallFloat* format = small_float(type);
  if (format != nullptr && bits_of(type) < 8) return codes_of(x, *format, true).cast(dtypes::u8);
  return x;
}

Values bit_cast(const Call& call) {
  const auto to = call.attr<Type>("to");
  const Type from = call.value(0).type();
  if (bits_of(from) == 0 || bits_of(from) != bits_of(to))
    call.refuse(fmt::format("{} and {} are not of the same width", name_of(from), name_of(to)));
  const Tensor bits = bits_in(call);
  const SmallFloat* format = small_float(to);
  if (format != nullptr && bits_of(to) < 8) return {Value(reals_of(bits, *format), to)};
  if (is_small_int(to)) return {Value(narrowed(bits, to).cast(dtype_of(to)), to)};
  return {Value(bits.bitcast(dtype_of(to)), to)};
}

}  // namespace

OpTable cast_ops() {
  static const Op ops[] = {
      {"BitCast", 26, bit_cast},
      {"Cast", 1, cast_by_name},
      {"Cast", 6, cast},
      {"CastLike", 15, cast_like},
  };
  return {"", ops};
}

}  // namespace weft::onnx
