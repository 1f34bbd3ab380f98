// Whole training steps beside PyTorch's: the losses of gpt.txt and resnet50.txt, which make.py writes.
// WEFT_FULL=1 takes all steps; otherwise the first, as many as take seconds.

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "../../bench/peers/hashed.h"
#include "../../examples/models/gpt.h"
#include "../../examples/models/resnet.h"

namespace weft {
namespace {

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

TEST(Curves, Gpt) {
  const models::Gpt model({});
  bench::initialise(model);
  nn::AdamW optimizer(model, {.lr = 1e-3});
  auto train = jit([&](const Tensor& text) {
    const Training training;
    optimizer.zero_grad();
    const Tensor loss = model.loss(text.narrow(1, 0, 128), text.narrow(1, 1, 128));
    loss.backward();
    optimizer.step();
    return loss;
  });
  expect_curve(read_curve("gpt", 5),
               [&](std::size_t step) { return train(bench::characters(65, step, 16, 129)); });
}

TEST(Curves, ResNet50) {
  const models::ResNet<models::Bottleneck> model = models::resnet50();
  bench::initialise(model);
  nn::SGD optimizer(model, {.lr = 5e-4, .momentum = 0.9, .weight_decay = 1e-4});
  const Tensor images = bench::images(4, 3, 64), classes = bench::classes(4, 1000);
  auto train = jit([&] {
    const Training training;
    optimizer.zero_grad();
    const Tensor loss = model(images).cross_entropy(classes);
    loss.backward();
    optimizer.step();
    return loss;
  });
  expect_curve(read_curve("resnet50", 4), [&](std::size_t) { return train(); });
}

}  // namespace
}  // namespace weft
