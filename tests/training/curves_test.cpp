// Whole training steps beside PyTorch's: the losses of gpt.txt and resnet50.txt, which make.py writes.
// WEFT_FULL=1 takes all steps; otherwise the first, as many as take seconds.

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "../../bench/peers/input_values.h"
#include "../../examples/models/gpt.h"
#include "../../examples/models/resnet.h"

namespace weft {
namespace {

// FNV-1a, 32 bits: the number of a tensor is the hash of its name.
std::uint32_t hash_of(std::string_view name) {
  std::uint32_t bits = 0x811C9DC5;
  for (const char c : name) bits = (bits ^ static_cast<unsigned char>(c)) * 0x01000193;
  return bits;
}

Tensor hashed(const Shape& shape, std::uint32_t number) {
  const Tensor like = Tensor::empty(shape);
  const auto count = static_cast<std::size_t>(like.numel());
  return Tensor(bench::input_values(count, number)).reshape(shape);
}

// Matrices and kernels uniform within 1 / sqrt(inputs), what scales 1, what is added 0. Residual blocks end with
// less: where they add as much as there is, rounding errors grow in each.
template <class Model>
void initialise(const Model& model) {
  const NoGrad constant;
  for (auto& [name, tensor] : get_tensors(model)) {
    if (!tensor.requires_grad()) continue;
    if (tensor.ndim() == 1) {
      const double scale = name.ends_with("bn3.weight") ? 0.2 : 1;
      tensor.fill(name.ends_with("weight") ? scale : 0);
      continue;
    }
    const auto inputs = static_cast<double>(tensor.numel() / tensor.size(0));
    tensor.assign(hashed(tensor.shape(), hash_of(name)) / std::sqrt(inputs));
  }
  Tensor::realize(get_parameters(model));
}

struct Curve {
  std::vector<double> losses;
  std::size_t steps;  // of this run
};

// The first number of each line; the second is what single precision made of it there.
Curve read_curve(const std::string& name, std::size_t first_steps) {
  std::ifstream in(std::string(WEFT_TRAINING_DATA) + "/" + name + ".txt");
  Curve curve;
  for (double loss = 0, single = 0; in >> loss >> single;) curve.losses.push_back(loss);
  const bool is_full = std::getenv("WEFT_FULL") != nullptr;
  curve.steps = is_full ? curve.losses.size() : std::min(first_steps, curve.losses.size());
  return curve;
}

void expect_curve(const Curve& curve, const std::function<Tensor(std::size_t step)>& train) {
  ASSERT_FALSE(curve.losses.empty());
  for (std::size_t step = 0; step < curve.steps; ++step)
    ASSERT_NEAR(train(step).item<double>(), curve.losses[step], 1e-3) << "step " << step;
}

// Each character is one of two that the one before allows: a hash decides.
Tensor characters(std::size_t step, std::size_t batch, std::size_t length) {
  constexpr std::uint32_t words = 65;
  const auto number = static_cast<std::uint32_t>(1000 + step);
  const std::vector<float> bits = bench::input_values(batch * length, number);
  std::vector<std::int32_t> text;
  for (std::size_t row = 0; row < batch; ++row) {
    std::uint32_t now = hash_of(std::to_string(step) + " " + std::to_string(row)) % words;
    for (std::size_t place = 0; place < length; ++place) {
      if (place > 0) now = (3 * now + 1 + (bits[row * length + place] > 0 ? 1 : 0)) % words;
      text.push_back(static_cast<std::int32_t>(now));
    }
  }
  return Tensor(text).reshape({static_cast<std::int64_t>(batch), -1});
}

TEST(Curves, Gpt) {
  const models::Gpt model({});
  initialise(model);
  nn::AdamW optimizer(model, {.lr = 1e-3});
  expect_curve(read_curve("gpt", 5), [&](std::size_t step) {
    const Training training;
    const Tensor text = characters(step, 16, 129);
    optimizer.zero_grad();
    const Tensor loss = model.loss(text.narrow(1, 0, 128), text.narrow(1, 1, 128));
    loss.backward();
    optimizer.step();
    return loss;
  });
}

TEST(Curves, ResNet50) {
  const models::ResNet<models::Bottleneck> model = models::resnet50();
  initialise(model);
  nn::SGD optimizer(model, {.lr = 5e-4, .momentum = 0.9, .weight_decay = 1e-4});
  const Tensor images = hashed({4, 3, 64, 64}, 1000);
  std::vector<std::int32_t> numbers;
  for (int row = 0; row < 4; ++row)
    numbers.push_back(static_cast<std::int32_t>(hash_of(std::to_string(row)) % 1000));
  const Tensor classes(numbers);
  expect_curve(read_curve("resnet50", 3), [&](std::size_t) {
    const Training training;
    optimizer.zero_grad();
    const Tensor loss = model(images).cross_entropy(classes);
    loss.backward();
    optimizer.step();
    return loss;
  });
}

}  // namespace
}  // namespace weft
