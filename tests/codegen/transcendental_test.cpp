// EXP2, LOG2, SIN and POW against MPFR.

#include <cmath>
#include <numbers>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <weft/dev/rules/symbolic.h>
#include <weft/settings.h>
#include <weft/weft.h>

#include "../support/decomposed.h"
#include "../support/ulp.h"
#include "../support/values.h"

namespace weft {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double most_ulp = 2;

constexpr OpSet transcendental{Op::Exp2, Op::Log2, Op::Sin, Op::Cos, Op::Pow};

// The true value; the precision of the result is enough to tell 2 ulp from 2.0000001.
void true_value(Op op, mpfr_ptr out, mpfr_ptr x, mpfr_ptr y) {
  switch (op) {
    case Op::Exp2: mpfr_exp2(out, x, MPFR_RNDN); break;
    case Op::Log2: mpfr_log2(out, x, MPFR_RNDN); break;
    case Op::Sin: mpfr_sin(out, x, MPFR_RNDN); break;
    case Op::Cos: mpfr_cos(out, x, MPFR_RNDN); break;
    default: mpfr_pow(out, x, y, MPFR_RNDN); break;
  }
}

// Compares one op in one dtype with the true value, and remembers the greatest error.
class Accuracy {
 public:
  Accuracy(Op op, DType dtype, const Target& target = {})
      : op_(op),
        dtype_(dtype),
        decomposed_(op, std::vector<DType>(op == Op::Pow ? 2 : 1, dtype), dtypes::void_,
                    decompositions(), target),
        program_(decomposed_.program()) {
    EXPECT_EQ(first_op_left(decomposed_.after, transcendental), "");
  }

  double value(double x, double y = 0) {
    return double_from_bits(result(bits_from_double(x, dtype_), bits_from_double(y, dtype_)),
                            dtype_);
  }

  void check(Bits x, Bits y = 0) {
    const Bits got = result(x, y);
    const double a = double_from_bits(x, dtype_), b = double_from_bits(y, dtype_);
    mpfr_set_d(x_.get(), a, MPFR_RNDN);
    mpfr_set_d(y_.get(), b, MPFR_RNDN);
    true_value(op_, exact_.get(), x_.get(), y_.get());
    const double value = double_from_bits(got, dtype_);
    double error = 0;
    if (mpfr_nan_p(exact_.get()) != 0)
      error = std::isnan(value) ? 0 : inf;
    else if (mpfr_inf_p(exact_.get()) != 0)
      error = value == mpfr_get_d(exact_.get(), MPFR_RNDN) ? 0 : inf;
    else
      error = ulp_error(got, dtype_, exact_.get());
    ++count_;
    if (error > worst_) {
      worst_ = error;
      where_ = fmt::format("{:a}, {:a} gives {:a}", a, b, value);
    }
  }
  void check_double(double x, double y = 0) {
    check(bits_from_double(x, dtype_), bits_from_double(y, dtype_));
  }

  ~Accuracy() {
    EXPECT_LE(worst_, most_ulp) << where_;
    fmt::print("{} {}: {:.3f} ulp at {} ({} values, {} steps)\n", info(op_).name, dtype_.str(),
               worst_, where_, count_, program_.size());
  }

 private:
  Bits result(Bits x, Bits y) { return op_ == Op::Pow ? program_(x, y) : program_(x); }

  Op op_;
  DType dtype_;
  Decomposed decomposed_;
  FlatProgram program_;
  Real x_{64}, y_{64}, exact_{128};
  double worst_ = -1;
  std::string where_;
  int count_ = 0;
};

void check_patterns(Accuracy& accuracy) {
  const std::uint64_t step = is_full() ? 257 : 16411;
  for (std::uint64_t bits = 0; bits <= 0xffffffff; bits += step) accuracy.check(bits);
}

// Every sign and exponent, with random mantissas.
Bits stratified(std::mt19937_64& random, int i, DType dtype) {
  if (dtype.kind() == Kind::F32) return (random() & 0x807fffff) | static_cast<Bits>(i % 255) << 23;
  return (random() & 0x800fffffffffffff) | static_cast<Bits>(i % 2047) << 52;
}

int sample_count() { return is_full() ? 10'000'000 : 100'000; }

// Half of the samples where results are neither trivial nor out of range.
void check_samples(Accuracy& accuracy, double range) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-60, std::log2(range));
  for (int i = 0; i < sample_count(); ++i) {
    if (i % 2 == 0) {
      accuracy.check(stratified(random, i / 2, dtypes::f64));
      continue;
    }
    const double x = std::exp2(exponent(random)) * (1 + std::ldexp(random(), -64));
    accuracy.check_double(random() % 2 != 0 ? x : -x);
  }
}

