// What goes between backward() and step().

#include <weft/nn/training.h>

#include <algorithm>
#include <cmath>

#include "parameters.h"

namespace weft::nn {
namespace {

std::vector<Tensor> with_gradients(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> found;
  for (const Tensor& parameter : parameters)
    if (!parameter.grad().is_null()) found.push_back(parameter);
  return found;
}

// Of all parts as one vector, from those of the parts.
Tensor norm_of(const std::vector<Tensor>& parts, double p) {
  std::vector<Tensor> norms;
  for (const Tensor& part : parts)
    norms.push_back(part.cast(at_least_f32(part)).norm(p).to(parts[0].device()));
  return norms.empty() ? Tensor(0.0F) : Tensor::stack(norms).norm(p);
}

}  // namespace

Tensor clip_grad_norm(const TensorsOf& tensors, double max_norm, double norm_type) {
  const Called called;
  const NoGrad constant;
  std::vector<Tensor> parameters = with_gradients(tensors.parameters), gradients;
  for (const Tensor& parameter : parameters) gradients.push_back(parameter.grad());
  const Tensor norm = norm_of(gradients, norm_type);
  const Tensor factor = (max_norm / (norm + 1e-6)).minimum(1);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Tensor& gradient = gradients[i];
    parameters[i].set_grad((gradient * factor.to(gradient.device())).cast(gradient.dtype()));
  }
  return norm;
}

void clip_grad_value(const TensorsOf& tensors, double clip_value) {
  const Called called;
  for (Tensor& parameter : with_gradients(tensors.parameters))
    parameter.set_grad(parameter.grad().clamp(-clip_value, clip_value));
}

GradScaler::GradScaler(const GradScalerOptions& given) : options(given) {
  const Called called("GradScaler");
  if (!(options.init_scale > 0))
    user_error(fmt::format("the scale is {}, not above 0", options.init_scale));
  if (!(options.growth_factor > 1 && options.backoff_factor > 0 && options.backoff_factor < 1))
    user_error(fmt::format("the scale grows by {} and goes back by {}: want above 1 and below it",
                           options.growth_factor, options.backoff_factor));
  want_sizes({options.growth_interval});
  scale_factor = Tensor(std::vector{static_cast<float>(options.init_scale)}).reshape({});
  growth_tracker = Tensor(std::vector<std::int32_t>{0}).reshape({});
}

Tensor GradScaler::scale(const Tensor& loss) const {
  const Called called("scale");
  return loss.cast(at_least_f32(loss)) * scale_factor.to(loss.device());
}

GradScaler::Unscaled* GradScaler::find(const Optimizer& optimizer) {
  const auto found = std::ranges::find(unscaled_, &optimizer, &Unscaled::optimizer);
  return found == unscaled_.end() ? nullptr : &*found;
}

void GradScaler::unscale(const Optimizer& optimizer) {
  const Called called("unscale");
  if (find(optimizer) != nullptr)
    user_error("these gradients are unscaled already: update() ends a step");
  const NoGrad constant;
  Tensor overflow;
  for (Tensor& parameter : with_gradients(optimizer.parameters())) {
    const Tensor scaled = parameter.grad();
    const Tensor gradient = scaled.cast(at_least_f32(scaled)) / scale_factor.to(scaled.device());
    const Tensor here = gradient.isfinite().all().logical_not().to(scale_factor.device());
    overflow = overflow.is_null() ? here : overflow | here;
    parameter.set_grad(gradient);
  }
  unscaled_.push_back({&optimizer, overflow});
}

void GradScaler::step(Optimizer& optimizer) {
  const Called called("step");
  if (find(optimizer) == nullptr) unscale(optimizer);
  Unscaled& unscaled = *find(optimizer);
  if (unscaled.has_stepped)
    user_error("the optimizer has made its step: update() comes before the next");
  unscaled.has_stepped = true;
  Tensor::realize(optimizer.update(unscaled.overflow));
}

void GradScaler::update() {
  const Called called("update");
  Tensor overflow;
  for (const Unscaled& each : unscaled_)
    if (!each.overflow.is_null())
      overflow = overflow.is_null() ? each.overflow : overflow | each.overflow;
  if (overflow.is_null()) user_error("no gradients were unscaled since the last one");
  const NoGrad constant;
  const Tensor next = growth_tracker + 1, grows = next == options.growth_interval;
  const Tensor larger = scale_factor * options.growth_factor;
  const Tensor grown = (grows & larger.isfinite()).where(larger, scale_factor);
  growth_tracker.assign((overflow | grows).where(0, next));
  scale_factor.assign(overflow.where(scale_factor * options.backoff_factor, grown));
  Tensor::realize({growth_tracker, scale_factor});
  unscaled_.clear();
}

}  // namespace weft::nn
