// How many kernels tensors become, and what these cost: asserted for a fixed target.

#include <cmath>
#include <numeric>
#include <tuple>

#include <gtest/gtest.h>
#include <weft/dev/cost/places.h>
#include <weft/dev/device/mma.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/schedule/plan.h>
#include <weft/weft.h>

#include "../support/plan_for.h"

namespace weft {
namespace {

Tensor input(const Shape& shape) { return Tensor::rand(shape).realize(); }

PlannedWork work(const std::vector<Tensor>& tensors) { return work_for(fixed_target(), tensors); }
std::size_t kernels(const std::vector<Tensor>& tensors) { return work(tensors).kernels; }
std::size_t kernels(const Tensor& tensor) { return kernels(std::vector{tensor}); }

TEST(KernelCount, MovementAloneIsNone) {
  const Tensor x = input({4, 6, 8});
  EXPECT_EQ(kernels(x.permute({2, 0, 1}).reshape({8, 24})), 0u);
  EXPECT_EQ(kernels(x.reshape({24, 8}).T().flip({0})), 0u);
  EXPECT_EQ(kernels(x.unsqueeze(0).expand({5, 4, 6, 8}).shrink({{0, 2}, {1, 3}, {0, 6}, {2, 4}})),
            0u);
  EXPECT_EQ(kernels(x.permute({2, 0, 1}) + 1), 1u);
}

TEST(KernelCount, ElementwiseChainsAreOne) {
  const Tensor x = input({32, 32});
  EXPECT_EQ(kernels(((x + 1) * 2 - 0.5).relu()), 1u);
  EXPECT_EQ(kernels(x + 1 * 2 - 1.0 / 2), 1u);
  EXPECT_EQ(kernels(x.sqrt() + x.exp() + x.relu()), 1u);
  const Tensor y = input({32, 32});
  EXPECT_EQ(kernels((x + y).relu().exp().neg()), 1u);
}

TEST(KernelCount, ChainsIntoOneReductionAreOne) {
  Tensor x = input({16, 16});
  for (int i = 0; i < 250; ++i) x = (x * 1.001 + 0.5).T();
  EXPECT_EQ(kernels(x.sum()), 1u);
}

TEST(KernelCount, FusedIsOneAndRealisedStepByStepThree) {
  const Tensor a = input({64, 64}), b = input({64, 64});
  EXPECT_EQ(kernels((a + b).relu().sum()), 1u);
  std::size_t steps = 0;
  Tensor x = a + b;
  steps += kernels(x);
  x = x.realize().relu();
  steps += kernels(x);
  x = x.realize().sum();
  steps += kernels(x);
  EXPECT_EQ(steps, 3u);
}

// Threads have parts to share, and a chain of additions is short.
TEST(KernelCount, LongSumsAreTwo) {
  const Tensor x = input({1 << 11, 1 << 10});
  EXPECT_EQ(kernels(x.sum()), 2u);
  EXPECT_EQ(kernels((x * 2 + 1).max()), 2u);
  EXPECT_EQ(kernels(x.reshape({2, 1 << 20}).sum(1)), 2u);
  EXPECT_EQ(kernels(x.reshape({1 << 20, 2}).sum(0)), 2u);
  EXPECT_EQ(kernels(x.reshape({16, 1 << 17}).sum(1)), 1u) << "enough results";
  EXPECT_EQ(kernels(x.shrink({{0, 1 << 9}, {0, 1 << 10}}).sum()), 1u) << "short";
  EXPECT_EQ(kernels(input({1048583}).sum()), 1u) << "a prime has no parts";
  const std::vector<float> values = x.to_vector<float>();
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  EXPECT_NEAR(x.sum().item<float>(), sum, sum * 1e-6);
  EXPECT_NEAR(x.reshape({1 << 20, 2}).sum(0).sum().item<float>(), sum, sum * 1e-6);
}

TEST(KernelCount, SoftmaxAndNormsAreOne) {
  const Tensor x = input({64, 1000});
  EXPECT_EQ(kernels(x.softmax()), 1u);
  EXPECT_EQ(kernels(x.log_softmax()), 1u);
  EXPECT_EQ(kernels(x.layernorm()), 1u);
  EXPECT_EQ(kernels(x.rmsnorm()), 1u);
  EXPECT_EQ(kernels(x.layernorm() * input({1000}) + input({1000})), 1u);
}

// Each reads the tensor once and writes it once, and computes nothing twice.
TEST(KernelCount, SoftmaxAndLayernormTouchTheTensorOnce) {
  const Tensor x = input({64, 1000});
  for (const Tensor& y : {x.softmax(), x.layernorm()}) {
    const PlannedWork once = work({y});
    EXPECT_EQ(once.bytes, 2.0 * 64 * 1000 * 4) << once.kernels;
    EXPECT_LE(once.flops, 12.0 * 64 * 1000) << once.kernels;
  }
}

TEST(KernelCount, MatmulWithEpilogueIsOne) {
  const Tensor a = input({64, 128}), b = input({128, 32}), c = input({64, 32});
  EXPECT_EQ(kernels(a.matmul(b)), 1u);
  EXPECT_EQ(kernels((a.matmul(b) + input({32})).gelu() * c), 1u);
  const PlannedWork product = work({a.matmul(b)});
  EXPECT_EQ(product.flops, 2.0 * 64 * 128 * 32);
  EXPECT_EQ(product.bytes, 4.0 * (64 * 128 + 128 * 32 + 64 * 32));
  EXPECT_LE(kernels(a.matmul(b).relu().sum()), 2u);
}

// What rows of x by w come to, in f64.
std::vector<double> multiplied(const std::vector<double>& x, const Tensor& w) {
  const std::vector<double> factors = w.to_vector<double>();
  const auto depth = static_cast<std::size_t>(w.size(0)),
             columns = static_cast<std::size_t>(w.size(1));
  std::vector<double> result(x.size() / depth * columns);
  for (std::size_t i = 0; i < result.size(); ++i)
    for (std::size_t k = 0; k < depth; ++k)
      result[i] += x[i / columns * depth + k] * factors[k * columns + i % columns];
  return result;
}

void expect_products(const Tensor& found, const std::vector<double>& x, const Tensor& w) {
  const std::vector<double> values = found.to_vector<double>(), expected = multiplied(x, w);
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_NEAR(values[i], expected[i], 1e-4) << i;
}

// Queries, keys and values, of rows that are read once for all of them.
TEST(KernelCount, ProductsOfOneInputAreOne) {
  for (const auto& [rows, width] : {std::pair{1, 256}, {7, 40}, {64, 64}}) {
    const auto matrix = [&](std::int64_t columns) { return input({width, columns}); };
    const Tensor x = input({rows, width}), wq = matrix(width), wk = matrix(width),
                 wv = matrix(width);
    const Tensor q = x.matmul(wq), k = x.matmul(wk), v = x.matmul(wv);
    const auto together = [](const Tensor& a, const Tensor& b) { return kernels({a, b}); };
    EXPECT_EQ(kernels({q, k, v}), 1u) << rows;
    // Two kernels where the model expects them to be faster than sums that share registers: not for
    // so little work that another launch counts.
    EXPECT_LE(together((q + input({width})).relu(), k * 2), rows == 7 ? 1u : 2u) << rows;
    EXPECT_EQ(together(q, x.matmul(matrix(width / 4))), 2u) << "fewer columns";
    EXPECT_EQ(together(q, input({rows, width}).matmul(wk)), 2u) << "other rows";
    EXPECT_EQ(together(q, q.matmul(wk)), 2u) << "of the queries";
    Tensor::realize({q, k, v});
    const std::vector<double> given = x.to_vector<double>();
    expect_products(q, given, wq);
    expect_products(k, given, wk);
    expect_products(v, given, wv);
  }
}

std::vector<double> normalised(std::vector<double> x, std::size_t width) {
  for (auto row = x.begin(); row != x.end(); row += width) {
    const double mean = std::accumulate(row, row + width, 0.0) / width;
    double squares = 0;
    for (auto at = row; at != row + width; ++at) squares += (*at - mean) * (*at - mean);
    for (auto at = row; at != row + width; ++at)
      *at = (*at - mean) / std::sqrt(squares / width + 1e-5);
  }
  return x;
}

// A row is normalised once for all columns.
TEST(KernelCount, NormAndProductOfShortRowsAreOne) {
  for (const auto& [rows, width, columns] : {std::tuple{1, 64, 64}, {7, 40, 24}, {64, 64, 96}}) {
    const Tensor x = input({rows, width}), w = input({width, columns});
    const Tensor y = x.layernorm().matmul(w);
    EXPECT_EQ(kernels(y), 1u) << rows;
    const Tensor scaled = x.layernorm() * input({width}) + input({width});
    EXPECT_EQ(kernels(scaled.linear(w, input({columns})).gelu()), 1u) << rows;
    expect_products(y, normalised(x.to_vector<double>(), width), w);
  }
}

TEST(KernelCount, ConvolutionBlockIsOne) {
  const Tensor x = input({1, 16, 32, 32}), w = input({16, 16, 3, 3}), b = input({16});
  const Tensor gamma = input({16}), beta = input({16}), mean = input({16}), var = input({16});
  const Tensor y =
      (x.conv2d(w, b, 1, 1, 1, 1).batchnorm(gamma, beta, mean, (var + 1e-5).rsqrt()).relu() + x);
  EXPECT_EQ(kernels(y), 1u);
}

TEST(KernelCount, LossIsAtMostTwo) {
  const Tensor scores = input({128, 10});
  const Tensor target = Tensor::randint({128}, 0, 10).realize();
  EXPECT_LE(kernels(scores.log_softmax().nll_loss(target)), 2u);
  EXPECT_LE(kernels(scores.sparse_categorical_crossentropy(target)), 2u);
}

TEST(KernelCount, AttentionIsAtMostTwo) {
  const Tensor q = input({2, 4, 64, 32}), k = input({2, 4, 64, 32}), v = input({2, 4, 64, 32});
  EXPECT_LE(kernels(q.scaled_dot_product_attention(k, v)), 2u);
  EXPECT_LE(kernels(q.scaled_dot_product_attention(k, v, {.is_causal = true})), 2u);
}

TEST(KernelCount, TransformerBlockIsAtMostEight) {
  const std::int64_t T = 64, width = 64, heads = 4;
  const Tensor x = input({2, T, width});
  const auto project = [&](const Tensor& t, std::int64_t out) {
    return t.linear(input({t.shape().back(), out}), input({out}));
  };
  const auto split = [&](const Tensor& t) {
    return t.reshape({2, T, heads, width / heads}).transpose(1, 2);
  };
  const Tensor n = x.layernorm();
  const Tensor a = split(project(n, width))
                       .scaled_dot_product_attention(split(project(n, width)),
                                                     split(project(n, width)), {.is_causal = true});
  const Tensor h = x + project(a.transpose(1, 2).reshape({2, T, width}), width);
  const Tensor y = h + project(project(h.layernorm(), 4 * width).gelu(), width);
  EXPECT_LE(kernels(y), 8u);
}

TEST(KernelCount, SharedWork) {
  const Tensor a = input({64, 64}), b = input({64, 64});
  EXPECT_LE(kernels(a.sum(0) + a.sum(1).shrink({{0, 1}})), 2u);
  const Tensor h = a.matmul(b).relu();
  EXPECT_EQ(kernels({h.sum(), h.max()}), 2u);  // sums of sums are no vectors
  const Tensor x = a.matmul(b);
  EXPECT_LT(work({x + 1, x * 2}).flops, 2.2 * 64 * 64 * 64);  // x is computed once
  EXPECT_EQ(kernels((a.T() + b).sum()), 1u);
  const Tensor c = input({16, 16}), d = input({16, 16});
  EXPECT_EQ(kernels((c.permute({1, 0}).matmul(d.reshape({16, 16}))).sum(1)), 1u);
}

TEST(KernelCount, OfTheLearningPath) {
  const Tensor x = input({32, 64}), w = input({64, 32}), b = input({32});
  EXPECT_EQ(kernels(x.linear(w, b)), 1u);
  EXPECT_EQ(kernels(x.linear(w, b).relu()), 1u);
  const Tensor q = input({2, 4, 16, 8}), k = input({2, 4, 16, 8});
  EXPECT_LE(kernels(q.matmul(k.transpose(-1, -2)).softmax()), 3u);
  EXPECT_EQ(kernels(input({16, 3, 64, 64}).conv2d(input({16, 3, 3, 3}))), 1u);
}

TEST(KernelCount, ConstantsAndAranges) {
  EXPECT_EQ(kernels((Tensor::full({8, 8}, 2) + Tensor::ones({8, 8})) * 3), 1u);
  const PlannedWork places = work({Tensor::arange(1000)});
  EXPECT_EQ(places.kernels, 1u);
  EXPECT_LE(places.flops, 2.0 * 1000);
}

// What a few comparisons of places say is computed wherever it is needed.
TEST(KernelCount, MasksByPlacesAreNoMemory) {
  const Tensor x = input({6, 50, 60});
  const Tensor row = Tensor::arange(50).unsqueeze(1), column = Tensor::arange(60);
  const Tensor near = (column <= row + 3) & (column + 20 > row) & (column != row * 2);
  const auto items = near.where(x, -HUGE_VAL).softmax(-1).schedule();
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].buffers.size(), 2u);
  EXPECT_TRUE(is_cheaper_to_recompute(near.uop().node()));
  EXPECT_TRUE(is_cheaper_to_recompute(near.where(0, -HUGE_VAL).expand({6, 50, 60}).uop().node()));
  EXPECT_FALSE(is_cheaper_to_recompute((near & (x > 0)).uop().node()));
  EXPECT_FALSE(is_cheaper_to_recompute((row * 0.1).sin().uop().node()));
  EXPECT_FALSE(is_cheaper_to_recompute((Tensor::rand({50, 60}) > 0.5).uop().node()));
  EXPECT_FALSE(is_cheaper_to_recompute(near.sum(0).uop().node()));
}

