#include <array>
#include <bit>
#include <functional>
#include <random>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <weft/dev/ir/value.h>
#include <weft/error.h>

#include "float_reference.h"

namespace weft {
namespace {

using namespace dtypes;
using reference::small_float;
using reference::small_floats;
using reference::SmallFloat;

constexpr std::uint64_t seed = 20250311;
constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

const std::vector<DType> ints = {index, i8, i16, i32, i64, u8, u16, u32, u64};
const std::vector<DType> floats = {weak, f8e4m3, f8e5m2, f16, bf16, f32, f64};

std::vector<DType> all_numbers() {
  std::vector<DType> all = {bool_};
  all.insert(all.end(), ints.begin(), ints.end());
  all.insert(all.end(), floats.begin(), floats.end());
  return all;
}

template <class... Operands>
Bits run(Op op, DType dtype, Operands... operands) {
  return evaluate(op, dtype, std::array<Bits, sizeof...(operands)>{operands...}).value();
}

template <class... Operands>
std::int64_t run_int(Op op, DType dtype, Operands... operands) {
  return static_cast<std::int64_t>(run(op, dtype, bits_from_int(operands, dtype)...));
}

template <class... Operands>
double run_float(Op op, DType dtype, Operands... operands) {
  return double_from_bits(run(op, dtype, bits_from_double(operands, dtype)...), dtype);
}

bool is_nan(Bits bits, DType dtype) {
  return dtype.is_float() && std::isnan(double_from_bits(bits, dtype));
}

// Ops that have a value, in the order of the table.
std::vector<Op> valued_ops() {
  const OpSet none = {Op::Cast, Op::Bitcast, Op::Exp2, Op::Log2,
                      Op::Sin,  Op::Cos,     Op::Pow,  Op::Threefry};
  std::vector<Op> ops;
  for (int i = 0; i < op_count; ++i) {
    const auto op = static_cast<Op>(i);
    if (is_elementwise(op) && !none.contains(op)) ops.push_back(op);
  }
  return ops;
}

std::vector<Bits> edges(DType dtype) {
  std::vector<Bits> all = {lowest_bits(dtype), highest_bits(dtype)};
  for (std::int64_t i : {0, 1, 2, 3, 7, 8, 31, 32, 63, 64, 100, 127})
    for (std::int64_t signed_i : {i, -i}) all.push_back(bits_from_int(signed_i, dtype));
  if (dtype.is_float())
    for (double x : {0.0, 0.3, 1.5, 2.5, 1e-8, 1e-45, 1e4, 1e30, 1e308, inf, nan})
      for (double signed_x : {x, -x}) all.push_back(bits_from_double(signed_x, dtype));
  return all;
}

// The equations of the table in integers wide enough for operands of up to 32 bits.
using Equation = std::function<std::int64_t(std::int64_t, std::int64_t, int)>;

struct IntCase {
  Op op;
  Equation equation;
};

const std::vector<IntCase>& int_cases() {
  using Int = std::int64_t;
  static const auto floor_div = [](Int a, Int b) {
    Int q = 0;
    if (b != 0) q = static_cast<Int>(std::floor(static_cast<long double>(a) / b));
    return q;
  };
  static const auto cut_div = [](Int a, Int b) { return b == 0 ? 0 : a / b; };
  static const std::vector<IntCase> cases = {
      {Op::Add, [](Int a, Int b, int) { return a + b; }},
      {Op::Sub, [](Int a, Int b, int) { return a - b; }},
      {Op::Mul,
       [](Int a, Int b, int) {
         return static_cast<Int>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
       }},
      {Op::Max, [](Int a, Int b, int) { return std::max(a, b); }},
      {Op::CDiv, [](Int a, Int b, int) { return cut_div(a, b); }},
      {Op::CMod, [](Int a, Int b, int) { return a - b * cut_div(a, b); }},
      {Op::FloorDiv, [](Int a, Int b, int) { return floor_div(a, b); }},
      {Op::FloorMod, [](Int a, Int b, int) { return a - b * floor_div(a, b); }},
      {Op::Shl, [](Int a, Int b, int bits) { return b < 0 || b >= bits ? 0 : a * (Int{1} << b); }},
      {Op::Shr,
       [](Int a, Int b, int bits) {
         if (b < 0 || b >= bits) return a < 0 ? Int{-1} : Int{0};
         return floor_div(a, Int{1} << b);
       }},
      {Op::And, [](Int a, Int b, int) { return a & b; }},
      {Op::Or, [](Int a, Int b, int) { return a | b; }},
      {Op::Xor, [](Int a, Int b, int) { return a ^ b; }},
      {Op::CmpLt, [](Int a, Int b, int) { return Int{a < b}; }},
      {Op::CmpNe, [](Int a, Int b, int) { return Int{a != b}; }},
      {Op::CmpEq, [](Int a, Int b, int) { return Int{a == b}; }},
  };
  return cases;
}

void check_int_pair(const IntCase& row, DType dtype, std::int64_t a, std::int64_t b) {
  const auto left = static_cast<Bits>(a), right = static_cast<Bits>(b);
  ASSERT_EQ(run(row.op, dtype, left, right), bits_from_int(row.equation(a, b, dtype.bits()), dtype))
      << info(row.op).name << " " << dtype.str() << " " << a << " " << b;
}

TEST(EvaluateInt, AllPairsOf8Bits) {
  for (DType dtype : {i8, u8}) {
    const int first = dtype == i8 ? -128 : 0;
    for (const IntCase& row : int_cases())
      for (int a = first; a < first + 256; ++a)
        for (int b = first; b < first + 256; ++b)
          ASSERT_NO_FATAL_FAILURE(check_int_pair(row, dtype, a, b));
  }
}

TEST(EvaluateInt, SampledPairsOf16And32Bits) {
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937_64 random(seed);
  for (DType dtype : {i16, u16, i32, u32}) {
    const auto draw = [&] {
      const Bits spread = random() >> random() % 64;  // small numbers as often as large ones
      return static_cast<std::int64_t>(bits_from_int(static_cast<std::int64_t>(spread), dtype));
    };
    for (const IntCase& row : int_cases())
      for (int i = 0; i < 4000; ++i)
        ASSERT_NO_FATAL_FAILURE(check_int_pair(row, dtype, draw(), draw()));
    for (const IntCase& row : int_cases())
      for (Bits a : edges(dtype))
        for (Bits b : edges(dtype))
          ASSERT_NO_FATAL_FAILURE(check_int_pair(row, dtype, static_cast<std::int64_t>(a),
                                                 static_cast<std::int64_t>(b)));
  }
}

TEST(EvaluateInt, UnaryAndMulAcc) {
  for (DType dtype : {i8, u8}) {
    const int first = dtype == i8 ? -128 : 0;
    for (int a = first; a < first + 256; ++a) {
      EXPECT_EQ(run_int(Op::Neg, dtype, a), static_cast<std::int64_t>(bits_from_int(-a, dtype)));
      EXPECT_EQ(run_int(Op::Trunc, dtype, a), a);
      for (int b = first; b < first + 256; b += 5)
        for (int c : {first, -1 - first, 0, 1, first + 255})
          ASSERT_EQ(run(Op::MulAcc, dtype, static_cast<Bits>(a), static_cast<Bits>(b),
                        bits_from_int(c, dtype)),
                    bits_from_int(a * b + c, dtype))
              << dtype.str() << " " << a << " " << b << " " << c;
    }
  }
}

TEST(EvaluateInt, IsTotalIn64Bits) {
  constexpr auto lowest = std::numeric_limits<std::int64_t>::min();
  constexpr auto highest = std::numeric_limits<std::int64_t>::max();
  for (DType dtype : {i64, index}) {
    EXPECT_EQ(run_int(Op::Add, dtype, highest, 1), lowest);
    EXPECT_EQ(run_int(Op::Sub, dtype, lowest, 1), highest);
    EXPECT_EQ(run_int(Op::Mul, dtype, lowest, -1), lowest);
    EXPECT_EQ(run_int(Op::Mul, dtype, highest, highest), 1);
    EXPECT_EQ(run_int(Op::Neg, dtype, lowest), lowest);
    EXPECT_EQ(run_int(Op::CDiv, dtype, lowest, -1), lowest);
    EXPECT_EQ(run_int(Op::CMod, dtype, lowest, -1), 0);
    EXPECT_EQ(run_int(Op::FloorDiv, dtype, lowest, -1), lowest);
    EXPECT_EQ(run_int(Op::FloorMod, dtype, lowest, -1), 0);
    EXPECT_EQ(run_int(Op::FloorDiv, dtype, lowest, highest), -2);
    EXPECT_EQ(run_int(Op::FloorMod, dtype, lowest, highest), highest - 1);
    EXPECT_EQ(run_int(Op::FloorMod, dtype, highest, lowest), -1);
    for (std::int64_t a : {lowest, std::int64_t{-7}, std::int64_t{0}, highest}) {
      EXPECT_EQ(run_int(Op::CDiv, dtype, a, 0), 0);
      EXPECT_EQ(run_int(Op::CMod, dtype, a, 0), a);
      EXPECT_EQ(run_int(Op::FloorDiv, dtype, a, 0), 0);
      EXPECT_EQ(run_int(Op::FloorMod, dtype, a, 0), a);
      for (std::int64_t b : {lowest, std::int64_t{-1}, std::int64_t{64}, highest}) {
        EXPECT_EQ(run_int(Op::Shl, dtype, a, b), 0);
        EXPECT_EQ(run_int(Op::Shr, dtype, a, b), a < 0 ? -1 : 0);
      }
    }
    EXPECT_EQ(run_int(Op::Shl, dtype, -1, 63), lowest);
    EXPECT_EQ(run_int(Op::Shr, dtype, lowest, 63), -1);
    EXPECT_EQ(run_int(Op::Shr, dtype, -7, 1), -4);
    EXPECT_EQ(run_int(Op::CDiv, dtype, -7, 2), -3);
    EXPECT_EQ(run_int(Op::CMod, dtype, -7, 2), -1);
    EXPECT_EQ(run_int(Op::FloorDiv, dtype, -7, 2), -4);
    EXPECT_EQ(run_int(Op::FloorMod, dtype, -7, 2), 1);
    EXPECT_EQ(run_int(Op::FloorMod, dtype, 7, -2), -1);
    EXPECT_EQ(run_int(Op::MulAcc, dtype, highest, 2, 3), 1);
  }
  constexpr Bits all = ~Bits{0};
  EXPECT_EQ(run(Op::CDiv, u64, all, all), 1u);
  EXPECT_EQ(run(Op::CDiv, u64, Bits{1} << 63, all), 0u);
  EXPECT_EQ(run(Op::FloorMod, u64, all - 1, all), all - 1);
  EXPECT_EQ(run(Op::FloorDiv, u64, all, Bits{2}), all >> 1);
  EXPECT_EQ(run(Op::Max, u64, all, Bits{1}), all);
  EXPECT_EQ(run(Op::CmpLt, u64, Bits{1}, all), 1u);
  EXPECT_EQ(run(Op::Shr, u64, all, Bits{63}), 1u);
  EXPECT_EQ(run(Op::Shr, u64, all, Bits{64}), 0u);
  EXPECT_EQ(run(Op::Shl, u64, all, all), 0u);
}

TEST(EvaluateBool, AllPairs) {
  struct {
    Op op;
    std::array<Bits, 4> results;  // of 00, 01, 10, 11
  } const cases[] = {
      {Op::Add, {0, 1, 1, 1}},   {Op::Sub, {0, 1, 1, 0}},   {Op::Mul, {0, 0, 0, 1}},
      {Op::Max, {0, 1, 1, 1}},   {Op::And, {0, 0, 0, 1}},   {Op::Or, {0, 1, 1, 1}},
      {Op::Xor, {0, 1, 1, 0}},   {Op::CmpLt, {0, 1, 0, 0}}, {Op::CmpNe, {0, 1, 1, 0}},
      {Op::CmpEq, {1, 0, 0, 1}},
  };
  for (const auto& [op, results] : cases)
    for (Bits i = 0; i < 4; ++i)
      EXPECT_EQ(run(op, bool_, i >> 1, i & 1), results[i]) << info(op).name << " " << i;
  for (Bits a : {Bits{0}, Bits{1}}) {
    EXPECT_EQ(run(Op::Neg, bool_, a), a);
    EXPECT_EQ(run(Op::Trunc, bool_, a), a);
  }
  for (Bits i = 0; i < 8; ++i)
    EXPECT_EQ(run(Op::MulAcc, bool_, i >> 2, i >> 1 & 1, i & 1), ((i >> 2 & i >> 1) | i) & 1);
}

// Exact arithmetic on small floats. Magnitudes are whole multiples of 2^-scale.
__extension__ using Wide = __int128;

class Exact {
 public:
  explicit Exact(int scale) : scale_(scale) {}

