// What is left out at random: by how much, where, and only within a Training.

#include <algorithm>
#include <cmath>

#include "tensor_test.h"

namespace weft {
namespace {

double mean(const std::vector<float>& values) {
  double sum = 0;
  for (float value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double zeros(const std::vector<float>& values) {
  return static_cast<double>(std::ranges::count(values, 0.0F)) / static_cast<double>(values.size());
}

TEST(TensorDropout, ActsWithinATrainingOnly) {
  const Tensor x = Tensor::ones({4, 4});
  EXPECT_TRUE(holds<float>(x.dropout(0.5), std::vector<float>(16, 1.0F), {4, 4}));
  EXPECT_TRUE(holds<float>(functional::alpha_dropout(x), std::vector<float>(16, 1.0F), {4, 4}));
  {
    const Training outer;
    EXPECT_TRUE(Training::is_on());
    {
      const Training inner(false);
      EXPECT_FALSE(Training::is_on());
      EXPECT_TRUE(holds<float>(x.dropout(0.9), std::vector<float>(16, 1.0F), {4, 4}));
    }
    EXPECT_TRUE(Training::is_on());
    EXPECT_TRUE(holds<float>(x.dropout(0), std::vector<float>(16, 1.0F), {4, 4}));
    EXPECT_TRUE(holds<float>(x.dropout(1), std::vector<float>(16, 0.0F), {4, 4}));
  }
  EXPECT_FALSE(Training::is_on());
}

TEST(TensorDropout, LeavesOutAShareAndScalesTheRest) {
  Tensor::manual_seed(7);
  const Training training;
  for (const double p : {0.1, 0.5, 0.8}) {
    const Tensor x = Tensor::ones({10000}, {.requires_grad = true});
    const Tensor y = x.dropout(p);
    const std::vector<float> values = y.to_vector<float>();
    EXPECT_NEAR(zeros(values), p, 0.02);
    EXPECT_NEAR(mean(values), 1, 0.05 / (1 - p));
    EXPECT_NEAR(*std::ranges::max_element(values), 1 / (1 - p), 1e-5);
    // The gradient passes where the value did, as much larger.
    EXPECT_EQ(y.sum().gradient({x})[0].to_vector<float>(), values);
  }
  EXPECT_NE(Tensor::ones({64}).dropout().to_vector<float>(),
            Tensor::ones({64}).dropout().to_vector<float>());
}

TEST(TensorDropout, FeaturesGoAsAWhole) {
  Tensor::manual_seed(7);
  const Training training;
  const std::vector<float> values =
      functional::feature_dropout(Tensor::ones({20, 10, 3, 2})).to_vector<float>();
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], values[i / 6 * 6]);
  EXPECT_NEAR(zeros(values), 0.5, 0.15);
}

TEST(TensorDropout, AlphaKeepsMeanAndVariance) {
  Tensor::manual_seed(7);
  const Training training;
  const Tensor x = Tensor::randn({200, 500});
  for (const Tensor& y : {functional::alpha_dropout(x, 0.3),
                          functional::feature_alpha_dropout(x.reshape({200, 500, 1}), 0.3)}) {
    EXPECT_NEAR(y.mean().item<double>(), 0, 0.02);
    EXPECT_NEAR(y.var().item<double>(), 1, 0.03);
  }
}

TEST(TensorDropout, RandomSlopes) {
  Tensor::manual_seed(7);
  const Training training;
  const std::vector<float> values =
      functional::rrelu(Tensor::full({1000}, -1.0F), 0.25, 0.75).to_vector<float>();
  EXPECT_GE(*std::ranges::min_element(values), -0.75F);
  EXPECT_LE(*std::ranges::max_element(values), -0.25F);
  EXPECT_NEAR(mean(values), -0.5, 0.02);
}

TEST(TensorDropout, GumbelSoftmaxChoosesByProbability) {
  Tensor::manual_seed(7);
  const Tensor logits = Tensor({0.1F, 0.6F, 0.3F}).log().unsqueeze(0).expand({5000, 3});
  const Tensor chosen = functional::gumbel_softmax(logits, 0.5, true);
  EXPECT_TRUE(near(chosen.sum(1), std::vector<double>(5000, 1.0), {5000}));
  EXPECT_TRUE(near(chosen.mean(0), {0.1, 0.6, 0.3}, {3}, 0.03));
  const Tensor soft = functional::gumbel_softmax(logits, 2);
  EXPECT_TRUE(near(soft.sum(1), std::vector<double>(5000, 1.0), {5000}));
  EXPECT_LT(soft.max().item<double>(), 1.0);
  // One-hot, with the gradient of what is soft.
  const Tensor x = Tensor({0.5F, 0.1F, -0.2F}, {.requires_grad = true});
  const Tensor y = functional::gumbel_softmax(x, 1, true);
  const std::vector<float> gradient =
      (y * Tensor({1.0F, 2.0F, 3.0F})).sum().gradient({x})[0].to_vector<float>();
  EXPECT_NEAR(gradient[0] + gradient[1] + gradient[2], 0, 1e-6);
  EXPECT_GT(std::abs(gradient[0]), 1e-4);
}

}  // namespace
}  // namespace weft