// Around each the numbers next to it.
std::vector<double> with_neighbours(const std::vector<double>& values, DType dtype) {
  std::vector<double> result;
  const auto next = [&](double x, double to) {
    return dtype.kind() == Kind::F32 ? std::nextafter(static_cast<float>(x), static_cast<float>(to))
                                     : std::nextafter(x, to);
  };
  for (const double value : values)
    for (const double x : {value, -value})
      for (const double y : {next(x, -inf), x, next(x, inf)}) result.push_back(y);
  return result;
}

std::vector<double> edges_of(DType dtype) {
  const bool is_f32 = dtype.kind() == Kind::F32;
  const double least = is_f32 ? 0x1p-149 : 0x1p-1074, normal = is_f32 ? 0x1p-126 : 0x1p-1022;
  const double most = is_f32 ? 0x1.fffffep127 : 0x1.fffffffffffffp1023;
  std::vector<double> values{0, inf, least, normal, most, std::numbers::sqrt2 / 2, 0.75, 1.5};
  for (int i = 1; i < 40; ++i) values.push_back(i), values.push_back(i + 0.5);
  for (int e = -70; e <= 70; ++e) values.push_back(std::ldexp(1, e));
  for (const double x : {126, 127, 128, 149, 150, 151, 1022, 1023, 1024, 1074, 1075, 1076})
    values.push_back(x);
  return with_neighbours(values, dtype);
}

void check_edges(Accuracy& accuracy, DType dtype) {
  for (const double x : edges_of(dtype)) accuracy.check_double(x);
  EXPECT_TRUE(std::isnan(accuracy.value(nan)));
}

void check_exp2(DType dtype, const Target& target = {}) {
  Accuracy exp2(Op::Exp2, dtype, target);
  check_edges(exp2, dtype);
  if (dtype == dtypes::f32)
    check_patterns(exp2);
  else
    check_samples(exp2, 1100);
  EXPECT_EQ(exp2.value(-inf), 0);
  EXPECT_EQ(exp2.value(inf), inf);
  for (int n = dtype == dtypes::f32 ? -149 : -1074; n < 128; ++n)
    EXPECT_EQ(exp2.value(n), std::ldexp(1, n));
}

class Transcendental : public testing::TestWithParam<DType> {};

TEST_P(Transcendental, Exp2) { check_exp2(GetParam()); }

TEST_P(Transcendental, Log2) {
  Accuracy log2(Op::Log2, GetParam());
  check_edges(log2, GetParam());
  if (GetParam() == dtypes::f32)
    check_patterns(log2);
  else
    check_samples(log2, 1e300);
  std::mt19937_64 random(2);
  for (int i = 0; i < sample_count() / 10; ++i)  // next to 1, where the result is small
    log2.check_double(1 + std::ldexp(static_cast<double>(random()) - 0x1p63, -65 - i % 40));
  EXPECT_EQ(log2.value(0), -inf);
  EXPECT_EQ(log2.value(-0.0), -inf);
  EXPECT_TRUE(std::isnan(log2.value(-1)));
  EXPECT_TRUE(std::isnan(log2.value(-inf)));
  EXPECT_EQ(log2.value(inf), inf);
  for (int n = GetParam() == dtypes::f32 ? -149 : -1074; n < 128; ++n)
    EXPECT_EQ(log2.value(std::ldexp(1, n)), n);
}

// The numbers next to multiples of pi/2, up to the largest.
void check_near_zeros(Accuracy& sin, DType dtype) {
  std::mt19937_64 random(3);
  Real multiple(1300), half_pi(1300);
  mpfr_const_pi(half_pi.get(), MPFR_RNDN);
  mpfr_div_2ui(half_pi.get(), half_pi.get(), 1, MPFR_RNDN);
  const int top = dtype == dtypes::f32 ? 127 : 1023;
  for (int i = 0; i < (is_full() ? 200'000 : 5'000); ++i) {
    mpfr_set_ui(multiple.get(), random() | 1, MPFR_RNDN);
    mpfr_mul_2si(multiple.get(), multiple.get(), i % top - 64, MPFR_RNDN);
    mpfr_rint(multiple.get(), multiple.get(), MPFR_RNDU);
    mpfr_mul(multiple.get(), multiple.get(), half_pi.get(), MPFR_RNDN);
    const double x = dtype == dtypes::f32
                         ? static_cast<double>(mpfr_get_flt(multiple.get(), MPFR_RNDN))
                         : mpfr_get_d(multiple.get(), MPFR_RNDN);
    if (std::isfinite(x)) sin.check_double(x);
  }
}

