// What nobody looks at is not computed: how much of a reduction is left, and that values stay.

#include "../../src/schedule/graph/region_inference.h"

#include <gtest/gtest.h>
#include <weft/dev/ir/movement.h>
#include <weft/dev/ir/text.h>

#include "../support/arrays.h"
#include "../support/random_tensors.h"

namespace weft {
namespace {

UOp memory(const std::vector<std::int64_t>& shape, std::int32_t slot = 1) {
  return make(Op::Param, constant_sizes(shape), dtypes::f32, ParamArg{slot, Access::Read, 0});
}

UOp rows(const UOp& tensor, std::int64_t first, std::int64_t count) {
  Sizes start, sizes = sizes_of(tensor);
  for (std::size_t i = 0; i < sizes.size(); ++i) start.push_back(const_int(i == 0 ? first : 0));
  sizes[0] = const_int(count);
  return shrink(tensor, start, sizes);
}

// The elements of all reductions of what is left.
std::int64_t reduced_elements(const std::vector<UOp>& tensors) {
  std::int64_t count = 0;
  for (const Node* node : toposort(nodes_of(with_needed_regions(tensors)))) {
    if (node->op() != Op::Reduce) continue;
    std::int64_t own = 1;
    for (const Node* size : node->dims()) own *= size->lo();
    count += own;
  }
  return count;
}

class Needed : public testing::Test {
 protected:
  Arena arena_;
  InternerScope scope_{arena_};
};

TEST_F(Needed, OneRowOfAProduct) {
  const UOp sums = reduce(Op::Add, memory({100, 8, 16}), {2});
  EXPECT_EQ(reduced_elements({rows(sums, 99, 1)}), 8);
  EXPECT_EQ(reduced_elements({rows(-sums + sums, 99, 1)}), 8);
  EXPECT_EQ(reduced_elements({rows(reshape(sums, constant_sizes({50, 2, 8})), 3, 5)}), 80);
  EXPECT_EQ(reduced_elements({rows(permute(sums, {1, 0, 2}), 2, 1)}), 100);
}

TEST_F(Needed, RowAfterRowOfSums) {
  const UOp first = reduce(Op::Add, memory({100, 8}), {1});
  const UOp second = reduce(Op::Max, first + memory({100, 1}, 2), {1});
  EXPECT_EQ(reduced_elements({rows(second, 10, 20)}), 40);
}

TEST_F(Needed, WhatAllUsersLookAt) {
  const UOp sums = reduce(Op::Add, memory({100, 16}), {1});
  EXPECT_EQ(reduced_elements({rows(sums, 10, 5), rows(sums, 30, 5)}), 25);
  EXPECT_EQ(reduced_elements({rows(sums, 10, 5), sums}), 100);
  EXPECT_EQ(reduced_elements({rows(sums, 10, 5), make(Op::Contiguous, {sums})}), 100);
}

TEST_F(Needed, SlightlyLessIsNotWorthIt) {
  const UOp sums = reduce(Op::Add, memory({100, 16}), {1});
  EXPECT_EQ(reduced_elements({rows(sums, 0, 90)}), 100);
  EXPECT_EQ(reduced_elements({rows(sums, 0, 60)}), 60);
}

TEST_F(Needed, ValuesStay) {
  constexpr std::uint64_t programs = 3000;
  std::uint64_t changed = 0;
  for (std::uint64_t seed = 0; seed < programs; ++seed) {
    Arena arena;
    const InternerScope scope(arena);
    RandomTensors random(seed);
    const UOp program = random.program(30);
    const UOp left = with_needed_regions({program})[0];
    changed += left.is(program) ? 0 : 1;
    Eager eager;
    std::mt19937_64 numbers(seed);
    for (const UOp& input : random.inputs()) eager.set(input, random_array(input, numbers));
    const Array expected = eager(program.node()), found = eager(left.node());
    ASSERT_EQ(found.sizes, expected.sizes) << "seed " << seed;
    ASSERT_EQ(found.values, expected.values)
        << "seed " << seed << "\n"
        << print_graph("p", {{program.node()}}) << print_graph("q", {{left.node()}});
  }
  EXPECT_GT(changed, programs / 100);
}

}  // namespace
}  // namespace weft