  Wide whole(double x) const { return static_cast<Wide>(std::ldexp(x, scale_)); }

  // The code for a value which is not zero.
  Bits encode(const SmallFloat& format, Wide value) const {
    const Wide magnitude = value < 0 ? -value : value;
    const Bits code = format.nearest([&](double x) { return compare(magnitude, x); });
    return finish(format, code, value < 0);
  }

  // A NaN of arithmetic is the positive one.
  static Bits finish(const SmallFloat& format, Bits code, bool negative) {
    return code | (negative && !format.is_nan(code) ? format.sign : 0);
  }

 private:
  std::partial_ordering compare(Wide magnitude, double x) const {
    const double scaled = std::ldexp(x, scale_);
    if (scaled >= 0x1p126) return std::partial_ordering::less;
    const Wide part = whole(x);
    return magnitude == part && scaled != std::trunc(scaled) ? std::partial_ordering::less
                                                             : magnitude <=> part;
  }

  int scale_;
};

std::string show(Op op, const SmallFloat& format, std::initializer_list<double> operands) {
  std::string text = fmt::format("{} {}, seed {}:", info(op).name, format.dtype.str(), seed);
  for (double x : operands) text += fmt::format(" {:a}", x);
  return text;
}

// a*b + c in whole numbers of 2^(-2 scale - 1), so that products and ties are whole too.
void check_mulacc(const SmallFloat& format, int scale, Bits a, Bits b, Bits c) {
  const double x = format.decode(a), y = format.decode(b), z = format.decode(c);
  const Exact operand(scale), result(2 * scale + 1);
  const Wide sum = operand.whole(x) * operand.whole(y) * 2 + result.whole(z);
  const Bits got = run(Op::MulAcc, format.dtype, a, b, c);
  if (sum == 0)
    ASSERT_EQ(double_from_bits(got, format.dtype), 0) << show(Op::MulAcc, format, {x, y, z});
  else
    ASSERT_EQ(got, result.encode(format, sum)) << show(Op::MulAcc, format, {x, y, z});
}

// Of finite operands.
void check_pair(const SmallFloat& format, int scale, Bits a, Bits b) {
  const double x = format.decode(a), y = format.decode(b);
  if (!std::isfinite(x) || !std::isfinite(y)) return;
  const Exact sums(scale + 1), products(2 * scale + 1);
  const bool negative = std::signbit(x) != std::signbit(y);
  struct {
    Op op;
    const Exact& exact;
    Wide value;
    double zero;  // what a value of zero is, with its sign
  } const cases[] = {
      {Op::Add, sums, sums.whole(x) + sums.whole(y), x + y},
      {Op::Sub, sums, sums.whole(x) - sums.whole(y), x - y},
      {Op::Mul, products, Exact(scale).whole(x) * Exact(scale).whole(y) * 2, x * y},
  };
  for (const auto& [op, exact, value, zero] : cases) {
    const Bits want =
        value == 0 ? (std::signbit(zero) ? format.sign : 0) : exact.encode(format, value);
    ASSERT_EQ(run(op, format.dtype, a, b), want) << show(op, format, {x, y});
  }
  if (x == 0 || y == 0) return;
  const Bits quotient =
      format.nearest([&](double tie) { return std::fabs(x) <=> tie * std::fabs(y); });
  ASSERT_EQ(run(Op::Div, format.dtype, a, b), Exact::finish(format, quotient, negative))
      << show(Op::Div, format, {x, y});
}

TEST(EvaluateSmallFloat, AllPairsOfFp8) {
  for (DType dtype : {f8e4m3, f8e5m2}) {
    const SmallFloat& format = small_float(dtype);
    const int scale = dtype == f8e4m3 ? 9 : 16;
    for (Bits a = 0; a < 256; ++a)
      for (Bits b = 0; b < 256; ++b) ASSERT_NO_FATAL_FAILURE(check_pair(format, scale, a, b));
  }
}

// Of bf16 the middle exponents only: a Wide does not span the others.
TEST(EvaluateSmallFloat, SampledPairsAndTriples) {
  struct {
    DType dtype;
    int scale;
    Bits first, end;  // of the codes drawn
  } const cases[] = {{f8e4m3, 9, 0, 0x7f},
                     {f8e5m2, 16, 0, 0x7c},
                     {f16, 24, 0, 0x7c00},
                     {bf16, 27, (127 - 20) << 7, (127 + 20) << 7}};
  std::mt19937_64 random(seed);
  for (const auto& [dtype, scale, first, end] : cases) {
    const SmallFloat& format = small_float(dtype);
    const auto draw = [&] {
      return (first + random() % (end - first)) | (random() % 2 == 0 ? format.sign : 0);
    };
    for (int i = 0; i < 30000; ++i) {
      const Bits a = draw(), b = draw(), c = draw();
      ASSERT_NO_FATAL_FAILURE(check_pair(format, scale, a, b));
      ASSERT_NO_FATAL_FAILURE(check_mulacc(format, scale, a, b, c));
      // c far below a*b, and a*b far below c: where rounding twice would show.
      ASSERT_NO_FATAL_FAILURE(check_mulacc(format, scale, a, b, first + i % 3));
      ASSERT_NO_FATAL_FAILURE(check_mulacc(format, scale, first + i % 3, first + 1, c));
    }
  }
}

TEST(EvaluateSmallFloat, EveryRootAndReciprocal) {
  for (const SmallFloat& format : small_floats())
    for (Bits a = 1; a <= format.largest(); ++a) {
      const double x = format.values[a];
      const Bits root = format.nearest([x](double tie) { return x <=> tie * tie; });
      const Bits reciprocal = format.nearest([x](double tie) { return 1.0 <=> tie * x; });
      ASSERT_EQ(run(Op::Sqrt, format.dtype, a), root) << x;
      ASSERT_EQ(run(Op::Recip, format.dtype, a), Exact::finish(format, reciprocal, false)) << x;
      ASSERT_EQ(run(Op::Recip, format.dtype, a | format.sign),
                Exact::finish(format, reciprocal, true));
      ASSERT_EQ(run(Op::Trunc, format.dtype, a | format.sign), format.encode(-std::trunc(x)));
    }
}

TEST(EvaluateSmallFloat, Bf16AtTheEndsOfItsRange) {
  const auto bits = [](double x) { return bits_from_double(x, bf16); };
  const auto run3 = [&](double a, double b, double c) {
    return run(Op::MulAcc, bf16, bits(a), bits(b), bits(c));
  };
  EXPECT_EQ(run(Op::Mul, bf16, bits(0x1p-100), bits(0x1p-33)), 1u);  // the least of all
  EXPECT_EQ(run(Op::Mul, bf16, bits(0x1p-100), bits(0x1p-34)), 0u);  // a tie, to even
  EXPECT_EQ(run(Op::Mul, bf16, bits(0x1p-100), bits(0x1.02p-34)), 1u);
  EXPECT_EQ(run(Op::Mul, bf16, bits(0x1p100), bits(-0x1p100)), 0xff80u);
  EXPECT_EQ(run3(0x1p-100, 0x1p-34, 0x1p-133), 2u);  // 1.5 of the least: a tie, to even
  EXPECT_EQ(run3(0x1p-100, 0x1p-34, 0x1p-132), 2u);  // 2.5: to even
  EXPECT_EQ(run3(0x1p-133, 0x1p-133, -0.0), 0u);
  EXPECT_EQ(run3(0x1p-133, -0x1p-133, 1), bits(1));
}

TEST(EvaluateSmallFloat, MulAccRoundsOnce) {
  // (1 + e)^2 - (1 + 2e) is e^2, and 0 if the product were rounded.
  EXPECT_EQ(run_float(Op::MulAcc, f16, 1 + 0x1p-10, 1 + 0x1p-10, -1 - 0x1p-9), 0x1p-20);
  EXPECT_EQ(run_float(Op::MulAcc, bf16, 1 + 0x1p-7, 1 + 0x1p-7, -1 - 0x1p-6), 0x1p-14);
  // 259 and 261 are ties of bf16, decided by what a double does not hold beside them.
  const auto mulacc = [](double a, double b, double c) {
    return run_float(Op::MulAcc, bf16, a, b * 0x1p90, c) * 0x1p-90;
  };
  EXPECT_EQ(mulacc(7, 37, 0), 260);
  EXPECT_EQ(mulacc(7, 37, 1), 260);
  EXPECT_EQ(mulacc(7, 37, -1), 258);
  EXPECT_EQ(mulacc(9, 29, 0), 260);
  EXPECT_EQ(mulacc(9, 29, -0x1p-133), 260);
  EXPECT_EQ(mulacc(9, 29, 0x1p-133), 262);
  EXPECT_EQ(mulacc(-9, 29, -0x1p-133), -262);
}

TEST(EvaluateFloat, NativeAsTheProcessorDoes) {
  std::mt19937_64 random(seed);
  SCOPED_TRACE(fmt::format("seed {}", seed));
  const auto check = [&](DType dtype, auto zero) {
    using T = decltype(zero);
    const auto bits = [&](T x) { return bits_from_double(x, dtype); };
    const auto draw = [&] {
      return static_cast<T>(std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())),
                                       static_cast<int>(random() % 80) - 100));
    };
    for (int i = 0; i < 5000; ++i) {
      const T a = draw(), b = draw(), c = draw();
      ASSERT_EQ(run(Op::Add, dtype, bits(a), bits(b)), bits(a + b));
      ASSERT_EQ(run(Op::Sub, dtype, bits(a), bits(b)), bits(a - b));
      ASSERT_EQ(run(Op::Mul, dtype, bits(a), bits(b)), bits(a * b));
      ASSERT_EQ(run(Op::Div, dtype, bits(a), bits(b)), bits(a / b));
      ASSERT_EQ(run(Op::Mod, dtype, bits(a), bits(b)), bits(std::fmod(a, b)));
      ASSERT_EQ(run(Op::MulAcc, dtype, bits(a), bits(b), bits(c)), bits(std::fma(a, b, c)));
      ASSERT_EQ(run(Op::Sqrt, dtype, bits(std::fabs(a))), bits(std::sqrt(std::fabs(a))));
      ASSERT_EQ(run(Op::Recip, dtype, bits(a)), bits(1 / a));
    }
  };
  check(f32, 0.0f);
  check(f64, 0.0);
  check(weak, 0.0);
  // (1 + e)^2 - (1 + 2e) is e^2 rounded once, and 0 rounded twice.
  EXPECT_EQ(run_float(Op::MulAcc, f32, 1 + 0x1p-20, 1 + 0x1p-20, -1 - 0x1p-19), 0x1p-40);
  EXPECT_EQ(run_float(Op::MulAcc, f64, 1 + 0x1p-40, 1 + 0x1p-40, -1 - 0x1p-39), 0x1p-80);
}

