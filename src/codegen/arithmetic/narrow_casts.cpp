// Casts from and to f16, bf16 and fp8, all via f32. Values wider than f32 are first rounded to odd,
// so that rounding again loses nothing.

#include "narrow.h"

#include <weft/dev/codegen/decompose.h>
#include <weft/dev/device/target.h>

namespace weft {
namespace {

// Sign, exponent and mantissa, from the top, in the low bits of a u32.
struct Format {
  int exponent_bits, mantissa_bits;
  bool has_inf;  // otherwise the last exponent is ordinary, and its last code is the only NaN

  constexpr int bits() const { return 1 + exponent_bits + mantissa_bits; }
  constexpr int least_exponent() const { return 2 - (1 << (exponent_bits - 1)); }  // of normals
  constexpr std::int64_t sign() const { return std::int64_t{1} << (bits() - 1); }
  constexpr std::int64_t leading() const { return std::int64_t{1} << mantissa_bits; }
  constexpr std::int64_t inf() const { return sign() - (has_inf ? leading() : 1); }  // or the NaN
  constexpr std::int64_t nan() const { return has_inf ? inf() | leading() >> 1 : inf(); }
};

constexpr Format f32_format{8, 23, true};

constexpr Format format_of(DType narrow) {
  switch (narrow.kind()) {
    case Kind::F16: return {5, 10, true};
    case Kind::BF16: return {8, 7, true};
    case Kind::F8E5M2: return {5, 2, true};
    default: return {4, 3, false};
  }
}

UOp f32_from_narrow(const UOp& value) {
  const Format from = format_of(value->dtype());
  const std::uint32_t lanes = value->dtype().lanes();
  const DType u32 = dtypes::u32.vec(lanes), f32 = dtypes::f32.vec(lanes);
  const UOp word = cast(bitcast(value, word_of(value->dtype())), u32);
  if (from.exponent_bits == f32_format.exponent_bits)
    return bitcast(shl(word, f32_format.bits() - from.bits()), f32);
  const UOp code = word & (from.sign() - 1);
  const UOp sign = shl(word & from.sign(), f32_format.bits() - from.bits());

  const int spare = f32_format.mantissa_bits - from.mantissa_bits;
  const UOp widened = shl(code, spare);
  const std::int64_t quiet = f32_format.nan();
  const UOp nan = from.has_inf ? widened | quiet : const_int(quiet, u32);
  const UOp is_nan = from.has_inf ? code > from.inf() : code == from.inf();
  const std::int64_t rebias = from.least_exponent() - f32_format.least_exponent();
  const UOp normal = widened + (rebias << f32_format.mantissa_bits);
  // The product is exact and a normal f32.
  const double unit = std::ldexp(1.0, from.least_exponent() - from.mantissa_bits);
  const UOp subnormal = bitcast(cast(code, f32) * unit, u32);
  const UOp finite = where(code < from.leading(), subnormal, normal);
  const UOp special = from.has_inf ? where(is_nan, nan, const_int(f32_format.inf(), u32)) : nan;
  const UOp is_special = from.has_inf ? code >= from.inf() : is_nan;
  return bitcast(sign | where(is_special, special, finite), f32);
}

// Returns x / 2^drop rounded to nearest, ties to even. x + 2^drop must not wrap.
UOp round_shift(const UOp& x, const UOp& drop) {
  const UOp one = literal_like(std::int64_t{1}, x);
  const UOp below_half = make(Op::Shl, {one, drop - 1}) - 1;
  const UOp last = make(Op::Shr, {x, drop}) & 1;
  return make(Op::Shr, {x + below_half + last, drop});
}

// Rounds the code of an f32 without its sign. Large values give codes above that of infinity.
UOp round_to(const UOp& code, const Format& to) {
  const int spare = f32_format.mantissa_bits - to.mantissa_bits;
  const UOp drop = literal_like(std::int64_t{spare}, code);
  const std::int64_t least = to.least_exponent() - f32_format.least_exponent() + 1;
  const UOp exponent = shr(code, f32_format.mantissa_bits);
  const UOp mantissa = code & (f32_format.leading() - 1);
  // Subnormals of f32 have no leading one, but round to 0 in any case.
  const UOp significand = mantissa | f32_format.leading();
  const UOp is_normal = exponent >= least;
  // The leading one of a normal number adds 1 to the exponent, and so does a carry.
  const UOp binade = where(is_normal, exponent - least, literal_like(std::int64_t{0}, code));
  // Limits the shift of tiny numbers: one bit more than the significand has already leaves 0.
  const std::int64_t most = f32_format.mantissa_bits + 2 - spare;
  const UOp below = where(is_normal, literal_like(std::int64_t{0}, code), least - exponent);
  const UOp shift = min(below, literal_like(most, code)) + drop;
  return shl(binade, to.mantissa_bits) + round_shift(significand, shift);
}

// Rounds to bf16, the upper half of an f32. A carry may lead to infinity; it could lead beyond only
// from NaNs, which are treated separately.
UOp upper_half(const UOp& value, DType dtype) {
  const DType u32 = dtypes::u32.vec(dtype.lanes());
  const UOp word = bitcast(value, u32);
  const UOp rounded = round_shift(word, literal_like(std::int64_t{16}, word));
  const UOp quiet = shr(word, 16) | 0x40;
  return bitcast(cast(where(value != value, quiet, rounded), word_of(dtype)), dtype);
}

UOp narrow_from_f32(const UOp& value, DType dtype) {
  const Format to = format_of(dtype);
  if (to.exponent_bits == f32_format.exponent_bits) return upper_half(value, dtype);
  const DType u32 = dtypes::u32.vec(dtype.lanes());
  const UOp word = bitcast(value, u32), code = word & (f32_format.sign() - 1);
  const UOp sign = shr(word & f32_format.sign(), f32_format.bits() - to.bits());
  const auto number = [&](std::int64_t n) { return const_int(n, u32); };

  const UOp rounded = min(round_to(code, to), number(to.inf()));
  const int spare = f32_format.mantissa_bits - to.mantissa_bits;
  const UOp payload = shr(code & (f32_format.leading() - 1), spare);
  const UOp nan = to.has_inf ? payload | to.nan() : number(to.nan());
  const UOp result = sign | where(code > f32_format.inf(), nan, rounded);
  return bitcast(cast(result, word_of(dtype)), dtype);
}

// Rounds a value of a wider dtype to odd in f32. Values that f32 represents exactly stay unchanged.
UOp odd_f32_from(const UOp& value) {
  const UOp result = cast(value, dtypes::f32.vec(value->dtype().lanes()));
  const UOp back = cast(result, value->dtype());
  return rounded_to_odd(result, back < value, value < back);
}

bool fits_f32(DType dtype) {
  if (dtype.is_float()) return dtype.kind() == Kind::F32;
  return dtype.is_bool() || dtype.bits() <= 16;
}

// Returns whether an instruction of the target does the cast, which it can only from and to f32.
// Casts from and to other dtypes work on bits, since rules would merge two casts into one that no
// instruction does.
bool is_instruction(const Match& m, KindSet Target::* known, DType narrow, DType other) {
  const auto* target = m.context<Target>();
  return target != nullptr && other.kind() == Kind::F32 && (target->*known).contains(narrow.kind());
}

UOp widen(const Match& m) {
  const UOp value(m.root()->src(0));
  const DType to = m.root()->dtype();
  return is_instruction(m, &Target::converts, value->dtype(), to)
             ? UOp()
             : cast(f32_from_narrow(value), to);
}

UOp round_to_narrow(const Match& m) {
  const UOp value(m.root()->src(0));
  const DType from = value->dtype(), to = m.root()->dtype();
  if (is_instruction(m, &Target::converts, to, from) ||
      is_instruction(m, &Target::rounds, to, from))
    return {};
  const bool fits = fits_f32(from) || is_narrow(from);
  const DType f32 = dtypes::f32.vec(from.lanes());
  return narrow_from_f32(fits ? cast(value, f32) : odd_f32_from(value), to);
}

}  // namespace

const RuleSet& narrow_cast_rules() {
  static const Pat x = of_kinds("x", narrow_kinds);
  static const RuleSet rules{"narrow_casts",
                             {
                                 rule(with_kinds(node(Op::Cast), narrow_kinds), round_to_narrow),
                                 rule(node(Op::Cast, {x}), widen),
                             }};
  return rules;
}

}  // namespace weft
