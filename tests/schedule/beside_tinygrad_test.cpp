// How many kernels methods become, and how many in tinygrad (tinygrad_counts.txt, made by
// tinygrad_counts.py): of tensors in memory, for a fixed target.

#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <weft/weft.h>

#include "../support/plan_for.h"

namespace weft {
namespace {

namespace F = functional;

struct Counted {
  std::string name;
  std::function<std::vector<Tensor>()> call;
  std::size_t kernels;
};

Tensor real(const Shape& shape) { return Tensor::rand(shape).contiguous().realize(); }
Tensor whole(const Shape& shape, int most) {
  return Tensor::randint(shape, 0, most).contiguous().realize();
}

std::map<std::string, std::size_t> counts_of_tinygrad() {
  std::map<std::string, std::size_t> counts;
  std::ifstream file(WEFT_TINYGRAD_COUNTS);
  std::string line;
  while (std::getline(file, line))
    if (!line.starts_with('#')) counts[line.substr(4)] = std::stoul(line.substr(0, 3));
  return counts;
}

// clang-format off
std::vector<Counted> expressions() {
  using All = std::vector<Tensor>;
  const Tensor x = real({64, 100}), y = real({64, 100}), row = real({100});
  const Tensor a = real({64, 128}), b = real({128, 32}), narrow = real({32});
  const Tensor line = real({4096}), image = real({2, 8, 16, 16});
  const Tensor weight = real({12, 8, 3, 3}), back = real({8, 12, 3, 3}), bias = real({12}), channel = real({8});
  const Tensor classes = whole({64}, 100), words = whole({4, 6}, 50), table = real({50, 16});
  const Tensor q = real({2, 4, 64, 32}), k = real({2, 4, 64, 32}), v = real({2, 4, 64, 32});
  const Tensor rows = whole({7}, 64), places = whole({64, 5}, 100), values = real({64, 5});
  return {
      {"add", [=] { return All{x + y}; }, 1},
      {"chain", [=] { return All{((x * 2 + y).relu() - 1).exp()}; }, 1},
      {"where", [=] { return All{(x > 0).where(x, y)}; }, 1},
      {"clamp", [=] { return All{x.clamp(0, 1)}; }, 1},
      {"gelu", [=] { return All{x.gelu()}; }, 1},
      {"silu", [=] { return All{x.silu()}; }, 1},
      {"mish", [=] { return All{x.mish()}; }, 1},
      {"softplus", [=] { return All{x.softplus()}; }, 1},
      {"tanh", [=] { return All{x.tanh()}; }, 1},
      {"erf", [=] { return All{x.erf()}; }, 1},
      {"permute", [=] { return All{x.permute({1, 0}).contiguous()}; }, 1},
      {"flip", [=] { return All{x.flip({1}).contiguous()}; }, 1},
      {"pad", [=] { return All{x.pad({{1, 1}, {2, 2}}).contiguous()}; }, 1},
      {"cat", [=] { return All{Tensor::cat({x, y}, 1)}; }, 1},
      {"stack", [=] { return All{Tensor::stack({x, y})}; }, 1},
      {"repeat", [=] { return All{x.repeat({2, 2})}; }, 0},
      {"roll", [=] { return All{x.roll(3, 1)}; }, 0},
      {"tril", [=] { return All{a.matmul(b).tril()}; }, 1},
      {"diagonal", [=] { return All{x.shrink({{0, 64}, {0, 64}}).diagonal()}; }, 0},
      {"sum", [=] { return All{x.sum(1)}; }, 1},
      {"sum of all", [=] { return All{line.sum()}; }, 1},
      {"mean", [=] { return All{x.mean(1)}; }, 1},
      {"max", [=] { return All{x.max(1)}; }, 1},
      {"prod", [=] { return All{x.prod(1)}; }, 1},
      {"var", [=] { return All{x.var(1)}; }, 1},
      {"std", [=] { return All{x.std(1)}; }, 1},
      {"any", [=] { return All{(x > 0).any(1)}; }, 1},
      {"argmax", [=] { return All{x.argmax(1)}; }, 1},
      {"argmin", [=] { return All{x.argmin(1)}; }, 1},
      {"logsumexp", [=] { return All{x.logsumexp(1)}; }, 1},
      {"softmax", [=] { return All{x.softmax(1)}; }, 1},
      {"log_softmax", [=] { return All{x.log_softmax(1)}; }, 1},
      {"cumsum", [=] { return All{x.cumsum(1)}; }, 1},
      {"cumsum of many", [=] { return All{line.cumsum()}; }, 1},
      {"cumprod", [=] { return All{x.cumprod(1)}; }, 1},
      {"cummax", [=] { return All{x.cummax(1).first}; }, 1},
      {"logcumsumexp", [=] { return All{x.logcumsumexp(1)}; }, 1},
      {"matmul", [=] { return All{a.matmul(b)}; }, 1},
      {"matmul, bias, relu", [=] { return All{(a.matmul(b) + narrow).relu()}; }, 1},
      {"linear", [=] { return All{a.linear(b, narrow)}; }, 1},
      {"dot of vectors", [=] { return All{row.dot(row)}; }, 1},
      {"conv2d", [=] { return All{image.conv2d(weight, bias)}; }, 1},
      {"conv2d, relu", [=] { return All{image.conv(weight, bias, {.padding = 1}).relu()}; }, 1},
      {"conv_transpose2d", [=] { return All{image.conv_transpose(back, bias)}; }, 1},
      {"max_pool2d", [=] { return All{image.max_pool2d({2, 2})}; }, 1},
      {"avg_pool2d", [=] { return All{image.avg_pool2d({2, 2})}; }, 1},
      {"interpolate", [=] { return All{image.interpolate({32, 32})}; }, 1},
      {"layernorm", [=] { return All{x.layernorm()}; }, 1},
      {"batchnorm", [=] { return All{image.batchnorm(channel, channel, channel, channel)}; }, 1},
      {"normalize", [=] { return All{x.normalize()}; }, 1},
      {"attention", [=] { return All{q.scaled_dot_product_attention(k, v)}; }, 1},
      {"attention, causal", [=] { return All{F::scaled_dot_product_attention(q, k, v, {.is_causal = true})}; }, 1},
      {"cross_entropy", [=] { return All{x.cross_entropy(classes)}; }, 1},
      {"sparse_categorical_crossentropy", [=] { return All{x.sparse_categorical_crossentropy(classes)}; }, 1},
      {"binary_crossentropy_logits", [=] { return All{x.binary_crossentropy_logits(y)}; }, 1},
      {"nll_loss", [=] { return All{x.log_softmax(1).nll_loss(classes)}; }, 1},
      {"one_hot", [=] { return All{classes.one_hot(100)}; }, 1},
      {"gather", [=] { return All{x.gather(1, places)}; }, 1},
      {"embedding", [=] { return All{table[words]}; }, 1},
      {"rows by a tensor", [=] { return All{x[rows]}; }, 1},
      {"masked_fill", [=] { return All{x.masked_fill(y > 0, 0)}; }, 1},
      {"einsum", [=] { return All{Tensor::einsum("ij,jk->ki", {a, b})}; }, 1},
      {"sort", [=] { return All{x.sort(1).values}; }, 3},
      {"argsort", [=] { return All{x.argsort(1)}; }, 3},
      {"topk", [=] { return All{x.topk(5, 1).values}; }, 3},
      {"randperm", [=] { return All{Tensor::randperm(1000)}; }, 6},
      {"randn", [=] { return All{Tensor::randn({1000})}; }, 1},
      {"gradient of softmax", [=] { return (x.softmax(1) * y).sum().gradient({x}); }, 1},
      {"gradient of layernorm", [=] { return (x.layernorm() * y).sum().gradient({x}); }, 1},
      {"gradient of cross_entropy", [=] { return x.cross_entropy(classes).gradient({x}); }, 1},
      {"gradients of linear", [=] { return a.matmul(b).relu().sum().gradient({a, b}); }, 3},
      {"gradients of conv2d", [=] { return image.conv2d(weight, bias).relu().sum().gradient({image, weight}); }, 3},
      {"gradient of max_pool2d", [=] { return image.max_pool2d({2, 2}).square().sum().gradient({image}); }, 1},
      {"gradient of embedding", [=] { return table[words].square().sum().gradient({table}); }, 2},
  };
}
// clang-format on

TEST(BesideTinygrad, NoMethodHasMoreKernels) {
  const auto theirs = counts_of_tinygrad();
  for (const Counted& one : expressions()) {
    const std::size_t kernels = kernels_for(fixed_target(), one.call());
    EXPECT_EQ(kernels, one.kernels) << one.name;
    ASSERT_TRUE(theirs.contains(one.name)) << one.name;
    EXPECT_LE(kernels, theirs.at(one.name)) << one.name;
  }
}

// tinygrad's one kernel looks for every element through all places; here a copy and a write touch each once.
TEST(BesideTinygrad, ScatterIsLessWorkInTwo) {
  const Tensor x = real({64, 1000}), places = whole({64, 50}, 1000), values = real({64, 50});
  double bytes = 0;
  const auto steps = x.scatter(1, places, values).schedule();
  for (const ScheduleItem& step : steps) bytes += step.work.bytes;
  EXPECT_EQ(steps.size(), 2U);
  EXPECT_LE(bytes, 4.0 * (2 * 64 * 1000 + 4 * 64 * 50));
}

}  // namespace
}  // namespace weft
