#include <weft/checkpoint.h>

#include <weft/nn.h>

#include "tensor_test.h"

namespace weft {
namespace {

using Tensors = std::vector<Tensor>;
using Function = std::function<Tensor(const Tensor&)>;

Tensor f64(const Shape& shape) { return Tensor::randn(shape, {.dtype = dtypes::f64}); }

Tensor leaf(const Shape& shape) { return f64(shape).set_requires_grad(); }

void expect_near(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  const auto left = a.to_vector<double>(), right = b.to_vector<double>();
  for (std::size_t i = 0; i < left.size(); ++i)
    EXPECT_NEAR(left[i], right[i], 1e-12 * (1 + std::abs(right[i])));
}

// The value, its gradients, and theirs along a direction, with a checkpoint and without.
void expect_same(const Function& function, const Tensors& targets, const Tensor& x) {
  const auto all = [&](const Tensor& y) {
    const Tensors first = y.square().sum().gradient(targets, {}, true);
    Tensor along = Tensor::constant(0).cast(dtypes::f64);
    for (const Tensor& gradient : first) along = along + (gradient * gradient.detach()).sum();
    Tensors found{y};
    found.insert(found.end(), first.begin(), first.end());
    for (const Tensor& second : along.gradient(targets, {}, true)) found.push_back(second);
    return found;
  };
  const Tensors with = all(checkpoint(function, x)), without = all(function(x));
  for (std::size_t i = 0; i < with.size(); ++i) {
    SCOPED_TRACE(i);
    expect_near(with[i], without[i]);
  }
}

TEST(Checkpoint, IsTheFunctionWithItsGradients) {
  const Tensor x = leaf({4, 6}), w = leaf({6, 5}), b = leaf({5});
  expect_same([&](const Tensor& in) { return (in.matmul(w) + b).tanh().softmax(-1); }, {x, w, b},
              x);
}

TEST(Checkpoint, PassesGradientsToViews) {
  const Tensor x = leaf({4, 6}), view = x.transpose(0, 1).reshape({3, 8});
  expect_same([&](const Tensor& in) { return in.reshape({8, 3}).exp(); }, {x, view}, view);
}

TEST(Checkpoint, MayGiveBackWhatItGets) {
  const Tensor x = leaf({3}), w = leaf({3});
  expect_same([](const Tensor& in) { return in; }, {x}, x);
  expect_same([&](const Tensor&) { return w; }, {x, w}, x);
}

TEST(Checkpoint, TakesSeveralInputs) {
  const Tensor x = leaf({3}), y = leaf({3});
  const auto f = [](const Tensor& a, const Tensor& b) { return (a * b).sin(); };
  expect_near(checkpoint(f, x, y).sum().gradient({y})[0], f(x, y).sum().gradient({y})[0]);
}

TEST(Checkpoint, IsFineWithinAnother) {
  const Tensor x = leaf({4, 4}), w = leaf({4, 4}), v = leaf({4, 4});
  const auto inner = [&](const Tensor& in) { return in.matmul(w).sin(); };
  expect_same(
      [&](const Tensor& in) {
        return checkpoint(inner, checkpoint(inner, in).matmul(v).exp().mean(0, true) + in);
      },
      {x, w, v}, x);
}

TEST(Checkpoint, HoldsFunctionsWithGradientsOfTheirOwn) {
  const Tensor x = leaf({5});
  const auto doubled = [](const Tensor& in) {
    return Tensor::custom(
        {in}, [](const Tensors& a) { return a[0].sin(); },
        [](const Tensor& g, const Tensors& a, const Tensor&) { return Tensors{g * a[0] * 2}; });
  };
  expect_same([&](const Tensor& in) { return doubled(in.exp()) * in; }, {x}, x);
}

// What is computed again has memory of its own to write to.
TEST(Checkpoint, HoldsReadsAndWritesAtPlaces) {
  const Tensor x = leaf({6, 3}), places({0, 4, 2, 4});
  expect_same(
      [&](const Tensor& in) {
        const Tensor rows = in.take(places).exp();
        return Tensor::zeros({6, 3}, {.dtype = dtypes::f64}).index_add(0, places, rows) * in;
      },
      {x}, x);
}

TEST(Checkpoint, DrawsTheSameNumbersAgain) {
  const Training on;
  const Tensor x = Tensor::ones({1000}, {.requires_grad = true});
  const Tensor y = checkpoint([](const Tensor& in) { return in.square().dropout(0.5) * in; }, x);
  const auto slopes = y.sum().gradient({x})[0].to_vector<float>();
  const auto values = y.to_vector<float>();
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(slopes[i], 3 * values[i]);
}

TEST(Checkpoint, LetsLayersUpdateTheirStatisticsOnce) {
  const Training on;
  nn::BatchNorm2d norm(3), plain(3);
  const Tensor x = Tensor::randn({4, 3, 2, 2}).set_requires_grad();
  const Tensor y = checkpoint(norm, x), z = plain(x);
  Tensor::realize({y.sum().gradient({x})[0], z, norm.running_mean, plain.running_mean});
  EXPECT_TRUE(norm.running_mean.allclose(plain.running_mean));
  EXPECT_TRUE(norm.running_var.allclose(plain.running_var));
}

TEST(Checkpoint, IsTheFunctionAloneWithoutGradients) {
  const NoGrad none;
  const Tensor x = f64({3});
  EXPECT_TRUE(checkpoint([&](const Tensor&) { return x; }, x).is(x));
}

// Twelve layers of a square matrix each.
struct Chain {
  Tensors weights;