TEST(EvaluateFloat, SpecialValues) {
  for (DType dtype : floats) {
    SCOPED_TRACE(dtype.str());
    const bool has_inf = dtype != f8e4m3;
    const auto bits = [&](double x) { return bits_from_double(x, dtype); };
    const Bits not_a_number = bits(nan), zero = bits(0.0), minus_zero = bits(-0.0), one = bits(1);
    const Bits minus_nan = run(Op::Neg, dtype, not_a_number);
    EXPECT_TRUE(is_nan(minus_nan, dtype) && minus_nan != not_a_number);
    EXPECT_EQ(run(Op::Neg, dtype, zero), minus_zero);
    EXPECT_EQ(run(Op::Neg, dtype, bits(-3)), bits(3));

    EXPECT_EQ(run(Op::Div, dtype, one, zero), has_inf ? bits(inf) : not_a_number);
    EXPECT_EQ(run(Op::Recip, dtype, minus_zero), has_inf ? bits(-inf) : not_a_number);
    EXPECT_EQ(run(Op::Div, dtype, bits(-1), zero), has_inf ? bits(-inf) : not_a_number);
    EXPECT_EQ(run(Op::Div, dtype, zero, minus_zero), not_a_number);
    EXPECT_EQ(run(Op::Sqrt, dtype, bits(-1)), not_a_number);
    EXPECT_EQ(run(Op::Sqrt, dtype, minus_zero), minus_zero);
    EXPECT_EQ(run(Op::Trunc, dtype, bits(-0.75)), minus_zero);
    EXPECT_EQ(run(Op::Add, dtype, minus_zero, zero), zero);
    EXPECT_EQ(run(Op::Add, dtype, minus_zero, minus_zero), minus_zero);
    EXPECT_EQ(run(Op::Mul, dtype, bits(-2), zero), minus_zero);
    for (Op op : {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Mod, Op::Max}) {
      EXPECT_EQ(run(op, dtype, minus_nan, one), not_a_number) << info(op).name;
      EXPECT_EQ(run(op, dtype, one, minus_nan), not_a_number) << info(op).name;
    }

    EXPECT_EQ(run(Op::Max, dtype, zero, minus_zero), zero);
    EXPECT_EQ(run(Op::Max, dtype, minus_zero, zero), zero);
    EXPECT_EQ(run(Op::Max, dtype, minus_zero, minus_zero), minus_zero);
    EXPECT_EQ(run(Op::Max, dtype, bits(-3), bits(-2)), bits(-2));
    EXPECT_EQ(run(Op::Max, dtype, lowest_bits(dtype), lowest_bits(dtype)), lowest_bits(dtype));

    EXPECT_EQ(run(Op::Mod, dtype, bits(7), bits(-4)), bits(3));
    EXPECT_EQ(run(Op::Mod, dtype, bits(-7), bits(4)), bits(-3));
    EXPECT_EQ(run(Op::Mod, dtype, bits(-8), bits(4)), minus_zero);
    EXPECT_EQ(run(Op::Mod, dtype, one, zero), not_a_number);

    EXPECT_EQ(run(Op::CmpEq, dtype, zero, minus_zero), 1u);
    EXPECT_EQ(run(Op::CmpNe, dtype, zero, minus_zero), 0u);
    EXPECT_EQ(run(Op::CmpLt, dtype, minus_zero, zero), 0u);
    EXPECT_EQ(run(Op::CmpEq, dtype, not_a_number, not_a_number), 0u);
    EXPECT_EQ(run(Op::CmpNe, dtype, not_a_number, not_a_number), 1u);
    EXPECT_EQ(run(Op::CmpLt, dtype, lowest_bits(dtype), not_a_number), 0u);
    EXPECT_EQ(run(Op::CmpLt, dtype, lowest_bits(dtype), highest_bits(dtype)), 1u);
    if (!has_inf) continue;
    EXPECT_EQ(run(Op::Sub, dtype, bits(inf), bits(inf)), not_a_number);
    EXPECT_EQ(run(Op::Add, dtype, bits(inf), one), bits(inf));
    EXPECT_EQ(run(Op::Mul, dtype, bits(inf), zero), not_a_number);
    EXPECT_EQ(run(Op::MulAcc, dtype, bits(inf), one, bits(-inf)), not_a_number);
    EXPECT_EQ(run(Op::Mod, dtype, bits(inf), one), not_a_number);
    EXPECT_EQ(run(Op::Mod, dtype, bits(-3), bits(inf)), bits(-3));
    EXPECT_EQ(run(Op::Trunc, dtype, bits(-inf)), bits(-inf));
  }
}