// Of any angle, near the zeros of both, and where there is none.
void check_angles(Accuracy& function, DType dtype) {
  check_edges(function, dtype);
  check_near_zeros(function, dtype);
  if (dtype == dtypes::f32)
    check_patterns(function);
  else
    check_samples(function, 1e6);
  // Of all numbers of the dtype those that are nearest to a multiple of pi/2.
  function.check_double(std::ldexp(16367173, 72));
  if (dtype == dtypes::f64) function.check_double(std::ldexp(6381956970095103, 797));
  EXPECT_TRUE(std::isnan(function.value(inf)));
  EXPECT_TRUE(std::isnan(function.value(-inf)));
}

TEST_P(Transcendental, Sin) {
  Accuracy sin(Op::Sin, GetParam());
  check_angles(sin, GetParam());
  EXPECT_TRUE(std::signbit(sin.value(-0.0)) && sin.value(-0.0) == 0);
  EXPECT_FALSE(std::signbit(sin.value(0)));
}

TEST_P(Transcendental, Cos) {
  Accuracy cos(Op::Cos, GetParam());
  check_angles(cos, GetParam());
  EXPECT_EQ(cos.value(0), 1);
  EXPECT_EQ(cos.value(-0.0), 1);
}

// x of any exponent, y such that the result is within range; and any y.
void check_power_samples(Accuracy& pow, DType dtype) {
  std::mt19937_64 random(4);
  const double range = dtype == dtypes::f32 ? 155 : 1080;
  std::uniform_real_distribution<double> target(-range, range);
  for (int i = 0; i < sample_count(); ++i) {
    const Bits x = stratified(random, i / 2, dtype);
    const double log = std::log2(std::abs(double_from_bits(x, dtype)));
    const Bits y = i % 2 == 0 ? stratified(random, static_cast<int>(random() % 2047), dtype)
                              : bits_from_double(target(random) / log, dtype);
    pow.check(i % 2 == 0 ? x : x & ~(Bits{1} << (dtype.bits() - 1)), y);
    if (i % 4 != 0) continue;  // a base next to 1, with a large exponent
    const double near = 1 + std::ldexp(1 + std::ldexp(random(), -64), -1 - i % (dtype.bits() - 10));
    const Bits base = bits_from_double(near, dtype);
    const double own = std::log2(double_from_bits(base, dtype));
    if (own != 0) pow.check(base, bits_from_double(target(random) / own, dtype));
  }
  for (int i = 0; i < 2000; ++i) {  // integer powers, of negative numbers too
    const Bits x = stratified(
        random, static_cast<int>(random() % 20 + (dtype == dtypes::f32 ? 117 : 1013)), dtype);
    pow.check(x, bits_from_double(i % 100 - 50, dtype));
  }
}

void check_pow(DType dtype, const Target& target = {}) {
  Accuracy pow(Op::Pow, dtype, target);
  std::vector<double> values =
      with_neighbours({0, inf, 0.5, 1, 2, 3, 4, 10, 0x1p23, 0x1p24, 0x1p31, 0x1p52, 0x1p53, 0x1p63,
                       0x1p-30, dtype == dtypes::f32 ? 0x1p-126 : 0x1p-1022,
                       dtype == dtypes::f32 ? 0x1.fffffep127 : 0x1.fffffffffffffp1023},
                      dtype);
  for (const double x : values)
    for (const double y : values) pow.check_double(x, y);
  check_power_samples(pow, dtype);
}

TEST_P(Transcendental, Pow) { check_pow(GetParam()); }

