// Divisions as multiplications and shifts, against evaluate().

#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <weft/dev/rules/symbolic.h>

#include "../support/decomposed.h"

namespace weft {
namespace {

constexpr Op divisions[] = {Op::FloorDiv, Op::FloorMod, Op::CDiv, Op::CMod};
constexpr OpSet all_divisions{Op::FloorDiv, Op::FloorMod, Op::CDiv, Op::CMod};

class Divider {
 public:
  Divider(Op op, DType dtype, Bits divisor) : Divider(op, divisor, Leaf(dtype)) {}
  // Of a variable.
  Divider(Op op, Bits divisor, const UOp& x) : Divider(op, divisor, x, x) {}

  std::string left() const { return first_op_left(after_, all_divisions); }

  testing::AssertionResult agrees(std::int64_t x) {
    const Bits operands[] = {canonical_bits(static_cast<Bits>(x), dtype_), divisor_};
    const Bits expected = evaluate(op_, dtype_, operands).value(), got = program_(operands[0]);
    if (got == expected) return testing::AssertionSuccess();
    return testing::AssertionFailure() << fmt::format(
               "{} {} of {} by {}: {}, not {}", info(op_).name, dtype_.str(),
               static_cast<std::int64_t>(operands[0]), static_cast<std::int64_t>(divisor_),
               static_cast<std::int64_t>(got), static_cast<std::int64_t>(expected));
  }

 private:
  Divider(Op op, Bits divisor, const Leaf& leaf) : Divider(op, divisor, leaf.value, leaf.bits) {}
  Divider(Op op, Bits divisor, const UOp& x, const UOp& bits)
      : op_(op),
        dtype_(x->dtype()),
        divisor_(divisor),
        after_(decomposed(make(op, {x, const_bits(dtype_, divisor)}), divide_rules())),
        program_(after_, {bits}) {}

