// What golden cases do not say of layers: what they begin with, and what training changes.

#include <algorithm>
#include <cmath>

#include "../tensor/tensor_test.h"

namespace weft {
namespace {

// Uniform within the bound: as wide as that, and no wider.
void expect_uniform(const Tensor& tensor, double bound) {
  EXPECT_TRUE(tensor.requires_grad());
  const double most = tensor.detach().abs().max().item<double>();
  EXPECT_LE(most, bound);
  EXPECT_GT(most, bound * 0.8);
  EXPECT_NEAR(tensor.detach().mean().item<double>(), 0, bound * 0.3);
}

TEST(Layers, BeginAsPyTorchsDo) {
  Tensor::manual_seed(1);
  const nn::Linear linear(16, 40);
  expect_uniform(linear.weight, 0.25);
  expect_uniform(linear.bias, 0.25);
  const nn::Bilinear bilinear(16, 3, 40);
  expect_uniform(bilinear.weight, 0.25);
  const nn::Conv2d conv(8, 40, {1, 4}, {.groups = 2});
  expect_uniform(conv.weight, 0.25);
  EXPECT_EQ(conv.weight.shape(), (Sizes64{40, 4, 1, 4}));
  const nn::ConvTranspose1d transposed(8, 40, 3, {.groups = 2});
  expect_uniform(transposed.weight, 1 / std::sqrt(60.0));
  EXPECT_EQ(transposed.weight.shape(), (Sizes64{8, 20, 3}));
  const nn::LSTM lstm(3, 16);
  expect_uniform(lstm.cells[0].weight_ih, 0.25);
  expect_uniform(lstm.cells[0].bias_hh, 0.25);
  const nn::MultiheadAttention attention(16, 2);
  expect_uniform(attention.in_proj_weight, std::sqrt(6.0 / 64));
  expect_uniform(attention.out_proj.weight, 0.25);
  EXPECT_TRUE(holds<float>(attention.out_proj.bias, std::vector<float>(16, 0), {16}));
}

TEST(Layers, EmbeddingsBeginNormal) {
  Tensor::manual_seed(1);
  const nn::Embedding embedding(50, 20, {.padding_idx = -1});
  const Tensor rows = embedding.weight.detach()[Slice{.stop = 49}];
  EXPECT_NEAR(rows.mean().item<double>(), 0, 0.1);
  EXPECT_NEAR(rows.std().item<double>(), 1, 0.1);
  EXPECT_TRUE(holds<float>(embedding(Tensor({49})), std::vector<float>(20, 0), {1, 20}));
}

TEST(Layers, AreOfTheDtypeAskedFor) {
  const nn::Linear half(4, 2, {.bias = false, .dtype = dtypes::f16});
  EXPECT_EQ(half(Tensor::ones({1, 4}, {.dtype = dtypes::f16})).dtype(), dtypes::f16);
  EXPECT_EQ(get_state_dict(half).size(), 1U);
  const nn::GRU gru(4, 2, {.dtype = dtypes::f64});
  EXPECT_EQ(gru(Tensor::ones({3, 1, 4}, {.dtype = dtypes::f64})).second.dtype(), dtypes::f64);
}

TEST(Layers, RunningStatisticsMoveWithinATrainingOnly) {
  const nn::BatchNorm norm(2);
  const Tensor x({{1.0F, 2.0F}, {3.0F, 6.0F}});
  EXPECT_TRUE(near(norm(x), {1, 2, 3, 6}, {2, 2}, 1e-4));
  EXPECT_TRUE(holds<float>(norm.running_mean, {0, 0}, {2}));
  {
    const Training training;
    EXPECT_TRUE(near(norm(x), {-1, -1, 1, 1}, {2, 2}, 1e-4));
    norm(x);
  }
  EXPECT_TRUE(near(norm.running_mean, {0.38, 0.76}, {2}));
  EXPECT_TRUE(near(norm.running_var, {1.19, 2.33}, {2}));
  EXPECT_EQ(norm.num_batches_tracked.item<int>(), 2);
  EXPECT_EQ(norm.num_batches_tracked.dtype(), dtypes::i64);
}

// What fails has not counted.
TEST(Layers, BatchesThatFailDoNotCount) {
  const nn::BatchNorm norm(2);
  const Training training;
  EXPECT_EQ(error_of([&] { norm(Tensor::ones({3, 4})); }),
            "BatchNorm: a weight, bias or statistic of shape (2,) for 4 channels");
  EXPECT_EQ(norm.num_batches_tracked.item<int>(), 0);
  EXPECT_TRUE(holds<float>(norm.running_mean, {0, 0}, {2}));
}

TEST(Layers, RecurrentDropoutIsBetweenLayers) {
  Tensor::manual_seed(3);
  const nn::RNN two(3, 8, {.num_layers = 2, .dropout = 1}), one(3, 8, {.dropout = 1});
  const Tensor x = Tensor::rand({4, 1, 3});
  const auto differs = [&](const nn::RNN& net) {
    const Tensor before = net(x).first;
    const Training training;
    return !net(x).first.allclose(before);
  };
  EXPECT_TRUE(differs(two));
  EXPECT_FALSE(differs(one));
}

TEST(Layers, AttentionDropsWithinATraining) {
  Tensor::manual_seed(3);
  const nn::MultiheadAttention attention(4, 2, {.dropout = 0.5});
  const Tensor x = Tensor::rand({6, 1, 4});
  const Tensor before = attention(x, x, x);
  EXPECT_TRUE(attention(x, x, x).allclose(before));
  const Training training;
  EXPECT_FALSE(attention(x, x, x).allclose(before));
}

TEST(Layers, SequencesTakeWhateverIsCalled) {
  nn::Sequential net{nn::Linear(2, 3), &Tensor::relu, [](const Tensor& x) { return x * 2; },
                     nn::Sequential{nn::Dropout{0.5}, nn::Linear(3, 1)}};
  std::vector<std::string> names;
  for (const auto& [name, tensor] : get_tensors(net)) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"0.weight", "0.bias", "3.1.weight", "3.1.bias"}));
  load_state_dict(net, {{"0.weight", Tensor({{1.0F, 0.0F}, {0.0F, 1.0F}, {1.0F, 1.0F}})},
                        {"0.bias", Tensor({0.0F, 0.0F, -10.0F})},
                        {"3.1.weight", Tensor({{1.0F, 10.0F, 100.0F}})},
                        {"3.1.bias", Tensor({0.5F})}});
  EXPECT_TRUE(holds<float>(net(Tensor({{3.0F, 4.0F}})), {86.5F}, {1, 1}));
}

