// Constants: kernels keep what they read of them in an order of their own.

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <weft/dev/device/device.h>
#include <weft/jit.h>
#include <weft/settings.h>
#include <weft/weft.h>

namespace weft {
namespace {

Tensor random(const Shape& shape) { return Tensor::randn(shape).realize(); }

struct Case {
  std::int64_t rows, inner, columns;
};

class Frozen : public testing::TestWithParam<Case> {};

TEST_P(Frozen, GivesTheSameValues) {
  const auto [rows, inner, columns] = GetParam();
  const Tensor x = random({rows, inner}), w = random({inner, columns});
  const Tensor v = random({columns, inner});
  const Tensor expected = x.matmul(w).realize(), turned = x.matmul(v.transpose()).realize();
  Tensor frozen = w.clone(), other = v.clone();
  frozen.freeze();
  other.freeze();
  EXPECT_TRUE(x.matmul(frozen).allclose(expected, 1e-4, 1e-4));
  EXPECT_TRUE(x.matmul(other.transpose()).allclose(turned, 1e-4, 1e-4));
}

INSTANTIATE_TEST_SUITE_P(Products, Frozen,
                         testing::Values(Case{1, 256, 200}, Case{7, 33, 5}, Case{64, 96, 128},
                                         Case{49, 300, 100}, Case{250, 128, 250}, Case{3, 2, 2}));

TEST(Freeze, OfFiltersOfConvolutions) {
  for (const std::int64_t groups : {1, 2, 16}) {
    const Tensor x = random({2, 16, 14, 11}), w = random({48, 16 / groups, 3, 3}), b = random({48});
    const ConvOptions options{.groups = groups, .padding = 1};
    const Tensor expected = x.conv2d(w, b, options).realize();
    Tensor frozen = w.clone();
    frozen.freeze();
    EXPECT_TRUE(x.conv2d(frozen, b, options).allclose(expected, 1e-4, 1e-4)) << groups;
  }
}

TEST(Freeze, IsKeptOnceForEachConstant) {
  Tensor w = random({512, 512}), v = random({512, 512});
  w.freeze();
  v.freeze();
  const Device& device = find_device(w.device());
  const auto allocations = [&](const Tensor& weight) {
    const Tensor x = random({64, 512});
    const std::size_t before = device.memory_use().allocations;
    x.matmul(weight.transpose()).realize();
    return device.memory_use().allocations - before;
  };
  const std::size_t first = allocations(w), again = allocations(w), other = allocations(v);
  EXPECT_LT(again, first);
  EXPECT_EQ(other, first);
  EXPECT_EQ(allocations(v), again);
}

// What a kernel has packed needs the constant itself no more.
TEST(Freeze, RecipesMakeNoMemoryThatStays) {
  const std::vector<float> values = random({512, 512}).to_vector<float>();
  const auto fill = [&](std::span<std::byte> bytes) {
    std::memcpy(bytes.data(), values.data(), bytes.size());
  };
  Tensor w = Tensor::from_recipe(fill, {512, 512}), same(values);
  w.freeze();
  same = same.reshape({512, 512}).clone().realize();
  const Tensor x = random({64, 512});
  const Tensor expected = x.matmul(same.transpose()).realize();
  const Device& device = find_device(w.device());
  const std::size_t before = device.memory_use().bytes;
  EXPECT_TRUE(x.matmul(w.transpose()).allclose(expected, 1e-4, 1e-4));
  EXPECT_LT(device.memory_use().bytes - before, std::size_t{3} * 512 * 512 * 4 / 2);
}

TEST(Freeze, AssignmentTakesOtherMemory) {
  const Tensor x = random({32, 64});
  Tensor w = random({64, 64});
  w.freeze();
  const Tensor before = x.matmul(w).realize();
  const Tensor next = random({64, 64});
  w.assign(next);
  EXPECT_TRUE(x.matmul(w).allclose(x.matmul(next), 1e-4, 1e-4));
  w += 1;
  EXPECT_TRUE(x.matmul(w).allclose(x.matmul(next + 1), 1e-4, 1e-4));
  EXPECT_FALSE(before.allclose(x.matmul(w), 1e-4, 1e-4));
}

TEST(Freeze, CapturedCallsSeeAssignments) {
  Tensor w = random({64, 64});
  w.freeze();
  auto step = jit([&](const Tensor& x) { return x.matmul(w.transpose()); });
  const auto expect_product = [&] {
    const Tensor x = random({32, 64});
    const Tensor expected = x.matmul(w.clone().transpose()).realize();
    EXPECT_TRUE(step(x).allclose(expected, 1e-4, 1e-4));
  };
  for (int call = 0; call < 3; ++call) expect_product();
  w.assign(random({64, 64})).realize();
  for (int call = 0; call < 2; ++call) expect_product();
  for (int call = 0; call < 3; ++call) {  // in place by now
    (w += 1).realize();
    expect_product();
  }
}

// Calls that were captured before write where the constant lies.
TEST(Freeze, CapturedCallsThatWriteAreSeen) {
  Tensor w = random({64, 64});
  auto train = jit([&](const Tensor& by) {
    w += by;
    return w.sum();
  });
  const Tensor one = Tensor::ones({1}).realize();
  for (int call = 0; call < 3; ++call) train(one).realize();
  w.freeze();
  auto step = jit([&](const Tensor& x) { return x.matmul(w.transpose()); });
  for (int call = 0; call < 6; ++call) {
    const Tensor x = random({32, 64});
    const Tensor expected = x.matmul(w.clone().realize().transpose()).realize();
    EXPECT_TRUE(step(x).allclose(expected, 1e-4, 1e-3)) << call;
    train(one).realize();
  }
}

// What is packed once is packed without the variable's value.
TEST(Freeze, IsReadWhereAVariableSays) {
  const UOp n = Variable("n", 0, 3);
  for (const auto& [rows, inner, columns] :
       {Case{64, 96, 128}, Case{1, 256, 200}, Case{8, 64, 64}}) {
    const Tensor x = random({rows, inner});
    Tensor w = random({4, inner, columns}), frozen = w.clone();
    frozen.freeze();
    auto step = jit([&](const Tensor& a, const Dim& at) { return a.matmul(frozen[at]); });
    for (std::int64_t i = 0; i < 4; ++i)
      EXPECT_TRUE(step(x, Dim(n.bind(i))).allclose(x.matmul(w[i]), 1e-4, 1e-3)) << rows << " " << i;
  }
}

TEST(Freeze, IsReadByThreads) {
  Tensor w = random({256, 256});
  w.freeze();
  const Tensor x = random({16, 256});
  const Tensor expected = x.matmul(w.clone().realize().transpose()).realize();
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, rows = 8 + 4 * i] {
      const Tensor part = x.shrink({{0, std::min(rows, 16)}, {0, 256}});
      const Tensor wanted = expected.shrink({{0, std::min(rows, 16)}, {0, 256}});
      right += part.matmul(w.transpose()).allclose(wanted, 1e-4, 1e-3) ? 1 : 0;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 4);
}

}  // namespace
}  // namespace weft
