// Which reductions of a kernel are one.

#include <algorithm>

#include <gtest/gtest.h>

#include <weft/dev/codegen/lower.h>
#include <weft/dev/ir/graph.h>

#include "../support/kernels.h"

namespace weft {
namespace {

class SameSums : public testing::Test {
 protected:
  static UOp loop(std::int64_t iterations = 64) { return range(iterations, fresh_id().value); }
  static UOp summed(std::int64_t iterations = 128) {
    return range(iterations, fresh_id().value, LoopKind::Reduce);
  }
  UOp x(const UOp& row, const UOp& column) const { return load(place(x_, {row, column})); }

  static std::ptrdiff_t left(const UOp& value, const std::vector<UOp>& loops) {
    const UOp out = place(param(0, Access::Write, {size(64)}), {loops[0]});
    const UOp kernel =
        make(Op::Sink, {over(put(out, value), loops)}, {}, KernelArg{Symbol("k"), Symbol("")});
    const UOp result = common_reductions({kernel})[0];
    return std::ranges::count_if(toposort(result.node()),
                                 [](const Node* node) { return node->op() == Op::Reduce; });
  }

 private:
  Arena arena_;
  const InternerScope scope_{arena_};
  UOp x_ = param(1, Access::Read, {size(64), size(128)});
};

TEST_F(SameSums, BecomeOne) {
  const UOp i = loop(), j = summed(), k = summed();
  EXPECT_EQ(left(reduce(Op::Add, {x(i, j), j}) * reduce(Op::Add, {x(i, k), k}), {i}), 1);
}

TEST_F(SameSums, OfOtherValuesStay) {
  const UOp i = loop(), j = summed(), k = summed(), l = summed(64), m = summed();
  const UOp rows = reduce(Op::Add, {x(i, j), j}), negated = reduce(Op::Add, {-x(i, k), k});
  const UOp shorter = reduce(Op::Add, {x(i, l), l}), largest = reduce(Op::Max, {x(i, m), m});
  EXPECT_EQ(left(rows + negated + shorter + largest, {i}), 4);
}

// The largest of a row, less which it is summed: a softmax and its gradient have these twice.
TEST_F(SameSums, OfSumsThatAreTheSame) {
  const UOp i = loop();
  const auto total = [&] {
    const UOp j = summed(), k = summed();
    return reduce(Op::Add, {make(Op::Exp2, {x(i, j) - reduce(Op::Max, {x(i, k), k})}), j});
  };
  EXPECT_EQ(left(total() * total(), {i}), 2);
}

// What is reduced in each iteration of another reduction goes by that one's range.
TEST_F(SameSums, InsideOfOneAnother) {
  const UOp i = loop();
  const auto nested = [&](std::int64_t from) {
    const UOp j = summed(64), k = summed();
    return reduce(Op::Add, {reduce(Op::Max, {x(j, k) * x(i, k), k}) * x(i, j + from), j});
  };
  EXPECT_EQ(left(nested(0) * nested(0), {i}), 2);
  EXPECT_EQ(left(nested(0) * nested(1), {i}), 4);
}

// The same of two loops that differ: each has its own.
TEST_F(SameSums, OfOtherLoopsStay) {
  const UOp i = loop(), j = loop(), k = summed(), l = summed();
  EXPECT_EQ(left(reduce(Op::Add, {x(i, k), k}) + reduce(Op::Add, {x(j, l), l}), {i, j}), 2);
}

}  // namespace
}  // namespace weft
