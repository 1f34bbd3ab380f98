// What a kernel fills memory of its own with.

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <weft/dev/ir/below.h>
#include <weft/dev/ir/graph.h>
#include <weft/functional.h>
#include <weft/weft.h>

#include "../support/planned.h"

namespace weft {
namespace {

Tensor normal(const Shape& shape) { return Tensor::randn(shape).realize(); }

// A square image in f64, with nothing around it.
struct Image {
  std::int64_t channels, side;
  std::vector<double> values;

  explicit Image(const Tensor& x)
      : channels(x.size(1)), side(x.size(2)), values(x.to_vector<double>()) {}
  Image(std::int64_t of_channels, std::int64_t of_side) : channels(of_channels), side(of_side) {}

  double at(std::int64_t channel, std::int64_t row, std::int64_t column) const {
    if (std::min(row, column) < 0 || std::max(row, column) >= side) return 0;
    return values[static_cast<std::size_t>((channel * side + row) * side + column)];
  }
};

// As a convolution is defined; its output is as large for each stride.
Image convolved(const Image& x, const Tensor& filter, const Tensor& bias, std::int64_t stride = 1) {
  const std::vector<double> weights = filter.to_vector<double>(), added = bias.to_vector<double>();
  const std::int64_t inputs = filter.size(1), window = filter.size(2), around = window / 2;
  const std::int64_t groups = x.channels / inputs, taps = inputs * window * window;
  Image result(filter.size(0), x.side / stride);
  const std::int64_t area = result.side * result.side;
  for (std::int64_t at = 0; at < result.channels * area; ++at) {
    const std::int64_t channel = at / area, first = channel * groups / result.channels * inputs;
    const std::int64_t row = at % area / result.side * stride - around,
                       column = at % result.side * stride - around;
    double sum = added[static_cast<std::size_t>(channel)];
    for (std::int64_t tap = 0; tap < taps; ++tap)
      sum +=
          weights[static_cast<std::size_t>(channel * taps + tap)] *
          x.at(first + tap / window / window, row + tap / window % window, column + tap % window);
    result.values.push_back(sum);
  }
  return result;
}

Image clipped(Image x) {
  for (double& value : x.values) value = std::max(value, 0.0);
  return x;
}

void expect_near(const std::vector<float>& values, const Image& expected) {
  ASSERT_EQ(values.size(), expected.values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_NEAR(values[i], expected.values[i], 1e-4) << "at " << i;
}

// Each element of a window would compute it again, with a mask for the padding.
TEST(Staged, SumsAreHeldWithWhatFollowsThem) {
  const Tensor image = normal({1, 16, 64, 64}), filter = normal({96, 16, 1, 1}),
               bias = normal({96}), own_filter = normal({96, 1, 3, 3}), own_bias = normal({96});
  const Tensor tensor =
      image.conv2d(filter, bias)
          .relu()
          .conv2d(own_filter, own_bias, {.groups = 96, .stride = 2, .padding = 1});
  Planned planned(tensor, [](const UOp&, Symbol) { return std::optional<double>(); });
  ASSERT_EQ(planned.plan().steps.size(), 1U);
  std::size_t stages = 0;
  for (const Node* node : toposort(planned.plan().steps[0].kernel.node())) {
    if (node->op() != Op::Stage) continue;
    ++stages;
    EXPECT_NE(node->src(0)->op(), Op::Reduce);
  }
  EXPECT_EQ(stages, 1U);
  const Image between = clipped(convolved(Image(image), filter, bias));
  expect_near(planned.values(), convolved(between, own_filter, own_bias, 2));
}

// A product of its own adds the bias, and no map of it is filled once more for the windows.
TEST(Staged, WhatFollowsSumsOfAnotherKernelGoesWithThem) {
  const Tensor image = normal({1, 64, 80, 80}), filter = normal({64, 64, 1, 1}),
               bias = normal({64}), own_filter = normal({64, 1, 3, 3}), own_bias = normal({64});
  const Tensor tensor =
      image.conv2d(filter, bias).conv2d(own_filter, own_bias, {.groups = 64, .padding = 1});
  Planned planned(tensor, [](const UOp&, Symbol) { return std::optional<double>(); });
  ASSERT_EQ(planned.plan().steps.size(), 2U);
  for (const Step& step : planned.plan().steps)
    for (const Node* node : toposort(step.kernel.node())) EXPECT_NE(node->op(), Op::Stage);
  const Image between = convolved(Image(image), filter, bias);
  expect_near(planned.values(), convolved(between, own_filter, own_bias));
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

// A pointwise convolution reads each value for all of its outputs: where there are many, memory is cheaper.
TEST(Staged, FewSumsAreHeldForTheProductBehindThem) {
  for (const auto& [channels, outputs, steps] : {std::tuple{16, 96, 1U}, {96, 24, 2U}}) {
    const Tensor image = normal({1, channels, 7, 7}), own_filter = normal({channels, 1, 3, 3}),
                 own_bias = normal({channels}), filter = normal({outputs, channels, 1, 1}),
                 bias = normal({outputs});
    const Tensor tensor = image.conv2d(own_filter, own_bias, {.groups = channels, .padding = 1})
                              .relu()
                              .conv2d(filter, bias);
    Planned planned(tensor, [](const UOp&, Symbol) { return std::optional<double>(); });
    ASSERT_EQ(planned.plan().steps.size(), steps);
    const auto nodes = toposort(planned.plan().steps[0].kernel.node());
    EXPECT_EQ(std::ranges::count(nodes, Op::Stage, &Node::op), steps == 1 ? 1 : 0);
    const Image between = clipped(convolved(Image(image), own_filter, own_bias));
    expect_near(planned.values(), convolved(between, filter, bias));
  }
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

// One part is read in half of the loop's iterations: in the others it has no elements.
TEST(Staged, PartsOfWhatIsJoinedAreFilledWhereTheyAre) {
  const Context one_by_one{{"LOOPS", 0}};
  constexpr std::size_t rows = 2, columns = 4;
  const Tensor x = normal({rows, columns}), w = normal({columns, columns});
  const auto step = [&](const std::vector<double>& state) {
    const std::vector<double> weights = w.to_vector<double>();
    std::vector<double> next(state.size());
    for (std::size_t i = 0; i < next.size(); ++i) {
      for (std::size_t k = 0; k < columns; ++k)
        next[i] += state[i / columns * columns + k] * weights[k * columns + i % columns];
      next[i] = std::tanh(next[i]);
    }
    return next;
  };
  Tensor h = x.to("INTERP").cast(dtypes::f64), between;
  const Tensor factor = w.to("INTERP").cast(dtypes::f64);
  std::vector<double> state = x.to_vector<double>(), middle;
  for (int i = 0; i < 20; ++i) {
    if (i == 10) between = h, middle = state;
    h = h.matmul(factor).tanh();
    state = step(state);
  }
  state.insert(state.end(), middle.begin(), middle.end());
  const auto values = Tensor::cat({h, between}).to_vector<double>();
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], state[i], 1e-9);
}

}  // namespace
}  // namespace weft
