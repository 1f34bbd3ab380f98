// Gradients on their way to a step.

#include <limits>

#include "../tensor/tensor_test.h"

namespace weft {
namespace {

std::vector<Tensor> with_gradients() {
  std::vector<Tensor> tensors{Tensor({1.0F, 1.0F}).set_requires_grad(),
                              Tensor({{1.0F}}).set_requires_grad(),
                              Tensor({1.0F}).set_requires_grad()};  // which has none
  tensors[0].set_grad(Tensor({3.0F, 0.0F}));
  tensors[1].set_grad(Tensor({{-4.0F}}));
  return tensors;
}

TEST(Clipping, ShortensToANorm) {
  const std::vector<Tensor> tensors = with_gradients();
  EXPECT_NEAR(nn::clip_grad_norm(tensors, 1).item<double>(), 5, 1e-6);
  EXPECT_TRUE(near(tensors[0].grad(), {0.6, 0}, {2}));
  EXPECT_TRUE(near(tensors[1].grad(), {-0.8}, {1, 1}));
  EXPECT_NEAR(nn::clip_grad_norm(tensors, 2).item<double>(), 1, 1e-5);
  EXPECT_TRUE(near(tensors[0].grad(), {0.6, 0}, {2}));
}

TEST(Clipping, ByOtherNorms) {
  std::vector<Tensor> tensors = with_gradients();
  EXPECT_NEAR(nn::clip_grad_norm(tensors, 3.5, 1).item<double>(), 7, 1e-6);
  EXPECT_TRUE(near(tensors[1].grad(), {-2}, {1, 1}));
  tensors = with_gradients();
  const double most = std::numeric_limits<double>::infinity();
  EXPECT_NEAR(nn::clip_grad_norm(tensors, 2, most).item<double>(), 4, 1e-6);
  EXPECT_TRUE(near(tensors[0].grad(), {1.5, 0}, {2}));
}

TEST(Clipping, ByValue) {
  const std::vector<Tensor> tensors = with_gradients();
  nn::clip_grad_value(tensors, 2);
  EXPECT_TRUE(holds<float>(tensors[0].grad(), {2, 0}, {2}));
  EXPECT_TRUE(holds<float>(tensors[1].grad(), {-2}, {1, 1}));
}

TEST(LossScaling, GivesTheSameSteps) {
  const Tensor w = Tensor({1.0F, 2.0F}).set_requires_grad();
  nn::SGD optimizer(w, {.lr = 0.25});
  nn::GradScaler scaler({.init_scale = 1024, .growth_interval = 2});
  for (int i = 0; i < 3; ++i) {
    optimizer.zero_grad();
    scaler.scale((w * w).sum()).backward();
    scaler.step(optimizer);
    scaler.update();
  }
  EXPECT_TRUE(holds<float>(w, {0.125F, 0.25F}, {2}));
  EXPECT_EQ(scaler.scale_factor.item<float>(), 2048);
  EXPECT_EQ(scaler.growth_tracker.item<int>(), 1);
}

TEST(LossScaling, KeepsSmallGradientsOfF16) {
  const Tensor w = Tensor({1.0F}).set_requires_grad();
  const auto gradient_of = [&](const std::function<Tensor(const Tensor&)>& scale) {
    Tensor copy = w;
    copy.set_grad({});
    scale((w.half() * 1e-5).sum().to_float() * 1e-5).backward();
    return w.grad();
  };
  EXPECT_EQ(gradient_of([](const Tensor& loss) { return loss; }).item<float>(), 0);
  nn::SGD optimizer(w);
  nn::GradScaler scaler;
  gradient_of([&](const Tensor& loss) { return scaler.scale(loss); });
  scaler.unscale(optimizer);
  EXPECT_NEAR(w.grad().item<float>(), 1e-10, 1e-11);
}

TEST(LossScaling, SkipsStepsThatOverflow) {
  const Tensor w = Tensor({1.0F, 2.0F}).set_requires_grad();
  nn::Adam optimizer(w, {.lr = 0.25});
  nn::GradScaler scaler({.init_scale = 1024});
  scaler.scale((w.half() * 1000).sum().to_float()).backward();
  scaler.step(optimizer);
  scaler.update();
  EXPECT_TRUE(holds<float>(w, {1, 2}, {2}));
  EXPECT_EQ(optimizer.groups[0].steps.item<int>(), 0);
  EXPECT_TRUE(holds<float>(optimizer.groups[0].state[0].at("exp_avg"), {0, 0}, {2}));
  EXPECT_EQ(scaler.scale_factor.item<float>(), 512);
  EXPECT_EQ(scaler.growth_tracker.item<int>(), 0);
}

TEST(LossScaling, IsUndoneBeforeClipping) {
  const Tensor w = Tensor({3.0F, 4.0F}).set_requires_grad();
  nn::SGD optimizer(w, {.lr = 1});
  nn::GradScaler scaler;
  scaler.scale((w * w).sum() / 2).backward();
  scaler.unscale(optimizer);
  EXPECT_NEAR(nn::clip_grad_norm(w, 1).item<double>(), 5, 1e-5);
  scaler.step(optimizer);
  scaler.update();
  EXPECT_TRUE(near(w, {2.4, 3.2}, {2}));
}

TEST(LossScaling, SkipsOnlyWhoseGradientsOverflow) {
  const Tensor a = Tensor({1.0F}).set_requires_grad(), b = Tensor({1.0F}).set_requires_grad();
  nn::SGD of_a(a, {.lr = 1}), of_b(b, {.lr = 1});
  nn::GradScaler scaler({.init_scale = 4});
  scaler.scale((a * std::numeric_limits<float>::infinity() + b).sum()).backward();
  scaler.step(of_a);
  scaler.step(of_b);
  scaler.update();
  EXPECT_EQ(a.item<float>(), 1);
  EXPECT_EQ(b.item<float>(), 0);
  EXPECT_EQ(scaler.scale_factor.item<float>(), 2);
}

TEST(LossScaling, GrowsNoFurtherThanNumbersGo) {
  const Tensor w = Tensor({1.0F}).set_requires_grad();
  nn::SGD optimizer(w, {.lr = 0});
  nn::GradScaler scaler({.init_scale = 0x1p127, .growth_interval = 1});
  for (int i = 0; i < 2; ++i) {
    optimizer.zero_grad();
    scaler.scale((w * 1e-3).sum()).backward();
    scaler.step(optimizer);
    scaler.update();
    EXPECT_EQ(scaler.scale_factor.item<float>(), 0x1p127F);
  }
}

}  // namespace
}  // namespace weft