// By square roots, with the special cases of IEEE 754 (9.2.1).
TEST_P(Transcendental, PowByRoots) {
  const DType dtype = GetParam();
  for (const double y : {0.25, 0.5, 1.5, -0.5}) {
    const Leaf leaf(dtype);
    const UOp power = make(Op::Pow, {leaf.value, literal_like(y, leaf.value)});
    const UOp after = decomposed(power);
    EXPECT_EQ(first_op_left(after, {Op::Shl}), "") << y;
    FlatProgram program(after, {leaf.bits});
    const auto value = [&](double x) {
      return double_from_bits(program(bits_from_double(x, dtype)), dtype);
    };
    Real base(64), exact(128), exponent(64);
    mpfr_set_d(exponent.get(), y, MPFR_RNDN);
    std::mt19937_64 random(3);
    for (int i = 0; i < 20000; ++i) {
      const Bits x = stratified(random, i, dtype) & ~(Bits{1} << (dtype.bits() - 1));
      mpfr_set_d(base.get(), double_from_bits(x, dtype), MPFR_RNDN);
      mpfr_pow(exact.get(), base.get(), exponent.get(), MPFR_RNDN);
      const double got = double_from_bits(program(x), dtype);
      ASSERT_LE(ulp_error(bits_from_double(got, dtype), dtype, exact.get()), most_ulp)
          << double_from_bits(x, dtype) << " to " << y;
    }
    const double least = y < 0 ? inf : 0, most = y < 0 ? 0 : inf;
    for (const double x : {0.0, -0.0}) {
      EXPECT_EQ(value(x), least) << y;
      EXPECT_FALSE(std::signbit(value(x))) << y;
    }
    EXPECT_EQ(value(inf), most);
    EXPECT_EQ(value(-inf), most) << y;
    EXPECT_TRUE(std::isnan(value(-2.0)));
    EXPECT_TRUE(std::isnan(value(nan)));
  }
}

// exp is EXP2 of a multiple of x, whose factor is rounded.
TEST_P(Transcendental, ExpIsAsNear) {
  const DType dtype = GetParam();
  if (find_device("CPU").target().vector_bytes == 0) GTEST_SKIP() << "built without LLVM";
  const Context device{{"DEV", "CPU"}};
  const double least = dtype == dtypes::f32 ? -104 : -746, most = dtype == dtypes::f32 ? 89 : 710;
  std::vector<double> points;
  for (int i = 0; i <= 40000; ++i) points.push_back(least + (most - least) * i / 40000);
  for (const double factor : {1.0, -1.0, 0.5, 0.125}) {
    const Tensor x = Tensor(points).cast(dtype).realize();
    const std::vector<double> at = x.to_vector<double>(),
                              found = (x * factor).exp().cast(dtypes::f64).to_vector<double>();
    Real exact;
    for (std::size_t i = 0; i < at.size(); ++i) {
      mpfr_set_d(exact.get(), at[i] * factor, MPFR_RNDN);
      mpfr_exp(exact.get(), exact.get(), MPFR_RNDN);
      const double error = ulp_error(bits_from_double(found[i], dtype), dtype, exact.get());
      ASSERT_LE(error, most_ulp) << "exp(" << at[i] * factor << ") = " << found[i];
    }
  }
}

// Where a target scales by powers of two.
TEST(ScaledTranscendental, IsAsNear) {
  const Target target{.ops = {Op::Ldexp}};
  const Decomposed scaled(Op::Exp2, {dtypes::f32}, dtypes::void_, decompositions(), target);
  const Decomposed power(Op::Pow, {dtypes::f32, dtypes::f32}, dtypes::void_, decompositions(),
                         target);
  EXPECT_EQ(first_op_left(scaled.after, {Op::Ldexp}), "ldexp f32");
  EXPECT_EQ(first_op_left(power.after, {Op::Ldexp}), "ldexp f32");
  check_exp2(dtypes::f32, target);
  check_pow(dtypes::f32, target);
}

// The table of special cases of IEEE 754 (9.2.1), zeros by their sign.
TEST_P(Transcendental, PowSpecialCases) {
  struct Case {
    double x, y, result;
  };
  const Case cases[] = {
      {nan, 0, 1},       {nan, -0.0, 1},   {inf, 0, 1},         {0, -0.0, 1},     {1, nan, 1},
      {1, inf, 1},       {1, -inf, 1},     {-1, inf, 1},        {-1, -inf, 1},    {0, -3, inf},
      {-0.0, -3, -inf},  {0, -2, inf},     {-0.0, -2, inf},     {0, -inf, inf},   {-0.0, -inf, inf},
      {-0.0, -2.5, inf}, {0, 3, 0},        {-0.0, 3, -0.0},     {-0.0, 2, 0},     {-0.0, 2.5, 0},
      {0, inf, 0},       {-0.0, inf, 0},   {0.5, inf, 0},       {0.5, -inf, inf}, {-0.5, inf, 0},
      {2, inf, inf},     {2, -inf, 0},     {-2, -inf, 0},       {inf, 0.5, inf},  {inf, -0.5, 0},
      {-inf, 3, -inf},   {-inf, 2, inf},   {-inf, 0.5, inf},    {-inf, -3, -0.0}, {-inf, -2, 0},
      {-inf, -0.5, 0},   {-inf, inf, inf}, {-2, 0.5, nan},      {-2, -1.5, nan},  {nan, 1, nan},
      {2, nan, nan},     {0, nan, nan},    {-1, nan, nan},      {nan, inf, nan},  {-2, 3, -8},
      {-2, 0x1p30, inf}, {-1, 0x1p60, 1},  {-1, 0xffffffp0, -1}};
  FlatProgram pow = Decomposed(Op::Pow, {GetParam(), GetParam()}).program();
  for (const auto& [x, y, result] : cases) {
    const double got = double_from_bits(
        pow(bits_from_double(x, GetParam()), bits_from_double(y, GetParam())), GetParam());
    const bool same = std::isnan(result)
                          ? std::isnan(got)
                          : got == result && std::signbit(got) == std::signbit(result);
    EXPECT_TRUE(same) << "pow(" << x << ", " << y << ") = " << got << ", not " << result;
  }
}

