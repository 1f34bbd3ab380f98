// What scheduling costs grows with the graph, and no faster; and what it finds is not lost in a large one.

#include <gtest/gtest.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/schedule/plan.h>
#include <weft/functional.h>
#include <weft/weft.h>

#include "../support/plan_for.h"

namespace weft {
namespace {

Tensor parameter(const Shape& shape) { return Tensor::empty(shape, {.requires_grad = true}); }

std::vector<Tensor> lstm_gradients(int steps) {
  const functional::CellWeights weights{.input = parameter({32, 8}),
                                        .hidden = parameter({32, 8}),
                                        .input_bias = parameter({32}),
                                        .hidden_bias = parameter({32})};
  functional::LstmState state{Tensor::empty({1, 8}), Tensor::empty({1, 8})};
  for (int step = 0; step < steps; ++step)
    state = functional::lstm_cell(Tensor::empty({1, 8}), state, weights);
  return state.h.square().sum().gradient(
      {weights.input, weights.hidden, weights.input_bias, weights.hidden_bias});
}

struct Made {
  double nodes, kernels;
};

// The nodes that scheduling makes count its work: every rewrite makes some.
Made planned(const std::vector<Tensor>& tensors) {
  Arena arena;
  const InternerScope scope(arena);
  const std::size_t before = arena.size();
  const Plan plan = plan_for(fixed_target(), tensors);
  return {static_cast<double>(arena.size() - before), static_cast<double>(plan.steps.size())};
}

TEST(LargeGraph, WorkIsLinearInTheStepsOfAnLstm) {
  const Made few = planned(lstm_gradients(32)), many = planned(lstm_gradients(256));
  EXPECT_LT(many.nodes, 1.2 * 8 * few.nodes);
  EXPECT_LT(many.kernels, 1.2 * 8 * few.kernels);
}

TEST(LargeGraph, MayBeAsDeepAsItIsLarge) {
  Tensor x = Tensor::empty({16});
  for (int i = 0; i < 10'000; ++i) x = (x + 1).exp2();
  const std::size_t kernels = x.schedule().size();
  EXPECT_GT(kernels, 1u);
  EXPECT_LE(kernels, 20u);
}

// Two kernels that share only a weight, behind so many others.
std::size_t kernels_behind(int others) {
  Tensor x = Tensor::empty({64, 64});
  const Tensor weight = Tensor::empty({64, 64});
  for (int i = 0; i < others; ++i) x = (x + 1).contiguous();
  const Tensor sum = x.sum({0}, true).contiguous();
  return Tensor::schedule({weight + x, weight * sum}).size();
}

TEST(LargeGraph, KernelsMergeHoweverMuchCameBefore) {
  EXPECT_EQ(kernels_behind(10), 12u);
  EXPECT_EQ(kernels_behind(600), 602u);
}

}  // namespace
}  // namespace weft
