// Windows along axes whose size is open: what they see is what they see along an axis of that number.

#include <algorithm>
#include <functional>
#include <ostream>
#include <string>

#include <gtest/gtest.h>
#include <weft/functional.h>
#include <weft/weft.h>

#include "../support/errors.h"
#include "../support/open_sizes.h"

namespace weft {
namespace {

constexpr std::int64_t least_size = 5, most_size = 37;

Dim open_time(std::int64_t now, std::int64_t least = least_size) {
  return bound_size("time", least, most_size, now);
}

struct WindowCase {
  std::string name;
  std::vector<std::int64_t> shape;  // before the open axis
  std::function<Tensor(const Tensor&)> compute;
};

void PrintTo(const WindowCase& each, std::ostream* out) { *out << each.name; }

Tensor weight(const std::vector<std::int64_t>& shape) {
  Tensor::manual_seed(17);
  return (Tensor::rand(shape) - 0.5F).realize();
}

// Tensors are made when they are needed: what is alive as long as the list is would be in the way of other tests.
std::vector<WindowCase> window_cases() {
  return {
      {"conv", {2, 6}, [](const Tensor& x) { return x.conv1d(weight({4, 6, 3}), weight({4})); }},
      {"padded",
       {2, 6},
       [](const Tensor& x) { return x.conv1d(weight({4, 6, 3}), weight({4}), {.padding = 1}); }},
      {"same",
       {2, 6},
       [](const Tensor& x) {
         return x + x.conv1d(weight({6, 1, 5}), {}, {.groups = 6, .padding = "same"});
       }},
      {"uneven",
       {2, 6},
       [](const Tensor& x) { return x.conv1d(weight({4, 6, 3}), {}, {.padding = {{0, 3}}}); }},
      {"cut",
       {2, 6},
       [](const Tensor& x) { return x.conv1d(weight({4, 6, 3}), {}, {.padding = {{-1, -1}}}); }},
      {"stride",
       {2, 6},
       [](const Tensor& x) {
         return x.conv1d(weight({4, 6, 3}), {}, {.stride = 2, .padding = 1});
       }},
      {"far",
       {2, 6},
       [](const Tensor& x) { return x.conv1d(weight({4, 6, 1}), {}, {.stride = 4}); }},
      {"dilation",
       {2, 6},
       [](const Tensor& x) {
         return x.conv1d(weight({4, 6, 3}), {}, {.dilation = 2, .padding = 2});
       }},
      {"dilated steps",
       {2, 6},
       [](const Tensor& x) {
         return x.conv1d(weight({4, 6, 3}), {}, {.stride = 3, .dilation = 2, .padding = 2});
       }},
      {"groups",
       {2, 6},
       [](const Tensor& x) { return x.conv1d(weight({4, 3, 2}), {}, {.groups = 2}); }},
      {"plane",
       {1, 2, 4},
       [](const Tensor& x) {
         return x.conv2d(weight({4, 2, 3, 3}), weight({4}), {.stride = 2, .padding = 1});
       }},
      {"both axes",
       {1, 2},
       [](const Tensor& x) {
         const Tensor square = x.unsqueeze(3) * x.unsqueeze(2);
         return square.conv2d(weight({4, 2, 3, 3}), weight({4}), {.padding = 1}).sum(2);
       }},
      {"box",
       {1, 2, 3, 4},
       [](const Tensor& x) {
         return x.conv3d(weight({2, 2, 2, 2, 3}), {}, {.padding = {0, 0, 1}});
       }},
      {"layers",
       {2, 6},
       [](const Tensor& x) {
         const Tensor a =
             x.conv1d(weight({4, 6, 3}), weight({4}), {.stride = 2, .padding = 1}).relu();
         const Tensor b = a + a.conv1d(weight({4, 4, 3}), weight({4}), {.padding = 1}).relu();
         return b.conv1d(weight({4, 4, 3}), {}, {.stride = 2, .padding = 2});
       }},
      {"transposed",
       {2, 6},
       [](const Tensor& x) {
         return x.conv_transpose1d(weight({6, 4, 4}), weight({4}),
                                   {.stride = 2, .padding = 1, .output_padding = 1});
       }},
      {"transposed far",
       {2, 6},
       [](const Tensor& x) { return x.conv_transpose1d(weight({6, 4, 4}), {}, {.stride = 5}); }},
      {"transposed dilated",
       {2, 6},
       [](const Tensor& x) {
         return x.conv_transpose1d(weight({6, 4, 4}), {}, {.dilation = 2, .padding = 3});
       }},
      {"transposed dilated steps",
       {2, 6},
       [](const Tensor& x) {
         return x.conv_transpose1d(weight({6, 4, 4}), {},
                                   {.stride = 3, .dilation = 2, .padding = {{2, 1}}});
       }},
      {"max", {2, 3}, [](const Tensor& x) { return x.max_pool1d(2); }},
      {"max overlapping",
       {2, 3},
       [](const Tensor& x) { return x.max_pool1d(3, {.stride = 2, .padding = 1}); }},
      {"max up",
       {2, 3},
       [](const Tensor& x) {
         return x.max_pool1d(3, {.stride = 2, .padding = 1, .ceil_mode = true});
       }},
      {"max dilated",
       {2, 3},
       [](const Tensor& x) { return x.max_pool1d(2, {.stride = 1, .dilation = 3}); }},
      {"max indices",
       {2, 3},
       [](const Tensor& x) {
         return x.max_pool_with_indices({3}, {.stride = 2}).second.cast(dtypes::f32);
       }},
      {"mean",
       {2, 3},
       [](const Tensor& x) { return x.avg_pool1d(3, {.stride = 2, .padding = 1}); }},
      {"mean of elements",
       {2, 3},
       [](const Tensor& x) {
         return x.avg_pool1d(3, {.stride = 2, .padding = 1, .count_include_pad = false});
       }},
      {"mean up",
       {2, 3},
       [](const Tensor& x) {
         return x.avg_pool1d(4, {.stride = 3, .padding = 1, .ceil_mode = true});
       }},
      {"mean dilated",
       {2, 3},
       [](const Tensor& x) {
         return x.avg_pool1d(
             2, {.stride = 1, .dilation = 2, .padding = 1, .count_include_pad = false});
       }},
      {"norm", {2, 3}, [](const Tensor& x) { return functional::lp_pool1d(x, 2, 2, 2, true); }},
      {"unfold", {2, 3}, [](const Tensor& x) { return x.unfold(-1, 4, 2).sum(-1); }},
      {"repeat", {2, 3}, [](const Tensor& x) { return x.repeat({1, 1, 2}); }},
      {"pool of layers",
       {2, 6},
       [](const Tensor& x) {
         return x.conv1d(weight({4, 6, 3}), weight({4}), {.padding = 1})
             .relu()
             .max_pool1d(3, {.stride = 2, .padding = 1});
       }},
  };
}

class OpenWindows : public testing::TestWithParam<WindowCase> {};

TEST_P(OpenWindows, SeeWhatTheySeeAlongANumber) {
  const WindowCase& each = GetParam();
  std::vector<std::int64_t> shape = each.shape;
  shape.push_back(most_size);
  Tensor::manual_seed(5);
  const Tensor whole = (Tensor::rand(shape) - 0.5F).realize();
  const std::vector<std::int64_t> most = each.compute(whole).shape();
  for (const std::int64_t n : {5, 6, 7, 8, 16, 31, 36, 37}) {
    const Tensor found = each.compute(first(whole, open_time(n)));
    const Tensor expected = each.compute(first(whole, n));
    EXPECT_EQ(found.max_shape(), most);
    const std::vector<float> values = values_in_frame(found, most),
                             wanted = values_in_frame(expected, most);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      ASSERT_NEAR(values[i], wanted[i], 1e-5) << "of " << n << " at " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, OpenWindows, testing::ValuesIn(window_cases()),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           std::ranges::replace(name, ' ', '_');
                           return name;
                         });

// What comes back to a size is that size, so that it can be added.
TEST(OpenWindowSizes, AreAsOneWouldWriteThem) {
  const Dim n = open_time(9);
  const Tensor x = Tensor::zeros({1, 1, n});
  const auto size = [](const Tensor& y) { return y.dims()[2].uop(); };
  const Tensor w = weight({1, 1, 3});
  EXPECT_TRUE(size(x.conv1d(w, {}, {.padding = 1})).is(n.uop()));
  const Tensor half = x.conv1d(w, {}, {.stride = 2, .padding = 1});
  EXPECT_TRUE(size(half).is(size(half.conv1d(w, {}, {.padding = 1}))));
  EXPECT_TRUE(size(half).is(size(x.max_pool1d(3, {.stride = 2, .padding = 1}))));
  EXPECT_EQ(size(x.max_pool1d(2))->lo(), 2);
  EXPECT_EQ(size(x.max_pool1d(2))->hi(), 18);
}

// The shortest axis has to have an output.
TEST(OpenWindowSizes, AreLongEnough) {
  const Tensor x = Tensor::zeros({1, 1, open_time(9, 2)});
  EXPECT_EQ(
      error_of([&] { return x.conv1d(weight({1, 1, 3})); }),
      "conv1d: a kernel of 3 with dilation 1 does not fit in bind(time, 9) elements, at least 2");
  EXPECT_EQ(error_of([&] { return x.max_pool1d(3); }),
            "max_pool1d: a kernel of 3 with dilation 1 does not fit in bind(time, 9) elements, at "
            "least 2");
  const std::string error =
      error_of([&] { return x.max_pool1d(2, {.padding = 1, .ceil_mode = true}); });
  EXPECT_NE(error.find("it depends on the size whether the last of windows"), std::string::npos)
      << error;
}

}  // namespace
}  // namespace weft
