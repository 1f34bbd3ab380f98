#include "type.h"

#include <array>
#include <cmath>
#include <limits>

namespace nets {
namespace {

constexpr std::array<std::string_view, type_count> names{
    "bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64"};
constexpr std::array<int, type_count> widths{1, 8, 16, 32, 64, 8, 16, 32, 64, 16, 16, 32, 64};

Type signed_of(int bits) {
  return bits == 8 ? Type::I8 : bits == 16 ? Type::I16 : bits == 32 ? Type::I32 : Type::I64;
}

}  // namespace

int bits_of(Type type) { return widths[static_cast<std::size_t>(type)]; }
std::string_view name_of(Type type) { return names[static_cast<std::size_t>(type)]; }

std::optional<Type> type_of(std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<Type>(i);
  return {};
}

FloatFormat format_of(Type type) {
  switch (type) {
    case Type::F16: return {11, -14, 16};
    case Type::BF16: return {8, -126, 128};
    case Type::F32: return {24, -126, 128};
    default: return {53, -1022, 1024};
  }
}

double half_ulp(Type type) { return std::ldexp(1.0, -format_of(type).digits); }

double largest_of(Type type) {
  const auto [digits, least, most] = format_of(type);
  return std::ldexp(1 - std::ldexp(1.0, -digits), most);
}

double rounded(double value, Type type) {
  if (type == Type::F64 || !std::isfinite(value) || value == 0) return value;
  if (type == Type::F32) return static_cast<float>(value);
  const auto [digits, least, most] = format_of(type);
  int exponent = 0;
  std::frexp(value, &exponent);  // the number is below 2^exponent
  const int unit = std::max(exponent - digits, least + 1 - digits);
  const double result = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
  const double infinity = std::numeric_limits<double>::infinity();
  return std::abs(result) > largest_of(type) ? std::copysign(infinity, result) : result;
}

std::int64_t wrapped(std::int64_t value, Type type) {
  switch (type) {
    case Type::Bool: return value != 0;
    case Type::I8: return static_cast<std::int8_t>(value);
    case Type::I16: return static_cast<std::int16_t>(value);
    case Type::I32: return static_cast<std::int32_t>(value);
    case Type::U8: return static_cast<std::uint8_t>(value);
    case Type::U16: return static_cast<std::uint16_t>(value);
    case Type::U32: return static_cast<std::uint32_t>(value);
    default: return value;
  }
}

std::int64_t least_integer(Type type) {
  if (is_unsigned(type) || is_bool(type)) return 0;
  return std::numeric_limits<std::int64_t>::min() >> (64 - bits_of(type));
}

std::int64_t largest_integer(Type type) {
  if (is_bool(type)) return 1;
  if (is_unsigned(type))
    return static_cast<std::int64_t>(~std::uint64_t{0} >> (64 - bits_of(type)));
  return std::numeric_limits<std::int64_t>::max() >> (64 - bits_of(type));
}

std::int64_t saturated(double value, Type type) {
  if (is_bool(type)) return value != 0;  // NaN is not
  if (std::isnan(value)) return 0;
  if (is_unsigned(type)) {
    if (value <= 0) return 0;
    if (value >= std::ldexp(1.0, bits_of(type))) return largest_integer(type);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(value));
  }
  if (value >= std::ldexp(1.0, bits_of(type) - 1)) return largest_integer(type);
  if (value <= -std::ldexp(1.0, bits_of(type) - 1)) return least_integer(type);
  return static_cast<std::int64_t>(value);
}

Type promoted(Type a, Type b) {
  if (a == b || is_bool(b)) return a;
  if (is_bool(a)) return b;
  if (is_float(a) && is_float(b)) {
    const bool are_halves = bits_of(a) == 16 && bits_of(b) == 16;
    return are_halves ? Type::F32 : bits_of(a) > bits_of(b) ? a : b;
  }
  if (is_float(a)) return a;
  if (is_float(b)) return b;
  if (is_unsigned(a) == is_unsigned(b)) return bits_of(a) > bits_of(b) ? a : b;
  const Type whole = is_unsigned(a) ? b : a, natural = is_unsigned(a) ? a : b;
  if (natural == Type::U64) return Type::F32;
  return bits_of(whole) > bits_of(natural) ? whole : signed_of(2 * bits_of(natural));
}

Type float_like(Type type) { return is_float(type) ? type : Type::F32; }

Type summed(Type type) {
  if (is_float(type)) return promoted(type, Type::F32);
  return type == Type::U64 ? type : Type::I64;
}

Type contracted(Type type) {
  if (is_float(type)) return promoted(type, Type::F32);
  if (is_bool(type)) return Type::I32;
  if (bits_of(type) >= 32) return type;
  return is_unsigned(type) ? Type::U32 : Type::I32;
}

Type sum_result(Type type) { return is_float(type) ? type : summed(type); }

}  // namespace nets
