// What a kernel fills memory of its own with.

#include <algorithm>

#include <gtest/gtest.h>
#include <weft/dev/ir/below.h>
#include <weft/dev/ir/graph.h>
#include <weft/functional.h>
#include <weft/weft.h>

#include "../support/planned.h"

namespace weft {
namespace {

Tensor normal(const Shape& shape) { return Tensor::randn(shape).realize(); }

// Each element of a window would compute it again, with a mask for the padding.
TEST(Staged, SumsAreHeldWithWhatFollowsThem) {
  const Tensor x = normal({1, 16, 64, 64}).conv2d(normal({96, 16, 1, 1}), normal({96})).relu();
  const Tensor tensor =
      x.conv2d(normal({96, 1, 3, 3}), normal({96}), {.groups = 96, .stride = 2, .padding = 1});
  Planned planned(tensor, [](const UOp&, Symbol) { return std::optional<double>(); });
  ASSERT_EQ(planned.plan().steps.size(), 1U);
  std::size_t stages = 0;
  for (const Node* node : toposort(planned.plan().steps[0].kernel.node())) {
    if (node->op() != Op::Stage) continue;
    ++stages;
    EXPECT_NE(node->src(0)->op(), Op::Reduce);
  }
  EXPECT_EQ(stages, 1U);
}

// A product of its own adds the bias, and no map of it is filled once more for the windows.
TEST(Staged, WhatFollowsSumsOfAnotherKernelGoesWithThem) {
  const Tensor x = normal({1, 64, 80, 80}).conv2d(normal({64, 64, 1, 1}), normal({64}));
  const Tensor tensor = x.conv2d(normal({64, 1, 3, 3}), normal({64}), {.groups = 64, .padding = 1});
  Planned planned(tensor, [](const UOp&, Symbol) { return std::optional<double>(); });
  ASSERT_EQ(planned.plan().steps.size(), 2U);
  for (const Step& step : planned.plan().steps)
    for (const Node* node : toposort(step.kernel.node())) EXPECT_NE(node->op(), Op::Stage);
}

// Nor of what it scales, adds and clips: all that costs the product's kernel nothing.
TEST(Staged, LongerMapsOfSumsOfAnotherKernelGoWithThem) {
  const auto each = [] { return normal({1, 64, 1, 1}); };
  const Tensor x =
      normal({1, 3, 224, 224}).conv2d(normal({64, 3, 7, 7}), {}, {.stride = 2, .padding = 3});
  const Tensor tensor = ((x * each() + each()) * each() + each())
                            .relu()
                            .max_pool2d({3, 3}, {.stride = 2, .padding = 1});
  Planned planned(tensor, [](const UOp&, Symbol) { return std::optional<double>(); });
  ASSERT_EQ(planned.plan().steps.size(), 2U);
  for (const Step& step : planned.plan().steps)
    for (const Node* node : toposort(step.kernel.node())) EXPECT_NE(node->op(), Op::Stage);
}

// Roots, powers and quotients take as long as several operations: windows that overlap do not compute them again.
TEST(Staged, SlowOperationsAreNotRepeatedForWindows) {
  constexpr OpSet slow{Op::Sqrt, Op::Pow};
  for (const double power : {0.75, 0.6}) {
    const Tensor x = normal({1, 96, 109, 109});
    const Tensor normed = functional::local_response_norm(x, 5, 1e-4, power);
    Planned planned(normed.max_pool2d({3, 3}, {.stride = 2, .padding = 0}),
                    [](const UOp&, Symbol) { return std::optional<double>(); });
    int maxima = 0, slow_ops = 0;
    for (const Step& step : planned.plan().steps)
      for (const Node* sum : toposort(step.kernel.node())) {
        slow_ops += slow.contains(sum->op()) ? 1 : 0;
        if (sum->op() != Op::Reduce || sum->arg<ReduceArg>().op != Op::Max) continue;
        ++maxima;
        const auto computed = nodes_below({sum->src(0)}, [](const Node* node) {
          return node->op() == Op::Stage ? NodeList{} : node->src();
        });
        for (const Node* node : computed) EXPECT_FALSE(slow.contains(node->op())) << power;
      }
    EXPECT_EQ(maxima, 1);
    EXPECT_GT(slow_ops, 0);
  }
}

}  // namespace
}  // namespace weft
