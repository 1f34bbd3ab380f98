// Which reductions are scans, in the forms that rules leave them in, and which only look like one.

#include <weft/dev/rules/scan.h>

#include <cmath>

#include <gtest/gtest.h>

#include <weft/dev/ir/text.h>

#include "../support/kernels.h"

namespace weft {
namespace {

struct Scans : testing::Test {
  const UOp r = range(8, 1), c = range(8, 2), k = range(8, 3, LoopKind::Reduce);
  const UOp x = param(1, Access::Read, {size(8), size(8)});
  const UOp value = load(place(x, {c, k}));
  const UOp zero = const_int(0, dtypes::f32);

  static std::optional<Scan> found(Op op, const UOp& value, const UOp& k) {
    return scan_of(reduce(op, {value, k}).node());
  }
  std::optional<Scan> sum(const UOp& gate) const {
    return found(Op::Add, where(gate, value, zero), k);
  }
};

TEST_F(Scans, RiseUpToALoop) {
  const UOp negative = const_int(-1);
  for (const UOp& gate : {k <= r, k < r + 1, r >= k, !(r < k), k - r < const_int(1),
                          k + r * negative <= const_int(0), (k <= r) & (k < const_int(5))}) {
    const auto scan = sum(gate);
    ASSERT_TRUE(scan) << expression_text(gate.node());
    EXPECT_TRUE(scan->rises);
    EXPECT_TRUE(scan->last.is(r)) << expression_text(scan->last.node());
    EXPECT_EQ(scan->range, k.node());
  }
}

// A value that changes with neither loop may be seen as a scan along both.
TEST_F(Scans, AreFoundByEachLimit) {
  const UOp one = load(place(x, {const_int(0), const_int(0)}));
  const auto all = scans_of(reduce(Op::Add, {where((k <= r) & (k <= c), one, zero), k}).node());
  ASSERT_EQ(all.size(), 2U);
  EXPECT_TRUE(all[0].last.is(r) || all[1].last.is(r));
  EXPECT_TRUE(all[0].last.is(c) || all[1].last.is(c));
}

TEST_F(Scans, MayLeaveTheLastOut) {
  const auto scan = sum(k < r);
  ASSERT_TRUE(scan && scan->rises);
  EXPECT_EQ(scan->last->bounds().lo, -1);
  EXPECT_EQ(scan->last->bounds().hi, 6);
}

TEST_F(Scans, FallFromALoopOn) {
  for (const UOp& gate : {k >= r, !(k < r), r - k < const_int(1)}) {
    const auto scan = sum(gate);
    ASSERT_TRUE(scan) << expression_text(gate.node());
    EXPECT_FALSE(scan->rises);
    EXPECT_TRUE(scan->last.is(r));
  }
}

// From the end of the one to the beginning of the other.
TEST_F(Scans, MayCrossEachOther) {
  const auto scan = sum(k + r < const_int(8));
  ASSERT_TRUE(scan && scan->rises);
  ASSERT_EQ(scan->steps.size(), 1U);
  EXPECT_EQ(scan->steps[0].factor, -1);
  EXPECT_EQ(scan->last->bounds().hi, 7);
}

TEST_F(Scans, FollowTiles) {
  const UOp outer = range(2, 4), inner = range(4, 5, LoopKind::Vector);
  const auto scan = sum(k <= (outer * 4 + inner));
  ASSERT_TRUE(scan);
  ASSERT_EQ(scan->steps.size(), 2U);
  for (const Scan::Step& step : scan->steps)
    EXPECT_EQ(step.factor, step.range == outer.node() ? 4 : 1);
}

TEST_F(Scans, AreGatedByAnyIdentity) {
  const UOp one = const_int(1, dtypes::f32), least = const_float(-HUGE_VAL, dtypes::f32);
  EXPECT_TRUE(found(Op::Mul, where(k <= r, value, one), k));
  EXPECT_TRUE(found(Op::Max, where(r < k, least, value), k));
  EXPECT_TRUE(found(Op::Add, load(place(x, {c, k}, k <= r)), k));
  EXPECT_TRUE(found(Op::Add, cast(where(k <= r, value, zero), dtypes::f64), k));
  EXPECT_TRUE(found(Op::Add, cast((k <= r) & (value < zero), dtypes::i32), k));
}

TEST_F(Scans, AreNoSumsOfOtherParts) {
  const UOp n = Variable("n", 1, 8), one = const_int(1, dtypes::f32);
  EXPECT_FALSE(sum(k < const_int(5)));                         // the same part in every iteration
  EXPECT_FALSE(sum(k * 2 <= r));                               // one more in every other iteration
  EXPECT_FALSE(sum((k <= r) & (k + 3 > r)));                   // a window
  EXPECT_FALSE(sum(k == r));                                   // one element
  EXPECT_FALSE(sum((k <= r) | (k < const_int(2))));            // either
  EXPECT_FALSE(sum(k < n));                                    // nothing goes along
  EXPECT_FALSE(found(Op::Add, where(k <= r, value, one), k));  // the others are not left out
  EXPECT_FALSE(found(Op::Max, where(k <= r, value, zero), k));
  EXPECT_FALSE(found(Op::Mul, load(place(x, {c, k}, k <= r)), k));
  EXPECT_FALSE(found(Op::Add, where(k <= r, load(place(x, {r, k})), zero), k));
  EXPECT_FALSE(
      found(Op::Add, where(cast(k, dtypes::i8) <= cast(r * 100, dtypes::i8), value, zero), k));
}

}  // namespace
}  // namespace weft