// By powers that are integers, far beyond those of the dtype.
TEST(EvaluateFloat, ScalesByPowersOfTwo) {
  std::mt19937_64 random(seed);
  const auto scaled = [](DType dtype, Bits value, std::int64_t power) {
    return run(Op::Ldexp, dtype, value, static_cast<Bits>(static_cast<std::uint32_t>(power)));
  };
  for (int i = 0; i < 100000; ++i) {
    const auto word = static_cast<std::uint32_t>(random());
    const int power = static_cast<int>(random() % 700) - 350;
    const auto value = std::bit_cast<float>(word);
    if (std::isnan(value)) continue;
    ASSERT_EQ(scaled(f32, word, power), std::bit_cast<std::uint32_t>(std::scalbn(value, power)))
        << value << " by " << power;
  }
  const Bits one = bits_from_double(1, f16), odd = bits_from_double(0x1.008p-13, f16);
  EXPECT_EQ(scaled(f16, one, -24), bits_from_double(0x1p-24, f16));
  EXPECT_EQ(scaled(f16, one, -25), bits_from_double(0, f16)) << "half of the least, to even";
  EXPECT_EQ(scaled(f16, odd, -3), bits_from_double(0x1p-16, f16));
  for (const DType dtype : {f16, f32, f64}) {
    EXPECT_EQ(double_from_bits(scaled(dtype, bits_from_double(3, dtype), INT32_MAX), dtype), inf);
    EXPECT_EQ(scaled(dtype, bits_from_double(-3, dtype), INT32_MIN), bits_from_double(-0.0, dtype));
    EXPECT_EQ(double_from_bits(scaled(dtype, bits_from_double(-inf, dtype), -4000), dtype), -inf);
    EXPECT_TRUE(is_nan(scaled(dtype, bits_from_double(nan, dtype), 1), dtype));
  }
}

