// Decomposes integer division: by constants into multiplications and shifts, and floor division
// into CDIV and CMOD.
//
// For 0 <= x <= top, x / d is x*m >> s if m*d = 2^s + e with 0 <= e and e*top < 2^s (Granlund and
// Montgomery, "Division by invariant integers using multiplication", 1994). The product is computed
// in the dtype itself if it fits, otherwise in the one twice as wide. 64-bit divisions whose
// product would need 128 bits are left to the target.

#include <algorithm>
#include <bit>
#include <optional>

#include "arithmetic_steps.h"

#include <weft/dev/codegen/decompose.h>

namespace weft {
namespace {

constexpr KindSet fixed_signed{Kind::I8, Kind::I16, Kind::I32, Kind::I64};
constexpr KindSet fixed_width = fixed_signed | KindSet{Kind::U8, Kind::U16, Kind::U32, Kind::U64};

UOp zero_like(const UOp& x) { return literal_like(std::int64_t{0}, x); }

struct Multiplier {
  std::uint64_t factor;
  int shift;
};

// Returns the smallest multiplier for 0 <= x <= top and d > 1 whose products stay below 2^bits.
std::optional<Multiplier> multiplier_for(std::uint64_t top, std::uint64_t d, int bits) {
  for (int shift = 0; shift < bits; ++shift) {
    const Wide power = Wide{1} << shift, factor = (power + d - 1) / d, error = factor * d - power;
    if (factor * top >> bits != 0) return std::nullopt;
    if (error <= (power - 1) / top) return Multiplier{static_cast<std::uint64_t>(factor), shift};
  }
  return std::nullopt;
}

DType unsigned_of(int bits, std::uint32_t lanes) {
  const DType dtype = bits <= 8    ? dtypes::u8
                      : bits <= 16 ? dtypes::u16
                      : bits <= 32 ? dtypes::u32
                                   : dtypes::u64;
  return dtype.vec(lanes);
}

UOp multiplied(const UOp& x, Multiplier by, DType in) {
  return shr(cast(x, in) * const_bits(in, by.factor), by.shift);
}

// Returns x / d for 0 <= x <= top, or null if that needs a product of 128 bits.
UOp divided(const UOp& x, std::uint64_t top, std::uint64_t d) {
  const DType dtype = x->dtype();
  const int bits = dtype.bits();
  if (std::has_single_bit(d)) return shr(x, std::countr_zero(d));
  if (top < d) return zero_like(x);
  if (const auto by = multiplier_for(top, d, dtype.is_unsigned() ? bits : bits - 1))
    return multiplied(x, *by, dtype);
  const DType wide = unsigned_of(std::min(2 * bits, 64), dtype.lanes());
  if (bits < 64)
    if (const auto by = multiplier_for(top, d, 2 * bits))
      return cast(multiplied(x, *by, wide), dtype);
  if (d % 2 == 0) return divided(shr(x, 1), top / 2, d / 2);
  if (bits == 64) return {};
  // The factor has one bit too many, whose weight is 2^bits: the product with it is x, which is
  // added to the product with the other bits. Since that sum may wrap, half of it is computed.
  const int shift = bits + std::bit_width(d - 1);
  const Wide factor = ((Wide{1} << shift) + d - 1) / d - (Wide{1} << bits);
  const UOp part = cast(multiplied(x, {static_cast<std::uint64_t>(factor), bits}, wide), dtype);
  return shr(shr(x - part, 1) + part, shift - bits - 1);
}

// Returns floor(x / d), which for negative x is ~floor(~x / d).
UOp floored(const UOp& x, std::uint64_t d) {
  const Interval b = x->bounds();
  if (std::has_single_bit(d)) return shr(x, std::countr_zero(d));
  if (b.lo >= 0) return divided(x, static_cast<std::uint64_t>(b.hi), d);
  const UOp sign = shr(x, x->dtype().bits() - 1);
  const auto top = static_cast<std::uint64_t>(std::max(b.hi, -1 - b.lo));
  const UOp quotient = divided(x ^ sign, top, d);
  return quotient.is_null() ? quotient : quotient ^ sign;
}

// Returns trunc(x / d). Divides |x| as unsigned, since it may not fit the signed dtype.
UOp truncated(const UOp& x, std::uint64_t d) {
  const Interval b = x->bounds();
  if (b.lo >= 0) return floored(x, d);
  const DType dtype = x->dtype();
  const UOp sign = shr(x, dtype.bits() - 1);
  if (std::has_single_bit(d))  // rounds down; adds d - 1 to a negative x before
    return shr(x + (sign & static_cast<std::int64_t>(d - 1)), std::countr_zero(d));
  const UOp magnitude = cast((x ^ sign) - sign, unsigned_of(dtype.bits(), dtype.lanes()));
  const auto top = static_cast<std::uint64_t>(std::max(b.hi, -b.lo));
  const UOp quotient = divided(magnitude, top, d);
  return quotient.is_null() ? quotient : (cast(quotient, dtype) ^ sign) - sign;
}

// Returns null if the division is left to the target.
UOp quotient_of(Op op, const UOp& x, Wide d) {
  if (d == 0) return zero_like(x);
  if (d > 0) return (op == Op::CDiv ? truncated : floored)(x, static_cast<std::uint64_t>(d));
  if (op != Op::CDiv) return {};
  // -d may not fit the dtype, but it fits the unsigned one.
  const UOp opposite = truncated(x, static_cast<std::uint64_t>(-d));
  return opposite.is_null() ? opposite : -opposite;
}

UOp quotient(const Match& m) {
  return quotient_of(m.root()->op(), UOp(m.root()->src(0)), m.root()->src(1)->bounds().lo);
}

UOp remainder(const Match& m) {
  UOp x(m.root()->src(0));
  const UOp divisor(m.root()->src(1));
  const Wide d = divisor->bounds().lo;
  const bool is_floor = m.root()->op() == Op::FloorMod;
  if (d == 0) return x;
  if (d > 0 && (d & (d - 1)) == 0 && (is_floor || x->bounds().lo >= 0))
    return x & static_cast<std::int64_t>(d - 1);
  const UOp quotient = quotient_of(is_floor ? Op::FloorDiv : Op::CDiv, x, d);
  return quotient.is_null() ? quotient : x - quotient * divisor;
}

bool are_non_negative(const Match& m) {
  return m.root()->src(0)->bounds().lo >= 0 && m.root()->src(1)->bounds().lo >= 0;
}

// Returns whether truncation has rounded a quotient up: the remainder differs in sign from y.
UOp is_above_floor(const UOp& rest, const UOp& y) {
  return (rest != zero_like(rest)) & ((rest ^ y) < zero_like(rest));
}

UOp floor_quotient(const Match& m) {
  if (are_non_negative(m)) return {};
  const UOp x(m.root()->src(0)), y(m.root()->src(1));
  const UOp quotient = make(Op::CDiv, {x, y});
  UOp is_above = is_above_floor(x - quotient * y, y);
  if (y->bounds().contains(0)) is_above = is_above & (y != zero_like(y));
  return where(is_above, quotient - 1, quotient);
}

UOp floor_remainder(const Match& m) {
  if (are_non_negative(m)) return {};
  const UOp x(m.root()->src(0)), y(m.root()->src(1)), rest = make(Op::CMod, {x, y});
  return where(is_above_floor(rest, y), rest + y, rest);
}

}  // namespace

const RuleSet& divide_rules() {
  static const Pat x = of_kinds("x", fixed_width), c = int_const("c");
  static const Pat s = of_kinds("s", fixed_signed), y = of_kinds("y", fixed_signed);
  static const RuleSet rules{"divide",
                             {
                                 rule(node({Op::FloorDiv, Op::CDiv}, {x, c}), quotient),
                                 rule(node({Op::FloorMod, Op::CMod}, {x, c}), remainder),
                                 rule(s / y, floor_quotient),
                                 rule(s % y, floor_remainder),
                             }};
  return rules;
}

const RuleSet& truncating_rules() {
  static const Pat x = of_kinds("x", fixed_width), y = of_kinds("y", fixed_width);
  static const RuleSet rules{"truncating",
                             {
                                 rule(x / y, node(Op::CDiv, {x, y}), when(are_non_negative)),
                                 rule(x % y, node(Op::CMod, {x, y}), when(are_non_negative)),
                             }};
  return rules;
}

}  // namespace weft
