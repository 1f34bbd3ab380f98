// Steps of training: what the loss, gradients and updates of parameters take.

#include <weft/weft.h>

#include "../../examples/models/gpt.h"
#include "../../examples/models/mnist.h"
#include "../../examples/models/resnet.h"
#include "../peers/hashed.h"
#include "corpus.h"

namespace weft::bench {
namespace {

template <class Model, class Loss>
std::vector<ScheduleItem> step_of(const Model& model, nn::Optimizer optimizer, const Loss& loss) {
  const Training training;
  optimizer.zero_grad();
  const Tensor value = loss(model);
  value.backward();
  optimizer.step();
  std::vector<Tensor> wanted = get_parameters(model);
  wanted.push_back(value);
  return Tensor::schedule(wanted);
}

}  // namespace

void Corpus::add_training() {
  const models::Gpt gpt({});
  initialise(gpt);
  const Tensor text = characters(65, 0, 4, 129);
  const Tensor x = text.narrow(1, 0, 128).contiguous(), y = text.narrow(1, 1, 128).contiguous();
  add("gpt", "training", step_of(gpt, nn::AdamW(gpt, {.lr = 1e-3}), [&](const models::Gpt& given) {
        return given.loss(x, y);
      }));

  const auto resnet = models::small_resnet18();
  initialise(resnet);
  add("resnet18", "training",
      step_of(resnet, nn::SGD(resnet, {.lr = 5e-4, .momentum = 0.9}), [](const auto& given) {
        return given(images(8, 3, 32)).cross_entropy(classes(8, 10));
      }));

  const models::Mnist mnist;
  initialise(mnist);
  add("mnist", "training",
      step_of(mnist, nn::Adam(mnist, {.lr = 3e-4}), [](const models::Mnist& given) {
        return given(images(64, 1, 28)).cross_entropy(classes(64, 10));
      }));
}

}  // namespace weft::bench
