// Copies of tensors of models.

#include <weft/nn/copies.h>

#include <fmt/format.h>
#include <weft/error.h>

namespace weft::nn::copies {

void refuse_sharing() {
  user_error("a copy of this model has some of its members, not copies of them (a shared_ptr?)");
}

Tensor clone(const Tensor& tensor) {
  return tensor.detach().clone().set_requires_grad(tensor.requires_grad());
}

void want_decay(double decay) {
  if (!(decay >= 0 && decay <= 1))
    user_error(fmt::format("EMA: a decay of {} is not from 0 to 1", decay));
}

Tensor cast(const Tensor& tensor, DType dtype) {
  if (!dtype.is_float()) user_error(fmt::format("parameters are not of {}", dtype.str()));
  return tensor.requires_grad() ? tensor.cast(dtype) : tensor;
}

void follow(const std::vector<Tensor>& averages, const std::vector<Tensor>& model, double decay) {
  if (averages.size() != model.size())
    user_error(
        fmt::format("a model of {} tensors for averages of {}", model.size(), averages.size()));
  const NoGrad constant;
  for (std::size_t i = 0; i < model.size(); ++i) {
    Tensor average = averages[i];
    average.assign(decay == 0 ? model[i] : average.lerp(model[i], 1 - decay));
  }
  Tensor::realize(averages);
}

}  // namespace weft::nn::copies
