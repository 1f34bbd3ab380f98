#include "train.h"

#include <map>
#include <string_view>

#include "../../examples/models/gpt.h"
#include "../../examples/models/mnist.h"
#include "../../examples/models/resnet.h"
#include "hashed.h"

namespace weft::bench {
namespace {

using nlohmann::json;
using Step = std::function<Tensor()>;

template <class Model, class Loss>
Step step_of(const Model& model, const nn::Optimizer& optimizer, const Loss& loss) {
  auto step = [model, loss, optimizer = nn::Optimizer(optimizer)]() mutable {
    const Training training;
    optimizer.zero_grad();
    const Tensor value = loss(model);
    value.backward();
    optimizer.step();
    return value;
  };
  return [replayed = std::make_shared<Jit<decltype(step)>>(step)]() { return (*replayed)(); };
}

Step gpt(const json& one) {
  const models::Gpt model({});
  initialise(model);
  const Tensor text = characters(65, 0, one.at("batch").get<std::size_t>(), 129);
  const Tensor x = text.narrow(1, 0, 128).contiguous(), y = text.narrow(1, 1, 128).contiguous();
  return step_of(model, nn::AdamW(model, {.lr = 1e-3}),
                 [x, y](const models::Gpt& given) { return given.loss(x, y); });
}

Step resnet18(const json& one) {
  const auto model = models::small_resnet18();
  initialise(model);
  const auto batch = one.at("batch").get<std::int64_t>();
  const Tensor x = images(batch, 3, 32), y = classes(batch, 10);
  const nn::SGD optimizer(model, {.lr = 5e-4, .momentum = 0.9, .weight_decay = 1e-4});
  return step_of(model, optimizer, [x, y](const auto& given) { return given(x).cross_entropy(y); });
}

Step mnist(const json& one) {
  const models::Mnist model;
  initialise(model);
  const auto batch = one.at("batch").get<std::int64_t>();
  const Tensor x = images(batch, 1, 28), y = classes(batch, 10);
  return step_of(model, nn::Adam(model, {.lr = 3e-4}),
                 [x, y](const models::Mnist& given) { return given(x).cross_entropy(y); });
}

const std::map<std::string_view, Step (*)(const json&)> models_by_name{
    {"gpt", gpt}, {"resnet18", resnet18}, {"mnist", mnist}};

class TrainingWork final : public Work {
 public:
  explicit TrainingWork(const json& one)
      : step_(models_by_name.at(one.at("model").get<std::string>())(one)) {}

  void run() override {
    const float loss = step_().item<float>();
    if (losses_.empty()) losses_.push_back(loss);
  }
  std::vector<float> result() override { return losses_; }

 private:
  Step step_;
  std::vector<float> losses_;  // the first one
};

}  // namespace

std::unique_ptr<Work> training(const json& one) { return std::make_unique<TrainingWork>(one); }

}  // namespace weft::bench
