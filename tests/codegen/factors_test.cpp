// Which factors leave the inner loops of a sum.

#include <vector>

#include <gtest/gtest.h>

#include <weft/dev/codegen/lower.h>
#include <weft/dev/ir/graph.h>

#include "../support/kernels.h"

namespace weft {
namespace {

class Factors : public testing::Test {
 protected:
  static UOp loop(LoopKind kind = LoopKind::Reduce) { return range(8, fresh_id().value, kind); }
  static UOp read(std::int32_t slot, const std::vector<UOp>& at) {
    std::vector<UOp> sizes(at.size(), size(8));
    return load(place(param(slot, Access::Read, sizes), at));
  }

  // How many loops each sum has once factors are outside, the outermost sum first.
  static std::vector<std::size_t> loops_of_sums(const UOp& sum) {
    const UOp out = param(0, Access::Write, {size(1)});
    const UOp kernel = make(Op::Sink, {put(place(out, {const_int(0)}), sum)}, {},
                            KernelArg{Symbol("k"), Symbol("")});
    std::vector<std::size_t> counts;
    const UOp result = factors({kernel})[0];
    for (const Node* node : toposort(result.node()))
      if (node->op() == Op::Reduce) counts.insert(counts.begin(), node->size() - 1);
    return counts;
  }

 private:
  Arena arena_;
  const InternerScope scope_{arena_};
};

using Counts = std::vector<std::size_t>;

TEST_F(Factors, ScaleOfABlockStandsOutsideOfIt) {
  const UOp block = loop(), i = loop(), j = loop();
  const UOp product = read(1, {block, i, j}) * (read(2, {block, i, j}) * read(3, {block}));
  EXPECT_EQ(loops_of_sums(reduce(Op::Add, {product, block, i, j})), (Counts{1, 2}));
}

TEST_F(Factors, ScalesWithinScales) {
  const UOp block = loop(), i = loop(), j = loop();
  const UOp product = read(1, {block, i, j}) * read(2, {block, i}) * read(3, {block});
  EXPECT_EQ(loops_of_sums(reduce(Op::Add, {product, block, i, j})), (Counts{1, 1, 1}));
}

// They would be added up in each trip.
TEST_F(Factors, LanesStayOutside) {
  const UOp block = loop(), i = loop(), lane = loop(LoopKind::Vector);
  const UOp product = read(1, {block, i, lane}) * read(2, {block});
  EXPECT_EQ(loops_of_sums(reduce(Op::Add, {product, block, i, lane})), (Counts{2, 1}));
}

TEST_F(Factors, OthersStayInside) {
  const UOp block = loop(), i = loop();
  const UOp scale = read(3, {block}), value = read(1, {block, i}), by = read(2, {i});
  // It changes in the innermost loop; is added; is no factor of a sum; is in no loop of it.
  EXPECT_EQ(loops_of_sums(reduce(Op::Add, {value * by, block, i})), (Counts{2}));
  EXPECT_EQ(loops_of_sums(reduce(Op::Add, {value + scale, block, i})), (Counts{2}));
  EXPECT_EQ(loops_of_sums(reduce(Op::Max, {value * scale, block, i})), (Counts{2}));
  EXPECT_EQ(loops_of_sums(reduce(Op::Add, {value * read(4, {const_int(0)}), block, i})),
            (Counts{2}));
}

}  // namespace
}  // namespace weft
