// The model that is shipped, on the images that are.
#include <algorithm>
#include <cmath>
#include <fstream>

#include <gtest/gtest.h>
#include <weft/weft.h>

namespace weft {
namespace {

const std::string models = WEFT_MODELS;

Tensor image_of(int digit) {
  const Tensor image = load_image(models + "/" + std::to_string(digit) + ".png", 1);
  const Tensor pixels = image.to_float().permute({2, 0, 1}).unsqueeze(0);
  return (pixels.interpolate({28, 28}, {.antialias = true}) / 255).realize();
}

std::vector<float> scores_of(const onnx::Model& model, const Tensor& image) {
  return model({{"image", image}}).at("probabilities").tensor().to_vector<float>();
}

std::size_t largest(const std::vector<float>& scores) {
  return static_cast<std::size_t>(std::ranges::max_element(scores) - scores.begin());
}

// Those of onnxruntime; make_digits.py wrote them.
TEST(Digits, ScoresAreThoseOfOtherSoftware) {
  const onnx::Model model = onnx::Model::load(models + "/digits.onnx");
  std::ifstream file(WEFT_ONNX_TESTS "/digits_scores.txt");
  for (int digit = 0; digit < 10; ++digit) {
    const std::vector<float> found = scores_of(model, image_of(digit));
    for (const float score : found) {
      float expected = NAN;
      file >> expected;
      EXPECT_NEAR(score, expected, 1e-5) << digit;
    }
    EXPECT_EQ(largest(found), static_cast<std::size_t>(digit));
    EXPECT_GT(found.at(static_cast<std::size_t>(digit)), 0.99F);
  }
}

TEST(Digits, InkOnPaperIsReadAsWell) {
  const onnx::Model model = onnx::Model::load(models + "/digits.onnx");
  for (int digit = 0; digit < 10; ++digit)
    EXPECT_EQ(largest(scores_of(model, 1 - image_of(digit))), static_cast<std::size_t>(digit));
}

}  // namespace
}  // namespace weft
