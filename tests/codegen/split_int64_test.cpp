// 64-bit integers as two u32, against evaluate().

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include <weft/dev/rules/symbolic.h>

#include "../support/decomposed.h"

namespace weft {
namespace {

const RuleSet& halves_and_folds() {
  static const RuleSet rules("halves_and_folds", {&fold_rules(), &half_rules()});
  return rules;
}

// A 64-bit value that is made of two u32.
struct Halves {
  explicit Halves(DType dtype)
      : low(Variable("low", 0, 0xffffffff, dtypes::u32)),
        high(Variable("high", 0, 0xffffffff, dtypes::u32)),
        value(cast(cast(low, dtypes::u64) |
                       make(Op::Shl, {cast(high, dtypes::u64), const_int(32, dtypes::u64)}),
                   dtype)) {}
  UOp low, high, value;
};

bool is_narrow_throughout(const UOp& root) {
  return std::ranges::all_of(toposort(root.node()),
                             [](const Node* node) { return node->dtype().bits() <= 32; });
}

// Both halves of a value, or the bool itself, in one program each.
class SplitOp {
 public:
  SplitOp(Op op, DType dtype, std::size_t count, const RuleSet& rules) : op_(op), dtype_(dtype) {
    std::vector<UOp> operands, leaves;
    for (std::size_t i = 0; i < count; ++i) {
      const Halves x(dtype);
      operands.push_back(x.value);
      leaves.insert(leaves.end(), {x.low, x.high});
    }
    const UOp result = make(op, operands);
    std::vector<UOp> parts{result};
    if (!result->dtype().is_bool())
      parts = {cast(result, dtypes::u32),
               cast(make(Op::Shr, {result, const_int(32, dtype)}), dtypes::u32)};
    for (const UOp& part : parts) {
      const UOp after = decomposed(part, rules);
      EXPECT_TRUE(is_narrow_throughout(after)) << info(op).name << " " << dtype.str();
      programs_.emplace_back(after, leaves);
    }
  }

  void check(Bits a, Bits b, Bits c) {
    const Bits operands[] = {a, b, c};
    const std::size_t count = info(op_).arity.least;
    const Bits expected = evaluate(op_, dtype_, std::span(operands).first(count)).value();
    Bits got = 0;
    for (std::size_t i = 0; i < programs_.size(); ++i)
      got |= run(programs_[i], count, a, b, c) << (32 * i);
    ASSERT_EQ(got, expected) << info(op_).name << " " << dtype_.str() << std::hex << " of " << a
                             << ", " << b << ", " << c;
  }

 private:
  static Bits run(FlatProgram& program, std::size_t count, Bits a, Bits b, Bits c) {
    const auto low = [](Bits x) { return x & 0xffffffff; };
    if (count == 1) return program(low(a), a >> 32);
    if (count == 2) return program(low(a), a >> 32, low(b), b >> 32);
    return program(low(a), a >> 32, low(b), b >> 32, low(c), c >> 32);
  }

