// f16, bf16 and fp8 in terms of f32 and integers, against evaluate() and convert().

#include <cmath>
#include <limits>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <weft/dev/rules/symbolic.h>

#include "../support/decomposed.h"
#include "../support/values.h"

namespace weft {
namespace {

constexpr DType narrow_dtypes[] = {dtypes::f16, dtypes::bf16, dtypes::f8e4m3, dtypes::f8e5m2};
constexpr DType wide_dtypes[] = {dtypes::f32, dtypes::f64, dtypes::bool_, dtypes::i8,
                                 dtypes::u8,  dtypes::i16, dtypes::u16,   dtypes::i32,
                                 dtypes::u32, dtypes::i64, dtypes::u64};

Bits count_of(DType dtype) { return Bits{1} << dtype.bits(); }

class NarrowCasts : public testing::TestWithParam<DType> {};

// Nothing but BITCAST touches the narrow dtype.
void expect_only_bitcasts(const UOp& root, DType narrow) {
  for (const Node* node : toposort(root.node())) {
    const bool uses = node->dtype().scalar() == narrow ||
                      (node->size() > 0 && node->src(0)->dtype().scalar() == narrow);
    EXPECT_TRUE(!uses || node->op() == Op::Bitcast || node->op() == Op::Splat)
        << info(node->op()).name;
  }
}

TEST_P(NarrowCasts, ToEveryDtype) {
  const DType from = GetParam();
  std::vector<DType> targets(std::begin(wide_dtypes), std::end(wide_dtypes));
  for (const DType dtype : narrow_dtypes)
    if (dtype != from) targets.push_back(dtype);
  for (const DType to : targets) {
    const Decomposed cast(Op::Cast, {from}, to, narrow_cast_rules());
    expect_only_bitcasts(cast.after, from);
    FlatProgram run = cast.program();
    for (Bits bits = 0; bits < count_of(from); ++bits)
      ASSERT_EQ(run(bits), convert(bits, from, to)) << to.str() << " of " << bits;
  }
}

// Every finite value, the ties between neighbours, and what is next to those.
template <class Check>
void around_codes(DType narrow, DType wide, Check check) {
  for (Bits code = 0; code + 1 < count_of(narrow) / 2; ++code) {
    const double a = double_from_bits(code, narrow), b = double_from_bits(code + 1, narrow);
    if (!std::isfinite(a) || !std::isfinite(b)) continue;
    for (const double x : {a, a / 2 + b / 2}) {
      const Bits middle = bits_from_double(x, wide), sign = Bits{1} << (wide.bits() - 1);
      for (const Bits bits : {middle - 1, middle, middle + 1}) {
        check(bits);
        check(bits ^ sign);
      }
    }
  }
}

TEST_P(NarrowCasts, FromWideFloats) {
  std::mt19937_64 random(1);
  for (const DType from : {dtypes::f32, dtypes::f64}) {
    const Decomposed cast(Op::Cast, {from}, GetParam(), narrow_cast_rules());
    expect_only_bitcasts(cast.after, GetParam());
    FlatProgram run = cast.program();
    const auto check = [&](Bits bits) {
      bits = canonical_bits(bits, from);
      ASSERT_EQ(run(bits), convert(bits, from, GetParam())) << from.str() << " bits " << bits;
    };
    around_codes(GetParam(), from, check);
    const int mantissa = from == dtypes::f32 ? 23 : 52;
    for (const Bits sign : {Bits{0}, Bits{1} << (from.bits() - 1)})
      for (Bits exponent = 0; exponent < Bits{1} << (from.bits() - 1 - mantissa); ++exponent)
        for (int i = 0; i < (is_full() ? 2'000 : 20); ++i) {
          const Bits rest = i < 4 ? Bits{0} - static_cast<Bits>(i / 2) + static_cast<Bits>(i % 2)
                                  : random() << (random() % 64);
          check(sign | exponent << mantissa | (rest & ((Bits{1} << mantissa) - 1)));
        }
  }
}

TEST_P(NarrowCasts, FromIntegers) {
  std::mt19937_64 random(2);
  for (const DType from : wide_dtypes) {
    if (from.is_float()) continue;
    const Decomposed cast(Op::Cast, {from}, GetParam(), narrow_cast_rules());
    expect_only_bitcasts(cast.after, GetParam());
    FlatProgram run = cast.program();
    const auto check = [&](Bits value) {
      const Bits bits = canonical_bits(value, from);
      ASSERT_EQ(run(bits), convert(bits, from, GetParam()))
          << from.str() << " " << static_cast<std::int64_t>(bits);
    };
    for (Bits value = 0; value < 66'000; value += value < 2'100 ? 1 : 13)
      check(value), check(0 - value);
    // Ties: 8 to 12 leading bits, a one, and zeros; and what is next to them.
    for (int i = 0; i < (is_full() ? 200'000 : 4'000); ++i) {
      const int shift = static_cast<int>(random() % 56);
      const Bits tie = ((random() % 4096) * 2 + 1) << shift;
      for (const Bits value : {tie - 1, tie, tie + 1, random() >> shift})
        check(value), check(0 - value);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, NarrowCasts, testing::ValuesIn(narrow_dtypes),
                         [](const auto& info) { return info.param.str(); });

class NarrowArithmetic : public testing::TestWithParam<DType> {
 protected:
  // Zeros, subnormals, ones, ends, infinities, NaNs.
  std::vector<Bits> edges() const {
    std::vector<Bits> result;
    const Bits sign = count_of(GetParam()) / 2;
    for (const double x :
         {0.0, 1.0, 1.5, 3.0, HUGE_VAL, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
      const Bits code = bits_from_double(x, GetParam());
      for (const Bits near : {code - 1, code, code + 1}) result.push_back(near & (sign - 1));
    }
    for (const Bits code : {1, 2, 3, 4}) result.push_back(code);
    const std::size_t count = result.size();
    for (std::size_t i = 0; i < count; ++i) result.push_back(result[i] | sign);
    return result;
  }

  Bits random_code() { return random_() % count_of(GetParam()); }

  template <class... Operands>
  void check(Op op, FlatProgram& run, Operands... operands) {
    const Bits list[] = {operands...};
    const DType of = info(op).dtype == DTypeRule::Bool ? dtypes::bool_ : GetParam();
    const Bits expected = evaluate(op, GetParam(), list).value(), got = run(operands...);
    const bool exact_bits = op == Op::Neg;
    ASSERT_TRUE(exact_bits ? got == expected : same_value(got, expected, of))
        << info(op).name << " of " << fmt::format("{:#x}", fmt::join(list, ", ")) << ": "
        << value_text(got, of) << ", not " << value_text(expected, of);
  }

  FlatProgram program(Op op, std::size_t count) {
    const Decomposed decomposed(op, std::vector<DType>(count, GetParam()), dtypes::void_,
                                narrow_rules());
    for (const Node* node : toposort(decomposed.after.node()))
      EXPECT_TRUE(node->dtype() != GetParam() || node->op() == Op::Cast ||
                  node->op() == Op::Bitcast);
    return decomposed.program();
  }

  std::mt19937_64 random_{3};
};

TEST_P(NarrowArithmetic, OfOne) {
  for (const Op op : {Op::Recip, Op::Sqrt, Op::Trunc, Op::Neg}) {
    FlatProgram run = program(op, 1);
    for (Bits x = 0; x < count_of(GetParam()); ++x) check(op, run, x);
  }
}

TEST_P(NarrowArithmetic, OfTwo) {
  for (const Op op :
       {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Mod, Op::Max, Op::CmpLt, Op::CmpNe, Op::CmpEq}) {
    FlatProgram run = program(op, 2);
    const std::vector<Bits> edges = this->edges();
    for (const Bits x : edges)
      for (const Bits y : edges) check(op, run, x, y);
    if (GetParam().bits() == 8) {
      for (Bits x = 0; x < 256; ++x)
        for (Bits y = 0; y < 256; ++y) check(op, run, x, y);
      continue;
    }
    for (Bits x = 0; x < count_of(GetParam()); ++x) {
      check(op, run, x, random_code());
      check(op, run, x, x ^ random_code() % 4096);  // of a like size, mostly
    }
    for (int i = 0; i < (is_full() ? 2'000'000 : 100'000); ++i)
      check(op, run, random_code(), random_code());
  }
}

TEST_P(NarrowArithmetic, OfThree) {
  FlatProgram run = program(Op::MulAcc, 3);
  const std::vector<Bits> edges = this->edges();
  for (const Bits x : edges)
    for (const Bits y : edges)
      for (const Bits z : edges) check(Op::MulAcc, run, x, y, z);
  for (int i = 0; i < (is_full() ? 2'000'000 : 200'000); ++i) {
    const Bits x = random_code(), y = random_code();
    check(Op::MulAcc, run, x, y, random_code());
    // Near the product, so that much cancels.
    const Bits operands[] = {x, y};
    const Bits product = evaluate(Op::Mul, GetParam(), operands).value();
    const Bits near = (product ^ count_of(GetParam()) / 2) + random_() % 8 - 4;
    check(Op::MulAcc, run, x, y, near & (count_of(GetParam()) - 1));
  }
}

// The product of two bf16 may be beyond f32, where c brings it back, or below it.
TEST(NarrowMulAcc, EndsOfBf16) {
  FlatProgram run = Decomposed(Op::MulAcc, {dtypes::bf16, dtypes::bf16, dtypes::bf16}).program();
  std::mt19937_64 random(4);
  const auto number = [&](int exponent) {
    return bits_from_double(std::ldexp(static_cast<double>(random() % 256), exponent),
                            dtypes::bf16) ^
           (random() % 2 << 15);
  };
  for (int i = 0; i < 200'000; ++i) {
    const int e = static_cast<int>(random() % 20) + (i % 2 == 0 ? 110 : -155);
    const int part = static_cast<int>(random() % 100) + (i % 2 == 0 ? 0 : -130);
    const Bits operands[] = {number(part), number(e - part - 7),
                             number(e + static_cast<int>(random() % 12))};
    const Bits expected = evaluate(Op::MulAcc, dtypes::bf16, operands).value();
    ASSERT_TRUE(same_value(run(operands[0], operands[1], operands[2]), expected, dtypes::bf16))
        << fmt::format("{:#x}", fmt::join(operands, ", "));
  }
}

TEST_P(NarrowArithmetic, SelectKeepsNaNs) {
  const Leaf condition(dtypes::bool_), x(GetParam()), y(GetParam());
  FlatProgram run(decomposed(where(condition.value, x.value, y.value)),
                  {condition.bits, x.bits, y.bits});
  for (Bits code = 0; code < count_of(GetParam()); ++code) {
    EXPECT_EQ(run(Bits{1}, code, Bits{0}), code);
    EXPECT_EQ(run(Bits{0}, Bits{0}, code), code);
  }
}

// All sets and symbolic() in one fixed point: nothing but BITCAST is left of the dtype.
TEST_P(NarrowArithmetic, LanesAndSymbolic) {
  const RuleSet joined("joined", {&symbolic(), &decompositions()});
  const DType vector = GetParam().vec(4);
  for (const Op op : {Op::Add, Op::Mul, Op::MulAcc, Op::Neg, Op::Sqrt}) {
    const std::size_t count = info(op).arity.least;
    const Decomposed both(op, std::vector<DType>(count, vector), dtypes::void_, joined);
    EXPECT_EQ(both.after->dtype(), vector);
    expect_only_bitcasts(both.after, GetParam());
    FlatProgram run = both.program();
    for (int i = 0; i < 3000; ++i) {
      const Bits x = random_code(), y = random_code(), z = random_code();
      if (count == 1) check(op, run, x);
      if (count == 2) check(op, run, x, y);
      if (count == 3) check(op, run, x, y, z);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, NarrowArithmetic, testing::ValuesIn(narrow_dtypes),
                         [](const auto& info) { return info.param.str(); });

}  // namespace
}  // namespace weft
