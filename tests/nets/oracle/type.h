// Element types as the documents of weft describe them: docs/ops/overview.md and dtype.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace nets {

enum class Type : std::uint8_t { Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64 };
inline constexpr int type_count = static_cast<int>(Type::F64) + 1;

inline bool is_float(Type type) { return type >= Type::F16; }
inline bool is_bool(Type type) { return type == Type::Bool; }
inline bool is_int(Type type) { return !is_float(type) && !is_bool(type); }
inline bool is_unsigned(Type type) { return type >= Type::U8 && type <= Type::U64; }
int bits_of(Type type);               // of bool: 1
std::string_view name_of(Type type);  // "i8"
std::optional<Type> type_of(std::string_view name);

// The significant bits of a float type, and the exponents of its least and largest numbers.
struct FloatFormat {
  int digits, least_exponent, most_exponent;  // values are below 2^most
};
FloatFormat format_of(Type type);
double half_ulp(Type type);  // relative: what rounding once may change
double largest_of(Type type);

double rounded(double value, Type type);              // to nearest, ties to even
std::int64_t wrapped(std::int64_t value, Type type);  // to the bits of an integer type
std::int64_t saturated(double value, Type type);      // a float as an integer; NaN is 0
std::int64_t least_integer(Type type);
std::int64_t largest_integer(Type type);  // of u64: the bits, -1

Type promoted(Type a, Type b);
Type float_like(Type type);  // what / and exp make of it
// What sums of the type have and are taken in; and what products of two and their sums do.
Type summed(Type type);
Type contracted(Type type);
Type sum_result(Type type);  // halves are rounded back

}  // namespace nets
