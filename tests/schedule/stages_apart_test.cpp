// What a kernel would fill memory of its own with gets a kernel where the model expects that to be faster, and the values
// are the same.

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <weft/dev/ir/graph.h>
#include <weft/weft.h>

#include "../support/planned.h"

namespace weft {
namespace {

Tensor random(const Shape& shape) { return Tensor::randn(shape).realize(); }

bool has_stage(const UOp& kernel) {
  return std::ranges::any_of(toposort(kernel.node()),
                             [](const Node* node) { return node->op() == Op::Stage; });
}

std::size_t with_stages(const Plan& plan) {
  return static_cast<std::size_t>(
      std::ranges::count_if(plan.steps, [](const Step& step) { return has_stage(step.kernel); }));
}

KernelSeconds taking(double with_stage, double without) {
  return [=](const UOp& kernel, Symbol) { return has_stage(kernel) ? with_stage : without; };
}

// Small enough to be one kernel: a product of its own for each element of a window would be too much.
Tensor pooled() {
  return random({1, 3, 20, 20})
      .conv2d(random({8, 3, 3, 3}), random({8}), {.padding = 1})
      .relu()
      .max_pool2d(3, MaxPoolOptions{.stride = 2, .padding = 1});
}

void expect_same(const std::vector<float>& values, const std::vector<float>& expected) {
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_NEAR(values[i], expected[i], 1e-4 * (1 + std::abs(expected[i]))) << "at " << i;
}

TEST(StagesApart, GetMemoryWhereThatIsFaster) {
  const Tensor tensor = pooled();
  Planned inside(tensor, taking(1e-3, 0.9e-3)), apart(tensor, taking(1e-3, 0.2e-3));
  ASSERT_EQ(with_stages(inside.plan()), 1U);
  EXPECT_EQ(with_stages(apart.plan()), 0U);
  EXPECT_EQ(apart.plan().steps.size(), inside.plan().steps.size() + 1);
  EXPECT_EQ(apart.plan().choices.apart.size(), 2U);
  expect_same(apart.values(), inside.values());
}

TEST(StagesApart, StayWhereTheTimeIsNotKnown) {
  const KernelSeconds unknown = [](const UOp&, Symbol) { return std::optional<double>(); };
  EXPECT_EQ(with_stages(Planned(pooled(), unknown).plan()), 1U);
}

TEST(StagesApart, StayInWhatIsAsShortAsACall) {
  EXPECT_EQ(with_stages(Planned(pooled(), taking(1e-7, 1e-9)).plan()), 1U);
}

// Attention: each score is of a row and a key, so memory for all of them grows with the square.
TEST(StagesApart, StayWhereTheyTakeMuchMoreMemoryThanTheRest) {
  const Tensor q = random({1, 2048, 16}), k = random({1, 2048, 16}), v = random({1, 2048, 16});
  const Tensor tensor = q.matmul(k.transpose(1, 2)).softmax(-1).matmul(v);
  const Planned planned(tensor, taking(1, 0.01));
  EXPECT_EQ(planned.plan().choices.apart.size(), 0U);
}

}  // namespace
}  // namespace weft
