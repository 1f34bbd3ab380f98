// What is computed again rather than kept: less memory, the same values, and no more time than it may cost.

#include <functional>

#include <gtest/gtest.h>
#include <weft/settings.h>
#include <weft/weft.h>

namespace weft {
namespace {

constexpr std::int64_t size = 256;
constexpr std::size_t matrix = std::size_t{size} * size * 4;
constexpr std::size_t layers = 8;
constexpr int whatever_it_costs = 1'000'000;

using Build = std::function<std::vector<Tensor>()>;

Tensor square() { return (Tensor::randn({size, size}) / 16).realize(); }

std::vector<Tensor> squares() {
  std::vector<Tensor> list;
  for (std::size_t i = 0; i < layers; ++i) list.push_back(square());
  return list;
}

RunCost cost(const Build& program, int percent) {
  const Context context{{"RECOMPUTE", percent}};
  return Tensor::cost(program());
}

void expect_equal_values(const Build& program, int percent) {
  const auto values = [&](int allowed) {
    const Context context{{"RECOMPUTE", allowed}};
    std::vector<Tensor> results = program();
    Tensor::realize(results);
    return results;
  };
  const std::vector<Tensor> kept = values(0), again = values(percent);
  for (std::size_t i = 0; i < kept.size(); ++i)
    EXPECT_TRUE(again[i].allclose(kept[i], 1e-4, 1e-5)) << i;
}

// Each layer keeps what it has summed, and what the next one multiplies: one follows from the other.
TEST(Rematerialized, WhatFollowsFromWhatIsKept) {
  const Tensor x = square();
  const std::vector<Tensor> weights = squares();
  const Build program = [&] {
    Tensor h = x;
    for (const Tensor& weight : weights) h = h.matmul(weight).gelu();
    return h.square().mean().gradient(weights);
  };
  const RunCost kept = cost(program, 0), again = cost(program, 3);
  EXPECT_GE(kept.own_bytes, 2 * (layers - 1) * matrix);
  EXPECT_LE(again.own_bytes, (layers + 4) * matrix);
  EXPECT_LE(again.flops, 1.03 * kept.flops);
  EXPECT_LE(again.kernels, kept.kernels + layers);
  expect_equal_values(program, 3);
}

// Each sum is made of the one before: all of them again would be there at one time.
TEST(Rematerialized, ChainsInParts) {
  const Tensor x = square();
  const std::vector<Tensor> weights = squares();
  const Build program = [&] {
    Tensor h = x;
    for (const Tensor& weight : weights) h = h + (h + 1).exp().matmul(weight).contiguous().sin();
    return h.square().mean().gradient(weights);
  };
  EXPECT_LT(cost(program, 10).own_bytes, cost(program, 0).own_bytes);
  expect_equal_values(program, 10);
  expect_equal_values(program, whatever_it_costs);
}

TEST(Rematerialized, NotWhatIsDear) {
  const Tensor x = square();
  const std::vector<Tensor> weights = squares();
  const Build program = [&] {
    Tensor h = x;
    for (const Tensor& weight : weights) h = h.matmul(weight);
    return h.sum().gradient(weights);
  };
  const RunCost kept = cost(program, 0), again = cost(program, 3);
  EXPECT_EQ(again.own_bytes, kept.own_bytes);
  EXPECT_EQ(again.kernels, kept.kernels);
}

TEST(Rematerialized, NotForNothing) {
  const Tensor x = square(), w = square();
  const Build program = [&] { return std::vector{x.exp().matmul(w).exp().matmul(w)}; };
  const RunCost kept = cost(program, 0), again = cost(program, whatever_it_costs);
  EXPECT_EQ(again.kernels, kept.kernels);
  EXPECT_EQ(again.flops, kept.flops);
}

// The memory that a value is made of is assigned to while the value is kept.
TEST(Rematerialized, NotOfWhatIsOverwritten) {
  for (const int percent : {0, whatever_it_costs}) {
    const Context context{{"RECOMPUTE", percent}};
    Tensor memory = square().clone().realize();
    const Tensor before = memory.clone().realize(), w = square();
    const Tensor kept = memory.exp().contiguous();
    const Tensor early = kept.matmul(w).contiguous();
    memory.assign(memory * 0.5 + early);
    const Tensor late = memory.matmul(w).contiguous().sin().contiguous().T().matmul(kept);
    Tensor::realize({late, memory});
    const Tensor expected = before * 0.5 + before.exp().matmul(w);
    EXPECT_TRUE(memory.allclose(expected, 1e-4, 1e-4));
    EXPECT_TRUE(late.allclose(expected.matmul(w).sin().T().matmul(before.exp()), 1e-3, 1e-3));
  }
}

}  // namespace
}  // namespace weft
