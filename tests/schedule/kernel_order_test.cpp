// Which kernel goes next.

#include "../../src/schedule/fusion/kernel_order.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace weft {
namespace {

using Order = std::vector<std::size_t>;

TEST(RunOrder, IsThatOfTheProgramWhereNothingIsFreed) {
  EXPECT_EQ(kernel_order({{2, {}, {0}, {}}, {0, {}, {1}, {}}, {1, {}, {2}, {}}}, {8, 8, 8}),
            (Order{1, 2, 0}));
}

// Two large values are each made small. Made by turns, only one is there at a time.
TEST(RunOrder, WhatFreesMemoryGoesFirst) {
  const std::vector<OrderedKernel> kernels{
      {0, {}, {0}, {2}}, {1, {}, {1}, {3}}, {2, {0}, {2}, {}}, {3, {1}, {3}, {}}};
  EXPECT_EQ(kernel_order(kernels, {1000, 1000, 4, 4}), (Order{0, 2, 1, 3}));
  EXPECT_EQ(kernel_order(kernels, {0, 0, 4, 4}), (Order{0, 1, 2, 3})) << "what stays frees nothing";
}

// A chain of values, each as large as what it makes superfluous, and what only frees.
TEST(RunOrder, WhatFreesMoreGoesBeforeWhatFreesAsMuch) {
  const std::vector<OrderedKernel> kernels{{0, {}, {0, 1, 2, 3}, {1, 2, 3}},
                                           {1, {0, 2}, {4}, {3}},
                                           {5, {0, 1}, {5}, {}},
                                           {2, {3, 4}, {6}, {}}};
  EXPECT_EQ(kernel_order(kernels, {8, 8, 8, 8, 8, 0, 8}), (Order{0, 2, 1, 3}));
}

// Value 0 has two readers: only the second frees it.
TEST(RunOrder, TheLastReaderFreesAValue) {
  const std::vector<OrderedKernel> kernels{
      {0, {}, {0}, {1, 3}}, {1, {0}, {1}, {}}, {2, {}, {2}, {}}, {3, {0}, {3}, {}}};
  EXPECT_EQ(kernel_order(kernels, {100, 8, 8, 8}), (Order{0, 1, 3, 2}));
}

TEST(RunOrder, WaitsAsItIsTold) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::size_t end) {
      return std::uniform_int_distribution<std::size_t>(0, end - 1)(random);
    };
    const std::size_t count = 2 + below(40);
    std::vector<OrderedKernel> kernels(count);
    std::vector<std::size_t> bytes;
    for (std::size_t k = 0; k < count; ++k) {
      bytes.push_back(below(100));
      kernels[k] = {below(1000), {}, {k}, {}};
      for (std::size_t from = 0; from < k; ++from) {
        if (below(4) > 0) continue;
        kernels[from].next.push_back(k);
        if (below(2) > 0) kernels[k].reads.push_back(from);
      }
    }
    const Order order = kernel_order(kernels, bytes);
    ASSERT_EQ(order.size(), count) << seed;
    for (std::size_t k = 0; k < count; ++k)
      for (std::size_t after : kernels[k].next)
        EXPECT_LT(std::ranges::find(order, k), std::ranges::find(order, after)) << seed;
  }
}

TEST(RunOrder, LeavesOutWhatWaitsForItself) {
  EXPECT_EQ(kernel_order({{0, {}, {0}, {1}}, {1, {}, {1}, {0}}}, {8, 8}).size(), 0U);
}

}  // namespace
}  // namespace weft
