// Lengths that change from run to run are sizes of one plan that are open.

#include <functional>

#include <weft/dev/engine/tuning.h>

#include "../tensor/tensor_test.h"

namespace weft {
namespace {

using Numbers = std::vector<float>;

Numbers numbers(std::int64_t count, const std::function<float(std::int64_t)>& at) {
  Numbers all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back(at(i));
  return all;
}

// 0, 1, 2 ... in memory that no plan computes.
Tensor counted(std::int64_t count) {
  return Tensor(numbers(count, [](std::int64_t i) { return static_cast<float>(i); }));
}

// How many plans the lengths take, each in turn, once.
std::size_t plans_of(std::int64_t first, std::int64_t last,
                     const std::function<void(std::int64_t)>& run) {
  const std::size_t before = count_plans();
  for (std::int64_t length = first; length <= last; ++length) run(length);
  return count_plans() - before;
}

// The first two have plans of their own, the others one for all from behind a power of two up to the next.
TEST(OpenLengths, OnePlanServesThoseBetweenPowersOfTwo) {
  const auto run = [](std::int64_t n) {
    const Numbers expected = numbers(n, [](std::int64_t i) { return static_cast<float>(i + 7); });
    EXPECT_TRUE(holds<float>(counted(n) + 7.f, expected, {n}));
  };
  EXPECT_EQ(plans_of(33, 34, run), 2U);
  EXPECT_EQ(plans_of(35, 64, run), 1U);
  EXPECT_EQ(plans_of(65, 128, run), 1U);
  const Context each{{"LENGTHS", 0}};
  EXPECT_EQ(plans_of(70, 79, run), 10U);
}

// Of a table that ends before the next power of two, and from where one length begins to where another ends.
TEST(OpenLengths, SlicesStayInside) {
  const Context checked{{"VALIDATE", 1}};
  const Tensor table = counted(1000).realize();
  const auto from = [](std::int64_t first) {
    return [=](std::int64_t i) { return 3 * static_cast<float>(first + i); };
  };
  const auto begin = [&](std::int64_t n) {
    EXPECT_TRUE(holds<float>(table[Slice{.stop = n}] * 3.f, numbers(n, from(0)), {n}));
  };
  EXPECT_EQ(plans_of(598, 599, begin), 2U);
  EXPECT_EQ(plans_of(600, 640, begin), 1U);
  EXPECT_EQ(plans_of(990, 999, begin), 2U);  // to 992, and on
  const auto end = [&](std::int64_t n) {
    EXPECT_TRUE(
        holds<float>(table[Slice{.start = 1000 - n}] * 3.f, numbers(n, from(1000 - n)), {n}));
  };
  EXPECT_LE(plans_of(20, 31, end), 3U);
  const auto window = [&](std::int64_t n) {
    const std::int64_t first = n * n % 97, size = 2 + n * 13 % 31;
    const Tensor slice = table[Slice{.start = 900 + first,
                                     .stop = std::min<std::int64_t>(1000, 900 + first + size)}];
    const std::int64_t count = slice.size(0);
    EXPECT_TRUE(holds<float>(slice * 3.f, numbers(count, from(900 + first)), {count}));
  };
  plans_of(1, 15, window);
}

TEST(OpenLengths, ALengthThatComesOftenHasItsOwnPlan) {
  const auto run = [](std::int64_t n) { (void)(counted(n) * 9.f + 11.f).to_vector<float>(); };
  const std::int64_t long_enough = 300'000;
  EXPECT_EQ(plans_of(long_enough, long_enough + 3, run), 3U);
  std::size_t own = 0;
  for (int i = 0; i < 30; ++i) own += plans_of(long_enough + 3, long_enough + 3, run);
  EXPECT_EQ(own, 1U);
}

// Twice as long, longer by three, and the product of two lengths.
TEST(OpenLengths, SizesFollowFromOthers) {
  const auto run = [](std::int64_t n) {
    const std::int64_t m = n / 2 + 1;
    const Tensor x = counted(n), y = counted(m);
    const Tensor twice = Tensor::cat({x, x}) + 1.f;
    EXPECT_TRUE(holds<float>(
        twice, numbers(2 * n, [&](std::int64_t i) { return static_cast<float>(i % n + 1); }),
        {2 * n}));
    const Tensor padded = x.pad({{1, 2}}) - 1.f;
    EXPECT_TRUE(holds<float>(
        padded,
        numbers(n + 3,
                [&](std::int64_t i) { return i < 1 || i > n ? -1.f : static_cast<float>(i - 2); }),
        {n + 3}));
    const Tensor table = (x.reshape({n, 1}) * 10.f + y).reshape({n * m});
    EXPECT_TRUE(holds<float>(
        table,
        numbers(n * m, [&](std::int64_t i) { return static_cast<float>(i / m * 10 + i % m); }),
        {n * m}));
    const auto sum = static_cast<float>(n * (n - 1) / 2);
    EXPECT_TRUE(holds<float>(x.sum(), {sum}, {}));
    EXPECT_TRUE(holds<float>(x.mean(), {sum / static_cast<float>(n)}, {}));
    EXPECT_TRUE(holds<float>(x.reshape({1, 1, n}).conv1d(Tensor::ones({1, 1, 3})).sum(),
                             {3 * sum - static_cast<float>(3 * n - 3)}, {}));
    EXPECT_TRUE(holds<float>(x.flip(0).cumsum(0)[n - 1], {sum}, {}));
    EXPECT_TRUE(holds<std::int64_t>(x.argmax(), {n - 1}, {}));
  };
  // Those of x take 7 plans each; how a scan runs and which m an n has depends on the length.
  EXPECT_LE(plans_of(5, 70, run), 2 * 66 + 7U * 8);
}

TEST(OpenLengths, CostsAreThoseOfTheLength) {
  const std::size_t before = count_plans();
  for (std::int64_t n = 33; n < 40; ++n) {
    const Tensor y = counted(n) / 3.f;
    EXPECT_EQ(y.cost().result_bytes, static_cast<std::size_t>(4 * n));
  }
  EXPECT_EQ(count_plans() - before, 7U);
}

// As n + n and as 2 n, of a value that two kernels take.
TEST(OpenLengths, ASizeMayBeWrittenInTwoWays) {
  const Context opened{{"LENGTHS", 2}, {"SPEC", 1}};
  const Tensor x = counted(3), both = Tensor::cat({x, x}), two = Tensor({2.f}).reshape({});
  const Tensor half = both / two, sum = both.matmul(half);
  Tensor::realize({half, sum});
  EXPECT_TRUE(holds<float>(half, {0, 0.5, 1, 0, 0.5, 1}, {6}));
  EXPECT_TRUE(holds<float>(sum, {5}, {}));
}

// What was concluded of the first runs is wrong for the later ones.
TEST(OpenLengths, WhatChangesOtherwiseIsFoundOut) {
  const std::pair<std::int64_t, std::int64_t> sizes[] = {{4, 4}, {5, 5}, {6, 6},  {6, 7},  {9, 7},
                                                         {8, 2}, {2, 8}, {16, 3}, {5, 10}, {7, 14}};
  for (int round = 0; round < 3; ++round)
    for (const auto& [n, m] : sizes) {
      const Tensor table = counted(n).reshape({n, 1}) * 100.f + counted(m);
      EXPECT_TRUE(holds<float>(table,
                               numbers(n * m,
                                       [width = m](std::int64_t i) {
                                         return static_cast<float>(i / width * 100 + i % width);
                                       }),
                               {n, m}));
    }
}

// A step of training: gradients and writes over batches of any size.
TEST(OpenLengths, WritesGoWhereTheyShould) {
  Tensor weight = Tensor({1.f, 2.f}), total = Tensor::zeros({2}).clone();
  weight.set_requires_grad();
  Numbers expected{0, 0};
  for (std::int64_t n = 3; n < 40; ++n) {
    const Tensor x = counted(2 * n).reshape({n, 2});
    total.assign(total + (x * weight).sum().gradient({weight})[0]);
    for (std::int64_t i = 0; i < 2 * n; ++i)
      expected[static_cast<std::size_t>(i % 2)] += static_cast<float>(i);
    EXPECT_TRUE(holds<float>(total, expected, {2}));
  }
}

// Of a view of memory that is there, which no kernel computes, too.
TEST(OpenLengths, ResultsHaveNumbersAsSizes) {
  for (std::int64_t n = 10; n < 20; ++n) {
    const Tensor y = (counted(n) + 1.f).realize();
    EXPECT_FALSE(y.uop()->dims()[0]->bounds().lo != n || y.uop()->dims()[0]->bounds().hi != n);
    EXPECT_TRUE(holds<float>(y.reshape({n, 1}).expand({n, 2}).sum(0)[0],
                             {static_cast<float>(n * (n + 1) / 2)}, {}));
  }
}

TEST(OpenLengths, WhatACallIsRecordedWithStays) {
  std::int64_t n = 3;
  auto ones = jit([&](const Tensor& x) { return x + Tensor::ones({n}).sum(); });
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(holds<float>(ones(Tensor({1.f})), {4}, {1}));
}

}  // namespace
}  // namespace weft
