// What is known of memory before anything runs, beside what the device then counts.

#include <gtest/gtest.h>
#include <weft/dev/device/device.h>
#include <weft/jit.h>
#include <weft/nn.h>
#include <weft/settings.h>
#include <weft/tensor.h>

namespace weft {
namespace {

// Bytes that were allocated on top of what was there.
template <class F>
std::size_t peak_of(F&& run) {
  Device& device = find_device("CPU");
  device.forget_peak();
  const std::size_t before = device.memory_use().bytes;
  run();
  return device.memory_use().peak - before;
}

Tensor chain(Tensor x, int length) {
  for (int i = 0; i < length; ++i) x = (x.matmul(x) * 0.01).contiguous();
  return x;
}

TEST(Memory, OfARunIsKnownBefore) {
  const Context one_by_one{{"LOOPS", 0}};
  const Tensor x = Tensor::rand({50, 50}).realize();
  const Tensor result = chain(x, 12).sum(0);
  const RunCost cost = result.cost();
  EXPECT_GE(cost.kernels, 12U);
  EXPECT_EQ(cost.result_bytes, 50U * 4);
  EXPECT_GE(cost.flops, 12 * 2.0 * 50 * 50 * 50);
  EXPECT_EQ(peak_of([&] { result.realize(); }), cost.peak_bytes());
  EXPECT_EQ(result.cost().kernels, 0U) << "it is there";
}

TEST(Memory, ChainsTakeTwoOfTheirLinks) {
  const Context one_by_one{{"LOOPS", 0}};
  const RunCost cost = chain(Tensor::rand({64, 64}).realize(), 12).sum().cost();
  EXPECT_EQ(cost.own_bytes, cost.least_bytes);
  EXPECT_EQ(cost.least_bytes, 2U * 64 * 64 * 4);
}

TEST(Memory, OfATrainingStepIsKnownBefore) {
  nn::Linear first(30, 40), second(40, 3);
  Tensor::realize(get_parameters(std::pair(first, second)));
  const Tensor x = Tensor::rand({20, 30}).realize();
  const Tensor loss = second(first(x).relu()).square().mean();
  loss.backward();
  std::vector<Tensor> wanted{loss};
  for (const Tensor& parameter : get_parameters(std::pair(first, second)))
    wanted.push_back(parameter.grad());
  const RunCost cost = Tensor::cost(wanted);
  EXPECT_EQ(cost.result_bytes, 4U * (1 + 30 * 40 + 40 + 40 * 3 + 3));
  EXPECT_EQ(peak_of([&] { Tensor::realize(wanted); }), cost.peak_bytes());
}

// Three products in one kernel: what each of them sums in parts is more than a third of what there is.
TEST(Memory, NestsOfAKernelShareItsScratch) {
  const Tensor x = Tensor::rand({1, 1024, 14, 14}).realize();
  const std::vector<Tensor> weights{Tensor::randn({512, 1024, 1, 1}),
                                    Tensor::randn({512, 512, 3, 3}),
                                    Tensor::randn({64, 512, 1, 1})};
  Tensor::realize(weights);
  const auto block = [&](bool in_one) {
    Tensor y = (x.conv2d(weights[0]) * 0.03).relu();
    y = ((in_one ? y : y.realize()).conv2d(weights[1], {}, 1, 2, 1, 1) * 0.01).relu();
    return (in_one ? y : y.realize()).conv2d(weights[2]) * 0.04;
  };
  const Tensor once = block(true).realize();
  EXPECT_TRUE(once.allclose(block(false), 1e-4, 1e-4));
}

TEST(Memory, ReplayedCallsAllocateNothing) {
  nn::Linear layer(30, 30);
  auto f = jit([&](const Tensor& x) { return chain(layer(x).relu(), 3); });
  const Tensor x = Tensor::rand({30, 30}).realize();
  for (int i = 0; i < 3; ++i) f(x);
  const std::size_t before = find_device("CPU").memory_use().allocations;
  for (int i = 0; i < 20; ++i) f(x);
  EXPECT_EQ(find_device("CPU").memory_use().allocations, before);
  Tensor last;
  for (int i = 0; i < 3; ++i) last = f(x);  // the last one is held during the call
  const std::size_t held = find_device("CPU").memory_use().allocations;
  for (int i = 0; i < 20; ++i) last = f(x);
  EXPECT_EQ(find_device("CPU").memory_use().allocations, held);
}

}  // namespace
}  // namespace weft
