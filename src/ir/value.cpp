#include <weft/dev/ir/value.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/core.h>

#include <weft/error.h>

namespace weft {
namespace {

// A binary float format: sign, exponent, mantissa from the top. Codes without their sign are in the
// order of their values: the finite numbers, then infinity, then NaNs.
struct FloatFormat {
  int exponent_bits, mantissa_bits;
  bool has_inf;  // if not, the last exponent is an ordinary one, and its last code the only NaN

  constexpr int least_exponent() const { return 2 - (1 << (exponent_bits - 1)); }  // of normals
  constexpr Bits sign() const { return Bits{1} << (exponent_bits + mantissa_bits); }
  constexpr Bits mantissa() const { return (Bits{1} << mantissa_bits) - 1; }
  constexpr Bits largest() const { return inf() - 1; }
  constexpr Bits inf() const { return sign() - (has_inf ? mantissa() + 1 : 1); }  // or the NaN
  constexpr Bits nan() const { return has_inf ? inf() | (mantissa() ^ mantissa() >> 1) : inf(); }
  constexpr bool is_nan(Bits code) const { return code > inf() || code == nan(); }
};

constexpr FloatFormat float_formats[] = {
    {11, 52, true},  // Weak
    {4, 3, false},   // F8E4M3
    {5, 2, true},    // F8E5M2
    {5, 10, true},   // F16
    {8, 7, true},    // BF16
    {8, 23, true},   // F32
    {11, 52, true},  // F64
};

const FloatFormat& format_of(DType dtype) {
  return float_formats[static_cast<int>(dtype.kind()) - static_cast<int>(Kind::Weak)];
}

// magnitude / 2^drop to the nearest integer, ties to even.
std::uint64_t round_shift(std::uint64_t magnitude, int drop) {
  if (drop <= 0) return magnitude << -drop;
  if (drop > 64) return 0;
  const std::uint64_t half = std::uint64_t{1} << (drop - 1);
  const std::uint64_t kept = magnitude >> (drop - 1) >> 1, rest = magnitude & (2 * half - 1);
  return kept + (rest > half || (rest == half && (kept & 1) != 0));
}

// The code nearest to magnitude * 2^exponent; infinity, or the NaN, for what rounds past the largest number.
Bits encode(std::uint64_t magnitude, int exponent, const FloatFormat& to) {
  if (magnitude == 0) return 0;
  const int top = exponent + std::bit_width(magnitude) - 1;
  const int binade = std::max(top, to.least_exponent());
  const std::uint64_t units = round_shift(magnitude, binade - to.mantissa_bits - exponent);
  // The leading 1 of a normal number counts as the first exponent, and so does a carry.
  const Bits code = (static_cast<Bits>(binade - to.least_exponent()) << to.mantissa_bits) + units;
  return std::min(code, to.inf());
}

// Keeps the top of the payload, and turns a signalling NaN into a quiet one, but for bf16 in f32, whose bits only move.
Bits encode_nan(Bits code, const FloatFormat& from, const FloatFormat& to) {
  if (!from.has_inf || !to.has_inf) return to.nan();
  const bool is_upper_half = from.exponent_bits == 8 && from.mantissa_bits == 7;
  if (is_upper_half && to.exponent_bits == 8) return code << (to.mantissa_bits - 7);
  const Bits payload = code << (64 - from.mantissa_bits) >> (64 - to.mantissa_bits);
  return to.nan() | payload;
}

Bits float_to_float(Bits bits, const FloatFormat& from, const FloatFormat& to) {
  const Bits code = bits & (from.sign() - 1), sign = bits == code ? 0 : to.sign();
  if (from.is_nan(code)) return sign | encode_nan(code, from, to);
  if (code > from.largest()) return sign | to.inf();
  const int field = static_cast<int>(code >> from.mantissa_bits);
  const Bits leading = field == 0 ? 0 : from.mantissa() + 1;
  const int exponent = from.least_exponent() + std::max(field - 1, 0) - from.mantissa_bits;
  return sign | encode(leading | (code & from.mantissa()), exponent, to);
}

Bits int_to_float(Bits bits, DType from, const FloatFormat& to) {
  const bool negative = !from.is_unsigned() && static_cast<std::int64_t>(bits) < 0;
  return (negative ? to.sign() : 0) | encode(negative ? 0 - bits : bits, 0, to);
}

Bits wrap(Bits bits, DType to) {
  const int spare = 64 - to.bits();
  if (to.is_unsigned()) return bits << spare >> spare;
  return static_cast<Bits>(static_cast<std::int64_t>(bits << spare) >> spare);
}

Bits float_to_int(double value, DType to) {
  if (std::isnan(value)) return 0;
  const Bits lowest = lowest_bits(to), highest = highest_bits(to);
  // As a double, the highest 64-bit integer is one more: the first value that the cast cannot take.
  if (value <= double_from_bits(lowest, to)) return lowest;
  if (value >= double_from_bits(highest, to)) return highest;
  return to.is_unsigned() ? static_cast<Bits>(value)
                          : static_cast<Bits>(static_cast<std::int64_t>(value));
}

bool is_zero(Bits bits, DType dtype) {
  return (dtype.is_float() ? bits & (format_of(dtype).sign() - 1) : bits) == 0;
}

void require_number(const char* what, DType dtype) {
  if (dtype.bits() == 0) internal_error(fmt::format("{}: {} has no value", what, dtype.str()));
}

}  // namespace

Bits canonical_bits(Bits bits, DType dtype) {
  const int width = dtype.bits();
  if (width == 64) return bits;
  if (dtype.is_int() || dtype.is_bool()) return convert(bits, dtypes::i64, dtype.scalar());
  return bits & ((Bits{1} << width) - 1);
}

Bits bits_from_int(std::int64_t value, DType dtype) {
  return convert(static_cast<Bits>(value), dtypes::i64, dtype);
}

Bits bits_from_double(double value, DType dtype) {
  return convert(std::bit_cast<Bits>(value), dtypes::f64, dtype);
}

double double_from_bits(Bits bits, DType dtype) {
  return std::bit_cast<double>(convert(bits, dtype, dtypes::f64));
}

std::int64_t int_from_bits(Bits bits, DType dtype) {
  return static_cast<std::int64_t>(convert(bits, dtype, dtypes::i64));
}

Bits convert(Bits bits, DType from, DType to) {
  require_number("convert", from);
  require_number("convert", to);
  if (from.kind() == to.kind()) return bits;
  if (to.is_bool()) return is_zero(bits, from) ? 0 : 1;
  if (to.is_int())
    return from.is_float() ? float_to_int(double_from_bits(bits, from), to) : wrap(bits, to);
  return from.is_float() ? float_to_float(bits, format_of(from), format_of(to))
                         : int_to_float(bits, from, format_of(to));
}

Bits reinterpret(Bits bits, DType from, DType to) {
  require_number("reinterpret", from);
  require_number("reinterpret", to);
  if (from.bits() != to.bits())
    user_error(fmt::format("bitcast: {} and {} differ in width", from.str(), to.str()));
  return to.is_int() ? wrap(bits, to) : bits & (~Bits{0} >> (64 - to.bits()));
}

Bits lowest_bits(DType dtype) {
  require_number("lowest_bits", dtype);
  if (dtype.is_float()) return format_of(dtype).sign() | highest_bits(dtype);
  return dtype.is_int() && !dtype.is_unsigned() ? ~highest_bits(dtype) : 0;
}

Bits highest_bits(DType dtype) {
  require_number("highest_bits", dtype);
  if (dtype.is_float()) {
    const FloatFormat& format = format_of(dtype);
    return format.has_inf ? format.inf() : format.largest();
  }
  const bool has_sign = dtype.is_int() && !dtype.is_unsigned();
  return ~Bits{0} >> (64 - dtype.bits() + (has_sign ? 1 : 0));
}

}  // namespace weft