TEST(Initialisers, Dirac) {
  const Tensor x = Tensor::rand({1, 4, 5, 5});
  EXPECT_TRUE(x.conv(init::dirac({4, 4, 3, 3}), {}, {.padding = 1}).allclose(x));
  const Tensor first = x.narrow(1, 0, 2);
  EXPECT_TRUE(first.conv(init::dirac({4, 2, 3, 3}, 2), {}, {.padding = 1})
                  .allclose(Tensor::cat({first, first}, 1)));
  EXPECT_TRUE(
      holds<float>(init::dirac({2, 3, 2}), {0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0}, {2, 3, 2}));
}

TEST(Initialisers, Sparse) {
  Tensor::manual_seed(5);
  const Tensor w = init::sparse({10, 30}, 0.25, 0.1);
  EXPECT_TRUE(holds<int>((w == 0).cast(dtypes::i32).sum(0), std::vector<int>(30, 3), {30}));
  EXPECT_NEAR(w.square().sum().item<double>() / 210, 0.01, 0.003);
  EXPECT_EQ((w.slice(1, {.stop = 1}) == 0).allclose(w.slice(1, {.start = 1, .stop = 2}) == 0),
            false);
}

TEST(Initialisers, Plain) {
  EXPECT_TRUE(holds<float>(init::constant({2}, 3), {3, 3}, {2}));
  EXPECT_TRUE(holds<float>(init::eye({2, 3}), {1, 0, 0, 0, 1, 0}, {2, 3}));
  const Tensor u = init::uniform({1000}, 2, 3), n = init::normal({1000}, 2, 0.1);
  EXPECT_GE(u.min().item<double>(), 2);
  EXPECT_LE(u.max().item<double>(), 3);
  EXPECT_NEAR(n.mean().item<double>(), 2, 0.02);
  EXPECT_NEAR(n.std().item<double>(), 0.1, 0.02);
}

}  // namespace
}  // namespace weft