TEST(EvaluateFloat, SmallFloatsOverflow) {
  EXPECT_EQ(run(Op::Add, f8e4m3, 0x7eu, 0x7eu), 0x7fu);  // 448 + 448 is NaN
  EXPECT_EQ(run(Op::Mul, f8e4m3, 0xfeu, 0x7eu), 0x7fu);
  EXPECT_EQ(run_float(Op::Add, f8e4m3, 448, 16), 448);
  EXPECT_EQ(run_float(Op::MulAcc, f8e5m2, 57344, 57344, -57344), inf);
  EXPECT_EQ(run_float(Op::Add, f8e5m2, -57344, -57344), -inf);
  EXPECT_EQ(run_float(Op::Add, f16, 65504, 65504), inf);
}

TEST(EvaluateAll, WhereSelectsBits) {
  for (DType dtype : all_numbers())
    for (Bits x : edges(dtype))
      for (Bits y : edges(dtype)) {
        ASSERT_EQ(run(Op::Where, dtype, Bits{1}, x, y), x) << dtype.str();
        ASSERT_EQ(run(Op::Where, dtype, Bits{0}, x, y), y) << dtype.str();
      }
}

TEST(EvaluateAll, HasAValueExactlyWhereTheTableAllowsIt) {
  for (DType dtype : all_numbers())
    for (Op op : valued_ops()) {
      const std::vector<Bits> operands(info(op).arity.least, bits_from_int(1, dtype));
      EXPECT_EQ(evaluate(op, dtype, operands).has_value(), allows(op, dtype))
          << info(op).name << " " << dtype.str();
      EXPECT_EQ(evaluate(op, dtype.vec(4), operands), evaluate(op, dtype, operands));
    }
  const std::array<Bits, 2> two{};
  const std::array<Bits, 1> one{};
  for (DType dtype : floats) {
    for (Op op : {Op::Exp2, Op::Log2, Op::Sin, Op::Cos, Op::Cast, Op::Bitcast})
      EXPECT_EQ(evaluate(op, dtype, one), std::nullopt) << info(op).name;
    EXPECT_EQ(evaluate(Op::Pow, dtype, two), std::nullopt);
  }
  EXPECT_EQ(evaluate(Op::Load, f32, one), std::nullopt);
  EXPECT_EQ(evaluate(Op::Neg, void_, one), std::nullopt);
  EXPECT_EQ(evaluate(Op::Add, DType::fragment("tile"), two), std::nullopt);
  EXPECT_THROW(evaluate(Op::Add, f32, one), Error);
  EXPECT_THROW(evaluate(Op::Neg, f32, two), Error);
}

