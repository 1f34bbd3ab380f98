// What a kernel would fill memory of its own with gets a kernel where the model expects that to be faster, and the values
// are the same.

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <weft/dev/ir/graph.h>
#include <weft/weft.h>

#include "../../src/schedule/fusion/fission.h"
#include "../support/kernels.h"
#include "../support/planned.h"

namespace weft {
namespace {

Tensor drawn(const Shape& shape) { return Tensor::randn(shape).realize(); }
Tensor exact(const Tensor& x) { return x.to("INTERP").cast(dtypes::f64); }

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

Tensor filtered(const Tensor& x, const Tensor& filter, const Tensor& bias) {
  return x.conv2d(filter, bias, {.padding = 1}).relu();
}
Tensor pooled(const Tensor& x) {
  return x.max_pool2d(3, MaxPoolOptions{.stride = 2, .padding = 1});
}
// Small enough to be one kernel: a product of its own for each element of a window would be too much.
Tensor pooled() { return pooled(filtered(drawn({1, 3, 20, 20}), drawn({8, 3, 3, 3}), drawn({8}))); }

Tensor of_normalised_row(const Tensor& x, const Tensor& w) {
  return (x / (1 + x.square().sum())).gelu().matmul(w);
}

void expect_same(const std::vector<float>& values, const Tensor& in_f64) {
  const std::vector<double> expected = in_f64.to_vector<double>();
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_NEAR(values[i], expected[i], 1e-4 * (1 + std::abs(expected[i]))) << "at " << i;
}

TEST(StagesApart, GetMemoryWhereThatIsFaster) {
  const Tensor x = drawn({1, 3, 20, 20}), filter = drawn({8, 3, 3, 3}), bias = drawn({8});
  const Tensor tensor = pooled(filtered(x, filter, bias));
  Planned inside(tensor, taking(1e-3, 0.9e-3)), apart(tensor, taking(1e-3, 0.2e-3));
  ASSERT_EQ(with_stages(inside.plan()), 1U);
  EXPECT_EQ(with_stages(apart.plan()), 0U);
  EXPECT_EQ(apart.plan().steps.size(), inside.plan().steps.size() + 1);
  const Tensor expected = pooled(filtered(exact(x), exact(filter), exact(bias)).realize());
  expect_same(inside.values(), expected);
  expect_same(apart.values(), expected);
}

// A row that is normalised once, for all columns: the product is a kernel by itself.
TEST(StagesApart, GetMemoryForAsLongIfTheyAreFilledOnce) {
  const Tensor x = drawn({1, 64}), w = drawn({64, 256});
  const Tensor tensor = of_normalised_row(x, w);
  const auto seconds = [](double apart) {
    return [=](const UOp& kernel, Symbol) { return has_stage(kernel) ? 2e-3 : apart / 2; };
  };
  Planned inside(tensor, seconds(2.1e-3)), apart(tensor, seconds(2.02e-3));
  ASSERT_EQ(with_stages(inside.plan()), 1U);
  EXPECT_EQ(with_stages(apart.plan()), 0U);
  const Tensor expected = of_normalised_row(exact(x), exact(w));
  expect_same(inside.values(), expected);
  expect_same(apart.values(), expected);
}

TEST(StagesApart, StayWhereTheTimeIsNotKnown) {
  const KernelSeconds unknown = [](const UOp&, Symbol) { return std::optional<double>(); };
  EXPECT_EQ(with_stages(Planned(pooled(), unknown).plan()), 1U);
}

TEST(StagesApart, StayInWhatIsAsShortAsACall) {
  EXPECT_EQ(with_stages(Planned(pooled(), taking(1e-7, 1e-9)).plan()), 1U);
}

// Neighbours may want another order: kernels apart are seen in the one that they like.
TEST(StagesApart, GetMemoryWhereThatIsFasterInAnotherOrder) {
  const auto seconds = [](double turned) {
    return [=](const UOp& kernel, Symbol) {
      if (has_stage(kernel)) return 1e-3;
      const auto lies_along_channels = [](const Node* node) {
        return node->op() == Op::Param && node->arg<ParamArg>().access == Access::Write &&
               node->dims().back()->lo() == 8;
      };
      return std::ranges::any_of(toposort(kernel.node()), lies_along_channels) ? turned : 0.7e-3;
    };
  };
  const Tensor tensor = pooled();
  EXPECT_EQ(with_stages(Planned(tensor, seconds(0.6e-3)).plan()), 1U);
  EXPECT_EQ(with_stages(Planned(tensor, seconds(0.05e-3)).plan()), 0U);
}

// An element of it says where another is.
TEST(StagesApart, PlacesThatAreReadFromOneMoveWithIt) {
  Arena arena;
  const InternerScope scope(arena);
  const UOp i = range(8, fresh_id().value), own = range(8, fresh_id().value);
  const UOp k = range(4, fresh_id().value, LoopKind::Reduce);
  const UOp x = param(1, Access::Read, {size(8), size(4)}, dtypes::i32);
  const UOp stage = make(Op::Stage, {reduce(Op::Add, {load(place(x, {own, k})), k}), own}, {},
                         StageArg{fresh_id(), Space::Scratch, {}});
  const UOp at = cast(load(place(stage, {i})), dtypes::index);
  const UOp inside = (const_int(-1) < at) & (at < 8);
  const UOp out = place(param(0, Access::Write, {size(8)}, dtypes::i32), {i});
  Plan plan;
  for (const std::vector<UOp>& dims : {std::vector{size(8)}, {size(8), size(4)}})
    plan.slots.push_back({.buffer = make(Op::Buffer, dims, dtypes::i32, BufferArg{fresh_id()})});
  const UOp kernel = make(Op::Sink, {over(put(out, load(place(stage, {at}, inside))), {i})}, {},
                          KernelArg{Symbol("k")});
  plan.steps.push_back({.kernel = kernel, .device = Symbol("CPU"), .slots = {0, 1}, .work = {}});
  const KernelSeconds seconds = taking(1e-3, 1e-4);
  const Target target = fixed_target();
  KernelForms forms(seconds, target);
  split_kernels(plan, seconds, target, forms);
  ASSERT_EQ(plan.steps.size(), 2U);
  EXPECT_EQ(with_stages(plan), 0U);
}

// Attention: each score is of a row and a key, so memory for all of them grows with the square.
TEST(StagesApart, StayWhereTheyTakeMuchMoreMemoryThanTheRest) {
  const Tensor q = drawn({1, 2048, 16}), k = drawn({1, 2048, 16}), v = drawn({1, 2048, 16});
  const Tensor tensor = q.matmul(k.transpose(1, 2)).softmax(-1).matmul(v);
  EXPECT_EQ(with_stages(Planned(tensor, taking(1, 0.01)).plan()), 1U);
}

std::size_t sums_in(const UOp& kernel) {
  return static_cast<std::size_t>(std::ranges::count_if(
      toposort(kernel.node()), [](const Node* node) { return node->op() == Op::Reduce; }));
}

// Kernels of so many sums take that long.
KernelSeconds by_sums(double one, double two) {
  return [=](const UOp& kernel, Symbol) { return sums_in(kernel) > 1 ? two : one; };
}

// A gated layer: two products in one output.
TEST(ProductsApart, GetKernelsWhereThatIsFaster) {
  const Tensor x = drawn({48, 32}), up = drawn({32, 40}), gate = drawn({32, 40});
  const Tensor tensor = x.matmul(up) * x.matmul(gate).sigmoid();
  Planned together(tensor, by_sums(0.6e-3, 1e-3)), apart(tensor, by_sums(0.3e-3, 1e-3));
  EXPECT_EQ(together.plan().steps.size(), 1U);
  ASSERT_EQ(apart.plan().steps.size(), 2U);
  for (const Step& step : apart.plan().steps) EXPECT_EQ(sums_in(step.kernel), 1U);
  const Tensor expected =
      (exact(x).matmul(exact(up)) * exact(x).matmul(exact(gate)).sigmoid()).realize();
  expect_same(together.values(), expected);
  expect_same(apart.values(), expected);
}

// Two outputs of one input: fusion merges their kernels, since they read it both.
TEST(OutputsApart, GetKernelsWhereThatIsFaster) {
  const Tensor x = drawn({48, 32}), a = drawn({32, 40}), b = drawn({32, 40});
  const std::vector<Tensor> tensors{x.matmul(a).exp(), x.matmul(b).exp()};
  Planned together(tensors, by_sums(0.6e-3, 1e-3)), apart(tensors, by_sums(0.3e-3, 1e-3));
  EXPECT_EQ(together.plan().steps.size(), 1U);
  EXPECT_EQ(apart.plan().steps.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const Tensor expected = exact(x).matmul(exact(i == 0 ? a : b)).exp().realize();
    expect_same(together.values(i), expected);
    expect_same(apart.values(i), expected);
  }
}

}  // namespace
}  // namespace weft