  Chain() {
    for (int i = 0; i < 12; ++i)
      weights.push_back(Tensor::randn({64, 64}, {.requires_grad = true}) / 8);
    for (Tensor& weight : weights) weight = weight.detach().clone().set_requires_grad();
  }

  static Tensor layer(const Tensor& x, const Tensor& w) {
    return x + ((x.matmul(w).tanh() * 2).matmul(w).sigmoid() * 2).matmul(w).exp().log1p();
  }
  Tensors step(const Tensor& x, bool is_checkpointed) const {
    Tensor h = x;
    for (const Tensor& w : weights) h = is_checkpointed ? checkpoint(layer, h, w) : layer(h, w);
    const Tensor loss = h.square().mean();
    Tensors results = loss.gradient(weights);
    results.push_back(loss);
    return results;
  }
};

TEST(Checkpoint, KeepsLess) {
  const Chain chain;
  const Tensor x = Tensor::randn({1024, 64}).realize();
  const RunCost kept = Tensor::cost(chain.step(x, false));
  const RunCost again = Tensor::cost(chain.step(x, true));
  EXPECT_LT(again.own_bytes * 2, kept.own_bytes);
  EXPECT_GT(again.flops, 1.2 * kept.flops);  // one pass ahead more, beside it and two back
  EXPECT_LT(again.flops, 1.5 * kept.flops);
}

TEST(Checkpoint, GivesWhatTrainingGivesWithout) {
  const Chain chain;
  const Tensor x = Tensor::randn({64, 64}).realize();
  const Tensors with = chain.step(x, true), without = chain.step(x, false);
  Tensor::realize(with);
  Tensor::realize(without);
  for (std::size_t i = 0; i < with.size(); ++i)
    EXPECT_TRUE(with[i].allclose(without[i], 1e-4, 1e-6)) << i;
}

// What was there before is not computed again, only what is made of it.
TEST(Checkpoint, KeepsWhatWasThereBefore) {
  const Tensor x = leaf({256, 256}), w = leaf({256, 256}), v = leaf({256, 256});
  const auto flops = [&](bool is_before) {
    const Tensor before = is_before ? x.matmul(w) : x;
    const auto f = [&](const Tensor& in) {
      return ((is_before ? before : x.matmul(w)) * in).sin();
    };
    return Tensor::cost(checkpoint(f, v).square().sum().gradient({x, w, v})).flops;
  };
  EXPECT_GT(flops(false) - flops(true), 2.0 * 256 * 256 * 255);
}

TEST(Checkpoint, IsReplayed) {
  const Chain chain;
  auto step = jit([&](const Tensor& x) { return chain.step(x, true); });
  for (int i = 0; i < 4; ++i) {
    const Tensor x = Tensor::randn({64, 64}).realize();
    const Tensors replayed = step(x), direct = chain.step(x, false);
    Tensor::realize(direct);
    for (std::size_t k = 0; k < direct.size(); ++k)
      EXPECT_TRUE(replayed[k].allclose(direct[k], 1e-4, 1e-6)) << i << ", " << k;
  }
}

}  // namespace
}  // namespace weft
