// The order of dimensions of what lies between kernels: any is right, and the fastest by the model is taken.

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <weft/dev/base/hash.h>
#include <weft/dev/ir/graph.h>
#include <weft/settings.h>
#include <weft/weft.h>

#include "../support/planned.h"

namespace weft {
namespace {

// As good as random, but the same for the same kernel.
KernelSeconds by_hash(std::uint64_t seed) {
  return [seed](const UOp& kernel, Symbol) {
    const StructuralHash hash = structural_hash(nodes_of({&kernel, 1}));
    return static_cast<double>(hash_mix(hash.high, seed) % 1000);
  };
}

Tensor random(const Shape& shape) { return Tensor::randn(shape).realize(); }
// The same numbers, to compute with in f64.
Tensor wide(const Shape& shape) { return random(shape).to("INTERP").cast(dtypes::f64).realize(); }
using Inputs = Tensor (*)(const Shape& shape);

Tensor convolutions(Inputs input) {
  const Tensor x = input({2, 3, 12, 10});
  const Tensor first =
      x.conv2d(input({16, 3, 3, 3}), input({16}), {.padding = 1}).relu().contiguous();
  const Tensor inner = first.conv2d(input({16, 16, 3, 3}), {}, {.padding = 1}).relu().contiguous();
  const Tensor joined = inner.conv2d(input({16, 16, 1, 1})).contiguous() + first;
  const Tensor apart =
      joined.conv2d(input({16, 1, 3, 3}), {}, {.groups = 16, .stride = 2, .padding = 1})
          .contiguous();
  return apart.conv2d(input({24, 16, 1, 1})).max_pool2d(2);
}

Tensor heads(Inputs input) {
  const Tensor x = input({2, 12, 32});
  const auto part = [&] {
    return x.linear(input({32, 32})).reshape({2, 12, 4, 8}).transpose(1, 2).contiguous();
  };
  const Tensor scores = part().matmul(part().transpose(2, 3)).softmax(-1).contiguous();
  return scores.matmul(part())
      .contiguous()
      .transpose(1, 2)
      .reshape({2, 12, 32})
      .linear(input({32, 16}));
}

std::string text_of(const std::vector<BufferLayout>& layouts) {
  std::string text;
  for (const BufferLayout& layout : layouts)
    text += fmt::format("{} {}; ", layout.kernel.get(), fmt::join(layout.order, " "));
  return text;
}

class AnyOrder : public testing::TestWithParam<Tensor (*)(Inputs)> {};

TEST_P(AnyOrder, GivesTheSameValues) {
  const auto made = [](Inputs input) {
    Tensor::manual_seed(1);
    return GetParam()(input);
  };
  const Tensor tensor = made(random);
  const std::vector<double> expected = made(wide).to_vector<double>();
  double largest = 0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  std::set<std::string> turned;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Planned ordered(tensor, by_hash(seed));
    turned.insert(text_of(ordered.plan().layouts));
    const std::vector<float> values = ordered.values();
    ASSERT_EQ(values.size(), expected.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_NEAR(values[i], expected[i], 1e-5 * largest) << "at " << i << " with seed " << seed;
  }
  EXPECT_GT(turned.size(), 1U);  // not the same all the time
}

INSTANTIATE_TEST_SUITE_P(Orders, AnyOrder, testing::Values(convolutions, heads));

// The dimension along which its first STORE goes through memory.
std::int64_t last_size(const UOp& kernel) {
  for (const Node* node : toposort(kernel.node()))
    if (node->op() == Op::Store) return node->src(0)->src(0)->dims().back()->lo();
  return 0;
}

TEST(Orders, TheFastestIsTaken) {
  const Tensor x = random({1, 8, 20, 20});
  const Tensor y =
      x.conv2d(random({16, 8, 3, 3})).relu().contiguous().conv2d(random({24, 16, 1, 1}));
  // 16 channels lie together, of what the program does not see.
  const Planned ordered(
      y, [](const UOp& kernel, Symbol) { return last_size(kernel) == 16 ? 1.0 : 2.0; });
  ASSERT_EQ(ordered.plan().layouts.size(), 1U);
  const BufferLayout& layout = ordered.plan().layouts[0];
  EXPECT_EQ(layout.order.back(), 1);
  EXPECT_EQ(layout.seconds, 3);
  EXPECT_EQ(layout.seconds_as_made, 4);
}

// A time that is not known is none.
TEST(Orders, NoneIsTakenWhoseTimeIsNotKnown) {
  const Tensor x = random({1, 8, 20, 20});
  const Tensor y =
      x.conv2d(random({16, 8, 3, 3})).relu().contiguous().conv2d(random({24, 16, 1, 1}));
  const Planned ordered(y, [](const UOp& kernel, Symbol) {
    return last_size(kernel) == 16 ? std::nullopt : std::optional(1.0);
  });
  EXPECT_TRUE(ordered.plan().layouts.empty()) << text_of(ordered.plan().layouts);
}

TEST(Orders, WhatTheProgramSeesStays) {
  const Tensor y = random({1, 16, 20, 20}).conv2d(random({16, 16, 3, 3}));
  const Planned ordered(
      y, [](const UOp& kernel, Symbol) { return last_size(kernel) == 16 ? 1.0 : 2.0; });
  EXPECT_TRUE(ordered.plan().layouts.empty());
}

TEST(Orders, CanBeLeftAsTheGraphHasThem) {
  const auto turned = [](int layouts) {
    const Context context{{"LAYOUTS", layouts}};
    std::size_t count = 0;
    for (const std::int64_t side : {14, 28, 56}) {
      const auto layer = [](const Tensor& from) {
        return from.conv2d(random({64, 64, 3, 3}), {}, {.padding = 1}).relu();
      };
      count += layer(layer(layer(random({1, 64, side, side})))).cost().turned.size();
    }
    return count;
  };
  EXPECT_EQ(turned(0), 0U);
  EXPECT_GT(turned(1), 0U);
}

}  // namespace
}  // namespace weft
