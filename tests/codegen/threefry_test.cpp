#include <random>

#include <gtest/gtest.h>

#include "../support/decomposed.h"

namespace weft {
namespace {

constexpr Bits pair(std::uint32_t first, std::uint32_t second) {
  return Bits{second} << 32 | first;
}

// The vectors that come with the authors' own implementation (Random123).
TEST(Threefry, KnownAnswers) {
  const Decomposed threefry(Op::Threefry, {dtypes::u64, dtypes::u64});
  EXPECT_EQ(first_op_left(threefry.after, {Op::Threefry}), "");
  FlatProgram run = threefry.program();
  EXPECT_EQ(run(pair(0, 0), pair(0, 0)), pair(0x6b200159, 0x99ba4efe));
  EXPECT_EQ(run(pair(~0u, ~0u), pair(~0u, ~0u)), pair(0x1cb996fc, 0xbb002be7));
  EXPECT_EQ(run(pair(0x243f6a88, 0x85a308d3), pair(0x13198a2e, 0x03707344)),
            pair(0xc4923a9c, 0x483df7a0));
}

TEST(Threefry, IsWhatEvaluateComputes) {
  FlatProgram run = Decomposed(Op::Threefry, {dtypes::u64, dtypes::u64}).program();
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    const Bits operands[] = {random(), random()};
    ASSERT_EQ(run(operands[0], operands[1]), evaluate(Op::Threefry, dtypes::u64, operands).value());
  }
}

TEST(Threefry, KeepsLanes) {
  const DType u64x4 = dtypes::u64.vec(4);
  const Decomposed threefry(Op::Threefry, {u64x4, u64x4});
  EXPECT_EQ(threefry.after->dtype(), u64x4);
  EXPECT_EQ(threefry.program()(Bits{0}, Bits{0}), pair(0x6b200159, 0x99ba4efe));
}

}  // namespace
}  // namespace weft