  Op op_;
  DType dtype_;
  Bits divisor_;
  UOp after_;
  FlatProgram program_;
};

TEST(Divide, EightBitsExhaustively) {
  for (const DType dtype : {dtypes::i8, dtypes::u8})
    for (const Op op : divisions)
      for (int d = -128; d < 128; ++d) {
        Divider divide(op, dtype, canonical_bits(static_cast<Bits>(d), dtype));
        EXPECT_EQ(divide.left(), "");
        for (int x = -128; x < 128; ++x) ASSERT_TRUE(divide.agrees(x));
      }
}

// All divisors, and of the dividends those on either side of each step of the quotient.
TEST(Divide, SixteenBitsAtEveryStep) {
  const int stride = is_full() ? 1 : 211;
  for (const DType dtype : {dtypes::i16, dtypes::u16})
    for (const Op op : divisions)
      for (int d = -32768; d<65536; d += d> - 40 && d < 40 ? 1 : stride) {
        if (dtype == dtypes::i16 ? d > 32767 : d < 0) continue;
        Divider divide(op, dtype, static_cast<Bits>(static_cast<std::int64_t>(d)));
        ASSERT_EQ(divide.left(), "");
        for (const int x : {-32768, -32767, -1, 0, 1, 32767, 65534, 65535})
          ASSERT_TRUE(divide.agrees(x));
        const int step = std::max(std::abs(d), 1);
        for (int x = 0; x <= 65535; x += step)
          for (const int at : {x - 1, x, x + 1, -x - 1, -x, -x + 1}) ASSERT_TRUE(divide.agrees(at));
      }
}

TEST(Divide, AllDividendsOfSixteenBits) {
  for (const DType dtype : {dtypes::i16, dtypes::u16})
    for (const Op op : divisions)
      for (const int d : {3, 7, 10, 641, 32767, -3, -7, -32768}) {
        Divider divide(op, dtype, canonical_bits(static_cast<Bits>(std::int64_t{d}), dtype));
        for (int x = 0; x < 65536; ++x) ASSERT_TRUE(divide.agrees(x));
      }
}

std::int64_t random_value(std::mt19937_64& random, DType dtype) {
  const Bits value = random() >> (random() % static_cast<std::uint64_t>(dtype.bits()));
  return static_cast<std::int64_t>(canonical_bits(random() % 2 != 0 ? value : 0 - value, dtype));
}

void check_wide(DType dtype, bool all_leave) {
  std::mt19937_64 random(1);
  const auto highest = static_cast<std::int64_t>(highest_bits(dtype));
  const auto lowest = static_cast<std::int64_t>(lowest_bits(dtype));
  std::vector<std::int64_t> divisors{0,          1,  2,   3,    5,       6,           7,
                                     10,         25, 641, 1000, highest, highest - 1, lowest,
                                     lowest + 1, -1, -2,  -3,   -7};
  for (int i = 0; i < (is_full() ? 5000 : 300); ++i)
    divisors.push_back(random_value(random, dtype));
  for (const std::int64_t d : divisors)
    for (const Op op : divisions) {
      Divider divide(op, dtype, canonical_bits(static_cast<Bits>(d), dtype));
      if (all_leave) {
        ASSERT_EQ(divide.left(), "") << d;
      }
      for (int i = 0; i < 400; ++i) {
        const auto any = static_cast<Bits>(random_value(random, dtype));
        const Bits step = any * static_cast<Bits>(d);
        for (const Bits x : {any, step, step - 1, step + 1})
          ASSERT_TRUE(divide.agrees(static_cast<std::int64_t>(x)));
      }
      for (const std::int64_t x :
           {highest, highest - 1, lowest, lowest + 1, std::int64_t{0}, std::int64_t{-1}})
        ASSERT_TRUE(divide.agrees(x));
    }
}

TEST(Divide, ThirtyTwoBits) {
  check_wide(dtypes::i32, true);
  check_wide(dtypes::u32, true);
}

TEST(Divide, SixtyFourBitsWhereTheProductFits) {
  check_wide(dtypes::i64, false);
  check_wide(dtypes::u64, false);
  Divider small(Op::FloorDiv, 1000, Variable("x", 0, 1'000'000'000, dtypes::i64));
  EXPECT_EQ(small.left(), "");
  for (const std::int64_t x : {0, 999, 1000, 999'999'999, 1'000'000'000})
    EXPECT_TRUE(small.agrees(x));
  EXPECT_EQ(Divider(Op::FloorDiv, dtypes::i64, 1000).left(), "cdiv i64");
  EXPECT_EQ(Divider(Op::CDiv, dtypes::u64, 1000).left(), "cdiv u64");
}

// Where x is known to be small, the product needs no wider dtype.
TEST(Divide, BoundsSaveTheWiderProduct) {
  const UOp x = Variable("x", 0, 20'000, dtypes::i32);
  const UOp after = decomposed(x / 10, divide_rules());
  for (const Node* node : toposort(after.node())) EXPECT_EQ(node->dtype().bits(), 32);
  FlatProgram run(after, {x});
  for (Bits value = 0; value <= 20'000; ++value) ASSERT_EQ(run(value), value / 10);
}

TEST(Divide, ByVariables) {
  std::mt19937_64 random(2);
  for (const DType dtype : {dtypes::i8, dtypes::i32, dtypes::i64})
    for (const Op op : {Op::FloorDiv, Op::FloorMod}) {
      const Decomposed divide(op, {dtype, dtype});
      EXPECT_EQ(first_op_left(divide.after, {Op::FloorDiv, Op::FloorMod}), "");
      FlatProgram run = divide.program();
      for (int i = 0; i < 60'000; ++i) {
        const Bits operands[] = {static_cast<Bits>(random_value(random, dtype)),
                                 static_cast<Bits>(i % 50 == 0 ? 0 : random_value(random, dtype))};
        ASSERT_EQ(run(operands[0], operands[1]), evaluate(op, dtype, operands).value());
      }
    }
}

TEST(Divide, TruncatingWhereNothingIsNegative) {
  const UOp x = Variable("x", 0, 100, dtypes::i32), y = Variable("y", 0, 9, dtypes::i32);
  EXPECT_TRUE(decomposed(x / y, truncating_rules()).is(make(Op::CDiv, {x, y})));
  EXPECT_TRUE(decomposed(x % y, truncating_rules()).is(make(Op::CMod, {x, y})));
  EXPECT_TRUE(decomposed((x - 1) / y, truncating_rules()).is((x - 1) / y));
}

TEST(Divide, LeavesIndicesAlone) {
  const UOp x = Variable("x", -100, 100);
  EXPECT_TRUE(decomposed(x / 7).is(x / 7));
  EXPECT_TRUE(decomposed(x % 7, truncating_rules()).is(x % 7));
}

TEST(Divide, LanesAndSymbolic) {
  const RuleSet joined("joined", {&symbolic(), &decompositions()});
  for (const DType dtype : {dtypes::i32.vec(4), dtypes::u32.vec(4), dtypes::i8.vec(4)})
    for (const Op op : divisions) {
      const Leaf leaf(dtype.scalar());
      const UOp& x = leaf.value;
      const UOp vector = make(Op::Splat, {x}, dtype);
      for (const int d : {7, 12, -12, 64}) {
        if (d < 0 && dtype.is_unsigned()) continue;
        const UOp before = make(op, {vector, const_int(d, dtype)});
        for (const UOp& after : {decomposed(before), decomposed(before, joined)}) {
          EXPECT_EQ(after->dtype(), dtype);
          EXPECT_EQ(first_op_left(after, all_divisions), "");
        }
      }
      const UOp before = make(op, {x, const_int(12, dtype.scalar())});
      FlatProgram run(decomposed(before, joined), {leaf.bits});
      for (int i = -300; i < 300; ++i) {
        const Bits value = canonical_bits(static_cast<Bits>(std::int64_t{i}), dtype.scalar());
        const Bits operands[] = {value, 12};
        ASSERT_EQ(run(value), evaluate(op, dtype.scalar(), operands).value());
      }
    }
}

}  // namespace
}  // namespace weft
