// How many kernels methods become, of tensors in memory.

#include <functional>
#include <span>
#include <string_view>

#include <gtest/gtest.h>
#include <weft/weft.h>

namespace weft {
namespace {

namespace F = functional;

struct Count {
  std::string_view name;
  std::function<Tensor()> call;
  std::size_t kernels;
};

Tensor input(const Shape& shape) { return Tensor::rand(shape).contiguous().realize(); }

void expect_counts(std::span<const Count> counts) {
  for (const Count& count : counts)
    EXPECT_EQ(count.call().schedule().size(), count.kernels) << count.name;
}

TEST(MethodCount, NeuralNetworks) {
  const Tensor x = input({2, 8, 16, 16}), w = input({12, 8, 3, 3}), wt = input({8, 12, 4, 4});
  const Tensor b = input({12}), channel = input({8}), image = input({2, 12, 16, 16});
  const Tensor grid = input({2, 5, 5, 2}), table = input({50, 16});
  const Tensor words = Tensor::randint({4, 6}, 0, 50).realize();
  const Tensor places = Tensor::arange(256).expand({16, 256}).reshape({2, 8, 16, 16}).realize();
  const Count counts[] = {
      {"conv", [&] { return x.conv2d(w, b); }, 1},
      {"conv, same, relu, added",
       [&] { return (x.conv(w, b, {.padding = "same"}) + image).relu(); }, 1},
      {"conv of strides and groups",
       [&] { return x.conv(input({8, 2, 3, 3}), {}, {.groups = 4, .stride = 2}); }, 1},
      {"conv_transpose",
       [&] { return x.conv_transpose(wt, b, {.stride = 2, .padding = 1}).relu(); }, 1},
      {"unfold", [&] { return F::unfold(x, {3, 3}) + 1; }, 1},
      {"fold", [&] { return F::fold(input({2, 72, 196}), {16, 16}, {3, 3}); }, 1},
      {"max_pool", [&] { return x.max_pool({3, 3}, {.stride = 2, .padding = 1}).relu(); }, 1},
      {"avg_pool",
       [&] {
         return x.avg_pool(
             {3, 3}, {.stride = 2, .padding = 1, .ceil_mode = true, .count_include_pad = false});
       },
       1},
      {"adaptive_avg_pool", [&] { return F::adaptive_avg_pool2d(x, {5, 7}); }, 1},
      {"adaptive_max_pool", [&] { return F::adaptive_max_pool2d(x, {5, 7}); }, 1},
      {"max_unpool", [&] { return x.max_unpool2d(places); }, 2},
      {"interpolate", [&] { return x.interpolate({21, 25}); }, 1},
      {"interpolate by cubics",
       [&] { return x.interpolate({21, 25}, {.mode = Resampling::Cubic}); }, 1},
      {"interpolate, nearest",
       [&] { return x.interpolate({32, 32}, {.mode = Resampling::Nearest}) + 1; }, 1},
      {"pixel_shuffle", [&] { return F::pixel_shuffle(x, 2) + 1; }, 1},
      {"grid_sample", [&] { return F::grid_sample(x, grid); }, 1},
      {"dropout",
       [&] {
         const Training on;
         return x.dropout();
       },
       1},
      {"gelu of glu", [&] { return F::glu(x, 1).gelu(); }, 1},
      {"layernorm", [&] { return x.layernorm(-1, 1e-5, input({16}), input({16})); }, 1},
      {"group_norm", [&] { return F::group_norm(x, 2, channel, channel); }, 1},
      {"normalize", [&] { return x.normalize(); }, 1},
      {"local_response_norm", [&] { return F::local_response_norm(x, 5); }, 1},
      {"embedding", [&] { return F::embedding(words, table); }, 1},
      {"embedding_bag", [&] { return F::embedding_bag(words, table); }, 1},
  };
  expect_counts(counts);
}

// Of a stride of 2 and a kernel of 4, each output sees 2 elements along an axis, and not 4 with zeros.
TEST(MethodCount, TransposedConvolutionsMultiplyNoZeros) {
  const Tensor x = input({1, 8, 16, 16}), w = input({8, 4, 4, 4});
  const auto items = x.conv_transpose(w, {}, {.stride = 2, .padding = 1}).schedule();
  EXPECT_LT(items[0].work.flops, 2.0 * (4 * 32 * 32) * (8 * 4 * 4)) << items[0].str();
}

}  // namespace
}  // namespace weft