TEST(EvaluateAll, ResultsAreCanonical) {
  for (DType dtype : all_numbers())
    for (Op op : valued_ops()) {
      if (!allows(op, dtype) || op == Op::Where) continue;
      const DType result = has(op, OpFlag::Compare) ? bool_ : dtype;
      for (Bits a : edges(dtype))
        for (Bits b : edges(dtype)) {
          const std::array<Bits, 3> operands{a, b, a};
          const auto bits = evaluate(op, dtype, std::span(operands).first(info(op).arity.least));
          ASSERT_EQ(reinterpret(bits.value(), result, result), *bits)
              << info(op).name << " " << dtype.str() << " " << a << " " << b;
        }
    }
}

// What the flags and the identities of the table promise.
TEST(EvaluateAll, FlagsAndIdentitiesHold) {
  for (DType dtype : all_numbers())
    for (Op op : valued_ops()) {
      if (!allows(op, dtype)) continue;
      const OpInfo& row = info(op);
      SCOPED_TRACE(fmt::format("{} {}", row.name, dtype.str()));
      for (Bits a : edges(dtype)) {
        if (is_nan(a, dtype)) continue;
        if (row.identity != Identity::None) {
          const Bits e = identity_bits(row.identity, dtype), result = run(op, dtype, a, e);
          const bool zeros = dtype.is_float() && run(Op::CmpEq, dtype, a, bits_from_int(0, dtype));
          ASSERT_TRUE(zeros || result == a) << a;
          ASSERT_EQ(run(Op::CmpEq, dtype, result, a), 1u);
        }
        ASSERT_TRUE(!has(op, OpFlag::Idempotent) || run(op, dtype, a, a) == a);
        for (Bits b : edges(dtype)) {
          if (!has(op, OpFlag::Commutes)) continue;
          ASSERT_EQ(run(op, dtype, a, b), run(op, dtype, b, a)) << a << " " << b;
          if (!has(op, OpFlag::Associates) || dtype.is_float()) continue;
          const Bits c = b ^ a;
          ASSERT_EQ(run(op, dtype, run(op, dtype, a, b), c),
                    run(op, dtype, a, run(op, dtype, b, c)));
        }
      }
    }
}

