#include <array>
#include <bit>
#include <cfloat>
#include <cmath>
#include <concepts>
#include <limits>

#include <fmt/core.h>

#include <weft/dev/ir/value.h>
#include <weft/error.h>

#ifdef __FAST_MATH__
#error "constants are folded by IEEE 754 arithmetic: compile without -ffast-math"
#endif
static_assert(FLT_EVAL_METHOD == 0, "float and double arithmetic must round to their own dtype");

namespace weft {
namespace {

// What an op computes, as a row of a table. Sources that the op does not have are zero.
template <class T>
using Formula = T (*)(T a, T b, T c);
template <class T>
using Test = bool (*)(T a, T b);

template <class F>
struct Row {
  Op op;
  F formula;
};

template <class F>
using ByOp = std::array<F, op_count>;

template <class F>
constexpr ByOp<F> by_op(std::initializer_list<Row<F>> rows) {
  ByOp<F> table{};
  for (const auto& [op, formula] : rows) table[static_cast<int>(op)] = formula;
  return table;
}

template <class T>
constexpr ByOp<Test<T>> tests = by_op<Test<T>>({
    {Op::CmpLt, [](T a, T b) { return a < b; }},
    {Op::CmpNe, [](T a, T b) { return a != b; }},
    {Op::CmpEq, [](T a, T b) { return a == b; }},
});

constexpr auto bool_formulas = by_op<Formula<bool>>({
    {Op::Neg, [](bool a, bool, bool) { return a; }},
    {Op::Trunc, [](bool a, bool, bool) { return a; }},
    {Op::Add, [](bool a, bool b, bool) { return a || b; }},
    {Op::Sub, [](bool a, bool b, bool) { return a != b; }},
    {Op::Mul, [](bool a, bool b, bool) { return a && b; }},
    {Op::Max, [](bool a, bool b, bool) { return a || b; }},
    {Op::And, [](bool a, bool b, bool) { return a && b; }},
    {Op::Or, [](bool a, bool b, bool) { return a || b; }},
    {Op::Xor, [](bool a, bool b, bool) { return a != b; }},
    {Op::MulAcc, [](bool a, bool b, bool c) { return (a && b) || c; }},
});

// T is std::int64_t or std::uint64_t. Going through Bits makes overflow wrap.
template <std::integral T>
struct IntDivision {
  static T truncated(T a, T b) {
    if (b == 0) return 0;
    const bool may_trap = std::signed_integral<T> && b == static_cast<T>(-1);
    return may_trap ? static_cast<T>(0 - Bits(a)) : a / b;
  }
  static T remainder(T a, T b) { return static_cast<T>(Bits(a) - Bits(b) * Bits(truncated(a, b))); }
  // Whether truncation went up, which the floor does not.
  static bool went_up(T a, T b) { return b != 0 && remainder(a, b) != 0 && (a < 0) != (b < 0); }
  static T floor(T a, T b) { return static_cast<T>(Bits(truncated(a, b)) - went_up(a, b)); }
  static T floor_remainder(T a, T b) {
    return went_up(a, b) ? remainder(a, b) + b : remainder(a, b);
  }
};

template <class T>
T shift_left(T a, T b) {
  return static_cast<T>(Bits(b) < 64 ? Bits(a) << b : 0);
}

template <class T>
T shift_right(T a, T b) {
  return Bits(b) < 64 ? a >> b : static_cast<T>(a < 0 ? -1 : 0);
}

// Integers of every width are computed in 64 bits and wrapped at the end. The formulas cannot tell:
// operands are extended, so even a shift by at least the width of a narrower dtype leaves only
// zeros, or copies of the sign, in the bits that stay.
template <std::integral T>
constexpr auto int_formulas = by_op<Formula<T>>({
    {Op::Neg, [](T a, T, T) { return T(0 - Bits(a)); }},
    {Op::Trunc, [](T a, T, T) { return a; }},
    {Op::Add, [](T a, T b, T) { return T(Bits(a) + Bits(b)); }},
    {Op::Sub, [](T a, T b, T) { return T(Bits(a) - Bits(b)); }},
    {Op::Mul, [](T a, T b, T) { return T(Bits(a) * Bits(b)); }},
    {Op::Max, [](T a, T b, T) { return a > b ? a : b; }},
    {Op::CDiv, [](T a, T b, T) { return IntDivision<T>::truncated(a, b); }},
    {Op::CMod, [](T a, T b, T) { return IntDivision<T>::remainder(a, b); }},
    {Op::FloorDiv, [](T a, T b, T) { return IntDivision<T>::floor(a, b); }},
    {Op::FloorMod, [](T a, T b, T) { return IntDivision<T>::floor_remainder(a, b); }},
    {Op::Shl, [](T a, T b, T) { return shift_left(a, b); }},
    {Op::Shr, [](T a, T b, T) { return shift_right(a, b); }},
    {Op::And, [](T a, T b, T) { return a & b; }},
    {Op::Or, [](T a, T b, T) { return a | b; }},
    {Op::Xor, [](T a, T b, T) { return a ^ b; }},
    {Op::MulAcc, [](T a, T b, T c) { return T(Bits(a) * Bits(b) + Bits(c)); }},
});

template <class T>
T larger(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  if (a == b) return std::signbit(a) ? b : a;  // +0 before -0
  return a > b ? a : b;
}

template <std::floating_point T, Formula<T> mulacc>
constexpr auto float_formulas = by_op<Formula<T>>({
    {Op::Recip, [](T a, T, T) { return 1 / a; }},
    {Op::Sqrt, [](T a, T, T) { return std::sqrt(a); }},
    {Op::Trunc, [](T a, T, T) { return std::trunc(a); }},
    {Op::Add, [](T a, T b, T) { return a + b; }},
    {Op::Sub, [](T a, T b, T) { return a - b; }},
    {Op::Mul, [](T a, T b, T) { return a * b; }},
    {Op::Div, [](T a, T b, T) { return a / b; }},
    {Op::Mod, [](T a, T b, T) { return std::fmod(a, b); }},
    {Op::Max, [](T a, T b, T) { return larger(a, b); }},
    {Op::MulAcc, mulacc},
});

// The sum rounded to odd: truncated, then the last bit set if anything was lost. What is rounded
// again afterwards, to at least two bits less, comes out as if it had been rounded once.
double add_to_odd(double a, double b) {
  const double sum = a + b;
  if (!std::isfinite(sum)) return sum;
  const double other = sum - a, error = (a - (sum - other)) + (b - other);  // exactly a + b - sum
  const Bits bits = std::bit_cast<Bits>(sum);
  if (error == 0 || (bits & 1) != 0) return sum;
  const bool outward = (error > 0) == (sum > 0);
  return std::bit_cast<double>(outward ? bits + 1 : bits - 1);
}

// A domain: the C++ type that operands of a dtype are computed in, and the formulas there.

struct Logic {
  using Value = bool;
  static constexpr auto& formulas = bool_formulas;
  static bool load(Bits bits, DType) { return bits != 0; }
  static Bits store(bool value, DType) { return value; }
};

template <class T>
struct Whole {
  using Value = T;
  static constexpr auto& formulas = int_formulas<T>;
  static T load(Bits bits, DType) { return static_cast<T>(bits); }
  static Bits store(T value, DType dtype) { return convert(Bits(value), dtypes::i64, dtype); }
};

// A NaN that arithmetic gives is always the positive quiet one without payload: processors differ.
Bits canonical_nan(DType dtype) {
  return bits_from_double(std::numeric_limits<double>::quiet_NaN(), dtype);
}

template <class T, class Word>
struct Native {
  using Value = T;
  static T fused(T a, T b, T c) { return std::fma(a, b, c); }
  static constexpr auto& formulas = float_formulas<T, fused>;
  static T load(Bits bits, DType) { return std::bit_cast<T>(static_cast<Word>(bits)); }
  static Bits store(T value, DType dtype) {
    return std::isnan(value) ? canonical_nan(dtype) : std::bit_cast<Word>(value);
  }
};

// Floats of p <= 11 bits are computed in double and rounded to their dtype at the end. Rounding twice
// shows only if the first time moves a result onto a tie of the second: a number of p + 1 bits, of
// fewer where it is subnormal. A sum, quotient or square root that is not itself a tie is farther
// from one than 2^-(2p+4) of its size, but a double has 53 bits. A product is exact in double, even
// at the ends of bf16, and so are trunc and fmod.
struct Small {
  using Value = double;
  // The product is exact, so it makes no difference if a compiler contracts it with the sum.
  static double fused(double a, double b, double c) { return add_to_odd(a * b, c); }
  static constexpr auto& formulas = float_formulas<double, fused>;
  static double load(Bits bits, DType dtype) { return double_from_bits(bits, dtype); }
  static Bits store(double value, DType dtype) {
    const Bits bits = bits_from_double(value, dtype);
    return std::isnan(double_from_bits(bits, dtype)) ? canonical_nan(dtype) : bits;
  }
};

template <class Domain>
std::optional<Bits> compute(Op op, DType dtype, std::span<const Bits> operands) {
  using Value = typename Domain::Value;
  std::array<Value, 3> in{};
  for (std::size_t i = 0; i < operands.size(); ++i) in[i] = Domain::load(operands[i], dtype);
  const auto [a, b, c] = in;
  const auto row = static_cast<std::size_t>(op);
  if (const auto test = tests<Value>[row]) return test(a, b);
  if (const auto formula = Domain::formulas[row]) return Domain::store(formula(a, b, c), dtype);
  return std::nullopt;
}

using Computer = std::optional<Bits> (*)(Op, DType, std::span<const Bits>);

Computer computer_of(DType dtype) {
  if (dtype.is_bool()) return compute<Logic>;
  if (dtype.is_int())
    return dtype.is_unsigned() ? compute<Whole<std::uint64_t>> : compute<Whole<std::int64_t>>;
  if (dtype.kind() == Kind::F32) return compute<Native<float, std::uint32_t>>;
  return dtype.bits() == 64 ? compute<Native<double, std::uint64_t>> : compute<Small>;
}

// Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011. A pair of words is packed
// into a u64 with the first in the low half.
Bits threefry(Bits counter, Bits key) {
  constexpr int rotations[] = {13, 15, 26, 6, 17, 29, 16, 24};
  const auto low = [](Bits pair) { return static_cast<std::uint32_t>(pair); };
  const auto high = [](Bits pair) { return static_cast<std::uint32_t>(pair >> 32); };
  const std::uint32_t keys[] = {low(key), high(key), low(key) ^ high(key) ^ 0x1bd11bda};
  std::uint32_t x = low(counter) + keys[0], y = high(counter) + keys[1];
  for (std::uint32_t round = 1; round <= 20; ++round) {
    x += y;
    y = std::rotl(y, rotations[(round - 1) % 8]) ^ x;
    if (round % 4 != 0) continue;
    const std::uint32_t turn = round / 4;
    x += keys[turn % 3];
    y += keys[(turn + 1) % 3] + turn;
  }
  return Bits{y} << 32 | x;
}

// Rounded once: a double holds more of what is narrower, and less than its least is 0 there.
Bits scaled(DType dtype, Bits value, Bits exponent) {
  const int power = static_cast<std::int32_t>(static_cast<std::uint32_t>(exponent));
  return Small::store(std::ldexp(double_from_bits(value, dtype), power), dtype);
}

}  // namespace

std::optional<Bits> evaluate(Op op, DType dtype, std::span<const Bits> operands) {
  if (!is_elementwise(op)) return std::nullopt;
  if (operands.size() != info(op).arity.least)
    internal_error(fmt::format("evaluate: {} of {} operands", info(op).name, operands.size()));
  // These three are about bits, and keep a NaN as it is.
  if (op == Op::Where) return operands[operands[0] != 0 ? 1 : 2];
  if (op == Op::Neg && dtype.is_float()) return operands[0] ^ (Bits{1} << (dtype.bits() - 1));
  if (op == Op::Threefry && dtype.kind() == Kind::U64) return threefry(operands[0], operands[1]);
  if (op == Op::Ldexp && dtype.is_float()) return scaled(dtype, operands[0], operands[1]);
  return dtype.bits() == 0 ? std::nullopt : computer_of(dtype)(op, dtype, operands);
}

Bits identity_bits(Identity identity, DType dtype) {
  switch (identity) {
    case Identity::Zero: return bits_from_int(0, dtype);
    case Identity::One: return bits_from_int(1, dtype);
    case Identity::Lowest: return lowest_bits(dtype);
    case Identity::AllOnes:
      if (!dtype.is_float()) return bits_from_int(-1, dtype);
      break;
    case Identity::None: break;
  }
  internal_error(fmt::format("identity_bits: none in {}", dtype.str()));
}

}  // namespace weft
