#include <weft/dev/ir/movement.h>

#include <gtest/gtest.h>

namespace weft {
namespace {

UOp tensor(const std::vector<std::int64_t>& sizes) {
  return make(Op::Param, constant_sizes(sizes), dtypes::f32, ParamArg{});
}

TEST(Movement, LeavesOutWhatChangesNothing) {
  const UOp x = tensor({2, 3});
  const Sizes same = constant_sizes({2, 3}), zero = constant_sizes({0, 0});
  EXPECT_TRUE(reshape(x, same).is(x));
  EXPECT_TRUE(permute(x, {0, 1}).is(x));
  EXPECT_TRUE(expand(x, same).is(x));
  EXPECT_TRUE(pad(x, zero, zero).is(x));
  EXPECT_TRUE(shrink(x, zero, same).is(x));
  EXPECT_TRUE(flip(x, {}).is(x));
  EXPECT_TRUE(reduce(Op::Add, x, {}).is(x));
}

TEST(Movement, OneReshapeIsEnough) {
  const UOp x = tensor({2, 3});
  const UOp flat = reshape(x, constant_sizes({6}));
  EXPECT_TRUE(reshape(flat, constant_sizes({3, 2})).is(reshape(x, constant_sizes({3, 2}))));
  EXPECT_TRUE(reshape(flat, constant_sizes({2, 3})).is(x));
}

TEST(Movement, MakesTheOpsOfTheTable) {
  const UOp x = tensor({2, 3});
  EXPECT_EQ(permute(x, {1, 0})->dims()[0]->lo(), 3);
  EXPECT_EQ(expand(tensor({1, 3}), constant_sizes({5, 3}))->dims()[0]->lo(), 5);
  EXPECT_EQ(pad(x, constant_sizes({1, 0}), constant_sizes({1, 2}))->dims()[1]->lo(), 5);
  EXPECT_EQ(shrink(x, constant_sizes({1, 1}), constant_sizes({1, 2}))->dims()[0]->lo(), 1);
  EXPECT_EQ(flip(x, {1})->op(), Op::Flip);
  EXPECT_EQ(reduce(Op::Max, x, {1})->dims()[1]->lo(), 1);
}

}  // namespace
}  // namespace weft