  Op op_;
  DType dtype_;
  std::vector<FlatProgram> programs_;
};

constexpr Bits edges[] = {0,
                          1,
                          2,
                          31,
                          32,
                          33,
                          63,
                          64,
                          65,
                          0xffff,
                          0xffffffff,
                          0x100000000,
                          0x7fffffffffffffff,
                          0x8000000000000000,
                          0xffffffff00000000,
                          0xffffffffffffffff,
                          0x80000000,
                          0x123456789abcdef0};

TEST(Halves, EveryOp) {
  const RuleSet with_symbolic("with_symbolic", {&symbolic(), &half_rules()});
  std::mt19937_64 random(1);
  for (const RuleSet* rules : {&halves_and_folds(), &with_symbolic})
    for (const DType dtype : {dtypes::i64, dtypes::u64})
      for (const Op op : {Op::Add, Op::Sub, Op::Mul, Op::Neg, Op::And, Op::Or, Op::Xor, Op::Shl,
                          Op::Shr, Op::Max, Op::CmpLt, Op::CmpNe, Op::CmpEq, Op::MulAcc}) {
        SplitOp split(op, dtype, info(op).arity.least, *rules);
        for (const Bits a : edges)
          for (const Bits b : edges) split.check(a, b, a ^ b);
        for (int i = 0; i < 2000; ++i) {
          const Bits a = random() >> (random() % 64), b = random() >> (random() % 64);
          split.check(a, b, random());
          split.check(0 - a, random() % 70, a);
        }
      }
}

TEST(Halves, Casts) {
  std::mt19937_64 random(2);
  for (const DType wide : {dtypes::i64, dtypes::u64})
    for (const DType small :
         {dtypes::bool_, dtypes::i8, dtypes::u8, dtypes::i16, dtypes::i32, dtypes::u32}) {
      const Leaf leaf(small);
      const UOp widened = cast(leaf.value, wide), square = widened * widened;
      const UOp top = cast(make(Op::Shr, {square, const_int(32, wide)}), dtypes::u32);
      const Halves x(wide);
      const UOp up = decomposed(top, halves_and_folds());
      const UOp down = decomposed(cast(x.value, small), halves_and_folds());
      EXPECT_TRUE(is_narrow_throughout(up) && is_narrow_throughout(down));
      FlatProgram high(up, {leaf.bits}), narrowed(down, {x.low, x.high});
      for (int i = 0; i < 1000; ++i) {
        const Bits value = random(), own = convert(value, wide, small);
        const Bits wider = convert(own, small, wide);
        ASSERT_EQ(high(own), wider * wider >> 32);
        ASSERT_EQ(narrowed(value & 0xffffffff, value >> 32), own);
      }
      EXPECT_EQ(narrowed(Bits{0}, Bits{1}), convert(Bits{1} << 32, wide, small));
    }
}

TEST(Halves, OfTheOtherDecompositions) {
  const RuleSet all("all", {&symbolic(), &decompositions(), &half_rules()});
  const Leaf x(dtypes::u32);
  const UOp tenth = decomposed(make(Op::CDiv, {x.value, const_int(10, dtypes::u32)}), all);
  EXPECT_TRUE(is_narrow_throughout(tenth));
  FlatProgram divide(tenth, {x.bits});
  for (const Bits value : {0u, 9u, 10u, 99u, 4294967289u, 4294967290u, 4294967295u})
    EXPECT_EQ(divide(value), value / 10);

  const Halves counter(dtypes::u64), key(dtypes::u64);
  const UOp random = make(Op::Threefry, {counter.value, key.value});
  const UOp low = decomposed(cast(random, dtypes::u32), all);
  EXPECT_TRUE(is_narrow_throughout(low));
  EXPECT_EQ(FlatProgram(low, {counter.low, counter.high, key.low, key.high})(Bits{0}, Bits{0},
                                                                             Bits{0}, Bits{0}),
            0x6b200159u);
}

TEST(Halves, KeepsLanes) {
  const UOp x = cast(Variable("x", 0, 1'000'000'000, dtypes::i32), dtypes::i64);
  const UOp y = make(Op::Splat, {x * x}, dtypes::i64.vec(4));
  const UOp top = cast(make(Op::Shr, {y + y, const_int(32, y->dtype())}), dtypes::u32.vec(4));
  const UOp after = decomposed(top, halves_and_folds());
  EXPECT_TRUE(is_narrow_throughout(after));
  EXPECT_EQ(after->dtype(), dtypes::u32.vec(4));
  FlatProgram run(after, {x.src(0)});
  EXPECT_EQ(run(Bits{1'000'000'000}), 2'000'000'000'000'000'000u >> 32);
}

// What comes from memory stays, and its halves are casts.
TEST(Halves, EndAtMemory) {
  const UOp x = Variable("x", -5, 5, dtypes::i64);
  EXPECT_TRUE(decomposed(cast(x, dtypes::u32), half_rules()).is(cast(x, dtypes::u32)));
}

}  // namespace
}  // namespace weft
