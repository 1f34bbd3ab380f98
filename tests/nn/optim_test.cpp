// What golden cases do not say of optimisers: loops, groups, going on later, kernels.

#include "../tensor/tensor_test.h"

namespace weft {
namespace {

struct Mlp {
  nn::Linear hidden{2, 8}, out{8, 1};
  Tensor operator()(const Tensor& x) const { return out(hidden(x).tanh()); }
  WEFT_FIELDS(hidden, out);
};

struct Xor {
  Tensor x{{0.0F, 0.0F}, {0.0F, 1.0F}, {1.0F, 0.0F}, {1.0F, 1.0F}};
  Tensor y{{0.0F}, {1.0F}, {1.0F}, {0.0F}};
};

Tensor loss_of(const Mlp& mlp, const Xor& data) {
  return mlp(data.x).binary_crossentropy_logits(data.y);
}

// The whole of it: a model, an optimiser, a schedule, and the loop.
TEST(Optimizers, LearnXor) {
  Tensor::manual_seed(42);
  const Xor data;
  const Mlp mlp;
  nn::AdamW optimizer(mlp, {.lr = 0.1});
  nn::Scheduler schedule(optimizer, nn::CosineAnnealingLR{.t_max = 100});
  Tensor loss;
  for (int epoch = 0; epoch < 100; ++epoch) {
    const Training training;
    optimizer.zero_grad();
    loss = loss_of(mlp, data);
    loss.backward();
    nn::clip_grad_norm(mlp, 10);
    optimizer.step();
    schedule.step();
  }
  EXPECT_LT(loss.item<double>(), 0.02);
  EXPECT_TRUE(holds<bool>(mlp(data.x) > 0, {false, true, true, false}, {4, 1}));
}

struct Session {
  Mlp mlp;
  nn::Adam optimizer{mlp, {.lr = 0.05, .amsgrad = true}};
  nn::Scheduler schedule{optimizer, nn::StepLR{.step_size = 3, .gamma = 0.5}};
  nn::ReduceLROnPlateau plateau{optimizer, {.factor = 0.9, .patience = 1}};