// The same bits with the algebra of symbolic() in the same fixed point, and in every lane.
TEST_P(Transcendental, KeepsValuesUnderSymbolic) {
  const RuleSet joined("joined", {&symbolic(), &decompositions()});
  for (const Op op : {Op::Exp2, Op::Log2, Op::Sin, Op::Cos, Op::Pow}) {
    const std::vector<DType> dtypes(op == Op::Pow ? 2 : 1, GetParam().vec(4));
    const Decomposed alone(op, dtypes), both(op, dtypes, dtypes::void_, joined);
    EXPECT_EQ(alone.after->dtype(), GetParam().vec(4));
    EXPECT_EQ(first_op_left(both.after, transcendental), "");
    FlatProgram a = alone.program(), b = both.program();
    std::mt19937_64 random(5);
    for (int i = 0; i < 4000; ++i) {
      const Bits x = stratified(random, i, GetParam()), y = stratified(random, i * 7, GetParam());
      const bool is_pow = op == Op::Pow;
      ASSERT_TRUE(same_value(is_pow ? a(x, y) : a(x), is_pow ? b(x, y) : b(x), GetParam()))
          << info(op).name << " of " << double_from_bits(x, GetParam());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, Transcendental, testing::Values(dtypes::f32, dtypes::f64),
                         [](const auto& info) { return info.param.str(); });

// In the narrow dtypes all operands are tried: what f32 gives, rounded.
TEST(NarrowTranscendental, IsRoundedOnce) {
  for (const DType dtype : {dtypes::f16, dtypes::bf16, dtypes::f8e4m3, dtypes::f8e5m2})
    for (const Op op : {Op::Exp2, Op::Log2, Op::Sin, Op::Cos}) {
      FlatProgram run = Decomposed(op, {dtype}).program();
      Real x, exact;
      for (Bits bits = 0; bits < Bits{1} << dtype.bits(); ++bits) {
        const double a = double_from_bits(bits, dtype);
        mpfr_set_d(x.get(), a, MPFR_RNDN);
        true_value(op, exact.get(), x.get(), x.get());
        const double rounded = mpfr_get_d(exact.get(), MPFR_RNDN);
        const Bits expected = bits_from_double(rounded, dtype), got = run(bits);
        // f32 is off by an ulp, which may lie on the other side of a tie.
        const bool near = got == expected || got == expected + 1 || got + 1 == expected;
        ASSERT_TRUE(same_value(got, expected, dtype) || (dtype.bits() == 16 && near))
            << info(op).name << " " << dtype.str() << " of " << a << ": "
            << double_from_bits(got, dtype) << ", not " << double_from_bits(expected, dtype);
      }
    }
}

TEST(NarrowTranscendental, Fp8Overflows) {
  FlatProgram exp2 = Decomposed(Op::Exp2, {dtypes::f8e4m3}).program();
  FlatProgram pow = Decomposed(Op::Pow, {dtypes::f8e5m2, dtypes::f8e5m2}).program();
  const auto e4 = [](double x) { return bits_from_double(x, dtypes::f8e4m3); };
  const auto e5 = [](double x) { return bits_from_double(x, dtypes::f8e5m2); };
  EXPECT_EQ(exp2(e4(448)), e4(nan));
  EXPECT_EQ(exp2(e4(9)), e4(nan));
  EXPECT_EQ(exp2(e4(8)), e4(256));
  EXPECT_EQ(pow(e5(-57344), e5(57344)), e5(inf));
  EXPECT_EQ(pow(e5(-57344), e5(3)), e5(-inf));
  EXPECT_EQ(pow(e5(inf), e5(2)), e5(inf));
  EXPECT_EQ(pow(e5(0), e5(-2)), e5(inf));
}

}  // namespace
}  // namespace weft
