// Numbers that change from run to run are variables of one plan.

#include <weft/dev/engine/tuning.h>

#include "../tensor/tensor_test.h"

namespace weft {
namespace {

TEST(FreeNumbers, GiveWhatConstantsGive) {
  const Tensor x({1.f, -2.f, 3.f}), n({1, -2, 3}), wide({1.0, 2.0}, {.dtype = dtypes::f64});
  for (int i = 3; i < 40; i += 4) {
    const auto f = static_cast<float>(i);
    EXPECT_TRUE(holds<float>(x * f + 1.5, {f + 1.5f, -2 * f + 1.5f, 3 * f + 1.5f}, {3}));
    EXPECT_TRUE(holds<float>((x > f - 10).where(f, -f),
                             {1 > f - 10 ? f : -f, -2 > f - 10 ? f : -f, 3 > f - 10 ? f : -f},
                             {3}));
    EXPECT_TRUE(holds<int>(n * i - 7 * i, {-6 * i, -9 * i, -4 * i}, {3}));
    EXPECT_TRUE(holds<double>(wide * (1.0 / i), {1.0 / i, 2.0 / i}, {2}));
    EXPECT_TRUE(holds<float>(x.cast(dtypes::f16) * f, {f, -2 * f, 3 * f}, {3}));
    EXPECT_TRUE(holds<float>(Tensor::full({2}, f) + x[1], {f - 2, f - 2}, {2}));
  }
}

// As a decaying learning rate does in a training step that nothing captured.
TEST(FreeNumbers, OnePlanServesAll) {
  const Tensor x = Tensor::arange(5).to_float().clone();
  const auto plans = [&](int from, int to) {
    const std::size_t before = count_plans();
    for (int i = from; i < to; ++i) (x * (i + 0.1f)).realize();
    return count_plans() - before;
  };
  EXPECT_EQ(plans(10, 12), 2U);
  EXPECT_EQ(plans(12, 60), 0U);
}

TEST(FreeNumbers, WhatACallIsRecordedWithStays) {
  const Tensor x({1.f, 2.f});
  float factor = 3;
  auto scaled = jit([&](const Tensor& a) { return a * factor; });
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(holds<float>(scaled(x), {3, 6}, {2}));
}

}  // namespace
}  // namespace weft