  void run(const Xor& data, int steps) {
    for (int i = 0; i < steps; ++i) {
      optimizer.zero_grad();
      const Tensor loss = loss_of(mlp, data);
      loss.backward();
      optimizer.step();
      schedule.step();
      plateau.step(i);
    }
  }
  WEFT_FIELDS(mlp, optimizer, schedule, plateau);
};

StateDict copy_of(const StateDict& state) {
  StateDict copy;
  for (const auto& [name, tensor] : state) copy.emplace(name, tensor.detach().clone().realize());
  return copy;
}

TEST(Optimizers, GoOnToTheBit) {
  const Xor data;
  Session one, two;
  one.run(data, 5);
  const StateDict saved = copy_of(get_state_dict(one));
  EXPECT_TRUE(saved.contains("optimizer.groups.0.state.3.max_exp_avg_sq"));
  EXPECT_TRUE(saved.contains("schedule.steps"));
  one.run(data, 5);
  load_state_dict(two, saved);
  two.run(data, 5);
  for (const auto& [name, tensor] : get_state_dict(one))
    EXPECT_TRUE(tensor.equal(get_state_dict(two).at(name))) << name;
}

TEST(Optimizers, GroupsHaveTheirOwnRates) {
  const Tensor a = Tensor({1.0F}).set_requires_grad(), b = Tensor({1.0F}).set_requires_grad();
  nn::OptimizerGroup optimizer{nn::SGD(a, {.lr = 0.1}), nn::SGD(b, {.lr = 0.5})};
  nn::Scheduler schedule(optimizer, nn::ExponentialLR{0.5});
  for (int i = 0; i < 2; ++i) {
    optimizer.zero_grad();
    (a + b).sum().backward();
    optimizer.step();
    schedule.step();
  }
  EXPECT_TRUE(near(a, {0.85}, {1}));
  EXPECT_TRUE(near(b, {0.25}, {1}));
  EXPECT_EQ(optimizer.parameters().size(), 2U);
}

TEST(Optimizers, LeaveWhatHasNoGradient) {
  const Tensor used = Tensor({1.0F}).set_requires_grad(),
               other = Tensor({1.0F}).set_requires_grad();
  nn::AdamW optimizer(std::vector{used, other, used}, {.lr = 0.1});
  EXPECT_EQ(optimizer.parameters().size(), 2U);
  used.sum().backward();
  optimizer.step();
  EXPECT_TRUE(holds<float>(other, {1}, {1}));
  EXPECT_LT(used.item<float>(), 1);
}

TEST(Optimizers, ComputeNarrowParametersInF32) {
  const Tensor w = Tensor({1.0F, 2.0F}, {.dtype = dtypes::f16}).set_requires_grad();
  nn::Adam optimizer(w, {.lr = 0.5});
  (w * w).sum().backward();
  optimizer.step();
  EXPECT_EQ(optimizer.groups[0].state[0].at("exp_avg").dtype(), dtypes::f32);
  EXPECT_EQ(w.dtype(), dtypes::f16);
  EXPECT_TRUE(near(w, {0.5, 1.5}, {2}, 1e-3));
}

TEST(Optimizers, SkipsAreDecidedByATensor) {
  const Tensor w = Tensor({4.0F}).set_requires_grad();
  nn::SGD optimizer(w, {.lr = 0.25, .momentum = 0.5});
  w.sum().backward();
  Tensor::realize(optimizer.update(Tensor(true)));
  EXPECT_TRUE(holds<float>(w, {4}, {1}));
  EXPECT_EQ(optimizer.groups[0].steps.item<int>(), 0);
  Tensor::realize(optimizer.update(Tensor(false)));
  EXPECT_TRUE(holds<float>(w, {3.75F}, {1}));
}

struct WithBuffers {
  nn::BatchNorm norm{2};
  Tensor operator()(const Tensor& x) const { return norm(x); }
  WEFT_FIELDS(norm);
};

// Running statistics are computed with the step: no graph of earlier batches is left.
TEST(Optimizers, ComputeBuffersAlong) {
  const WithBuffers model;
  nn::SGD optimizer(model);
  const Training training;
  for (int i = 0; i < 3; ++i) {
    model(Tensor::rand({4, 2})).square().sum().backward();
    optimizer.step();
    EXPECT_EQ(model.norm.running_mean.uop()->op(), Op::Buffer);
    EXPECT_EQ(model.norm.num_batches_tracked.uop()->op(), Op::Buffer);
  }
  EXPECT_EQ(model.norm.num_batches_tracked.item<int>(), 3);
}

// Of gradients in memory: a kernel for each parameter and each of its moments, since what assigns is not merged
// with others, and one to count the steps.
TEST(Optimizers, KernelsOfAStep) {
  const Mlp mlp;
  const auto kernels = [&](nn::Optimizer optimizer) {
    for (Tensor& parameter : optimizer.parameters())
      parameter.set_grad(Tensor::rand(parameter.shape()).realize());
    optimizer.step();
    return Tensor::schedule(optimizer.update()).size();
  };
  EXPECT_EQ(kernels(nn::SGD(mlp)), 5U);
  EXPECT_EQ(kernels(nn::SGD(mlp, {.momentum = 0.9})), 9U);
  EXPECT_EQ(kernels(nn::AdamW(mlp)), 13U);
}

TEST(Optimizers, TakeLists) {
  Tensor w({1.0F}), b({2.0F});
  for (Tensor* each : {&w, &b}) each->set_requires_grad();
  nn::SGD one({w}), both({w, b}, {.lr = 0.5});
  EXPECT_EQ(one.parameters().size(), 1u);
  (w * 2 + b).sum().backward();
  both.step();
  EXPECT_TRUE(holds<float>(w, {0}, {1}));
  EXPECT_TRUE(holds<float>(b, {1.5}, {1}));
}

}  // namespace
}  // namespace weft