TEST(Identity, OfEveryKind) {
  for (DType dtype : all_numbers()) {
    EXPECT_EQ(identity_bits(Identity::Zero, dtype), 0u);
    EXPECT_EQ(int_from_bits(identity_bits(Identity::One, dtype), dtype), 1);
    EXPECT_EQ(identity_bits(Identity::Lowest, dtype), lowest_bits(dtype));
    EXPECT_THROW(identity_bits(Identity::None, dtype), Error);
  }
  EXPECT_EQ(identity_bits(Identity::AllOnes, bool_), 1u);
  EXPECT_EQ(identity_bits(Identity::AllOnes, u16), 0xffffu);
  EXPECT_EQ(identity_bits(Identity::AllOnes, i16), ~Bits{0});
  EXPECT_THROW(identity_bits(Identity::AllOnes, f32), Error);
}

// Known answers of Random123, first word low.
TEST(Threefry, KnownAnswers) {
  struct {
    Bits counter, key, result;
  } const cases[] = {
      {0, 0, 0x99ba4efe'6b200159},
      {~Bits{0}, ~Bits{0}, 0xbb002be7'1cb996fc},
      {0x85a308d3'243f6a88, 0x03707344'13198a2e, 0x483df7a0'c4923a9c},
  };
  for (const auto& [counter, key, result] : cases)
    EXPECT_EQ(run(Op::Threefry, u64, counter, key), result);
  const std::array<Bits, 2> operands{};
  for (DType dtype : all_numbers())
    EXPECT_EQ(evaluate(Op::Threefry, dtype, operands).has_value(), dtype == u64) << dtype.str();
}

}  // namespace
}  // namespace weft