TEST(Schedule, NothingRunsBeforeValuesAreAskedFor) {
  const Tensor a = input({4, 4});
  const Tensor b = a + 1;
  EXPECT_EQ(b.schedule().size(), 1u);
  EXPECT_EQ(b.schedule().size(), 1u);  // and listing runs nothing
  b.realize();
  EXPECT_EQ(b.schedule().size(), 0u);
}

TEST(Schedule, ListsKernelsAndBuffers) {
  const Tensor a = input({4, 4}), b = input({4, 4});
  const auto items = a.matmul(b).schedule();
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].kernel->op(), Op::Sink);
  EXPECT_EQ(items[0].buffers.size(), 3u);
  EXPECT_EQ(items[0].device, default_device());
  EXPECT_NE(items[0].str().find("(4, 4) f32"), std::string::npos) << items[0].str();
}

TEST(Schedule, IsLinearForLongChainsAndRecurrences) {
  Tensor x = input({16});
  for (int i = 0; i < 10'000; ++i) x = x * 1.0001 + 0.5;
  EXPECT_LE(kernels(x), 40u);
  Tensor h = input({8, 8});
  const Tensor w = input({8, 8});
  for (int i = 0; i < 500; ++i) h = (h.matmul(w) + 0.1).relu();
  EXPECT_LE(kernels(h), 500u);
}

// Each is compared with a few of the others: with all of them, this would take a minute.
TEST(KernelCount, OfManyStepsThatShareATable) {
  const Tensor table = Tensor::randint({25}, 0, 5).realize();
  Tensor state = Tensor::randint({25}, 0, 99).realize();
  for (int i = 0; i < 2400; ++i) state = ((state << table) ^ state.roll(1, 0)).contiguous();
  EXPECT_EQ(kernels(state), 2400u);
}

// --- Instructions that multiply matrices ------------------------------------------------------------------

std::ptrdiff_t sums_in(const UOp& kernel) {
  return std::ranges::count(toposort(kernel.node()), Op::Reduce, &Node::op);
}

bool multiplies_short(const UOp& kernel) {
  return std::ranges::any_of(toposort(kernel.node()), [](const Node* node) {
    if (node->op() != Op::Reduce || node->src(0)->op() != Op::Mul) return false;
    const auto is_short = [](const Node* factor) {
      return factor->op() == Op::Cast && factor->src(0)->op() == Op::Load &&
             factor->src(0)->dtype() == dtypes::bf16;
    };
    return is_short(node->src(0)->src(0)) && is_short(node->src(0)->src(1));
  });
}

// A layer and a norm behind it, then scores: sums of products of bf16 stand alone where an instruction computes them, and
// read their factors from memory.
TEST(KernelCount, ProductsOfInstructionsStandAlone) {
  const auto short_one = [](const Tensor& x) { return x.cast(dtypes::bf16).cast(dtypes::f32); };
  const auto parameter = [](const Shape& shape) {
    return Tensor::empty(shape, {.dtype = dtypes::bf16});
  };
  const Tensor x = Tensor::empty({64, 64}, {.dtype = dtypes::bf16});
  const Tensor layer = x.cast(dtypes::f32).matmul(parameter({64, 64}).cast(dtypes::f32));
  const Tensor norm = (layer - layer.mean({1}, true)) * (layer.var({1}, true, 0) + 1e-5).rsqrt();
  const Tensor scores = short_one(norm).matmul(short_one(norm * 2).T());
  for (const bool has_tiles : {false, true}) {
    Arena arena;
    const InternerScope scope(arena);
    Target target = fixed_target();
    if (has_tiles) target.mma = {*find_mma("amx_bf16")};
    const Plan plan = plan_for(target, {scores});
    std::ptrdiff_t alone = 0, beside = 0;
    for (const Step& step : plan.steps)
      if (multiplies_short(step.kernel)) ++(sums_in(step.kernel) == 1 ? alone : beside);
    EXPECT_EQ(alone == 2 && beside == 0, has_tiles) << alone << " " << beside;
  }
}

}  // namespace
}  // namespace weft
