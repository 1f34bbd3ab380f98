// com.microsoft: gradients, which graphs of training steps have as nodes of their own.

#include <fmt/format.h>

#include "axes.h"
#include "microsoft.h"

namespace weft::onnx {
namespace {

// From the result of the softmax, which is over the axis and all behind it.
Tensor softmax_grad(const Call& call) {
  const Tensor dy = call.tensor(0), y = call.tensor(1);
  const auto axes = axes_between(axis_of(call, call.attr("axis", 1), y.ndim()), y.ndim());
  return y * (dy - (dy * y).sum(axes, true));
}

// The mean and the inverse of the deviation are the last two inputs of five. Where there are fewer they are computed.
Values layer_normalization_grad(const Call& call) {
  const Tensor dy = call.tensor(0), x = call.tensor(1), scale = call.tensor(2);
  const std::int64_t axis = axis_of(call, call.attr("axis", -1), x.ndim());
  const auto within = axes_between(axis, x.ndim()), around = axes_between(0, axis);
  const bool is_given = call.inputs() == 5;
  const Tensor mean = is_given ? call.tensor(3) : x.mean(within, true);
  const Tensor centred = x - mean;
  const Tensor inverse =
      is_given ? call.tensor(4)
               : ((centred * centred).mean(within, true) + call.attr("epsilon", 1e-5)).rsqrt();
  const Tensor normal = centred * inverse, dnormal = dy * scale;
  const Tensor dx = inverse * (dnormal - dnormal.mean(within, true) -
                               normal * (dnormal * normal).mean(within, true));
  return {dx, (dy * normal).sum(around), dy.sum(around)};
}

// Of a mean or a sum over (batch, classes, ...). The loss's own gradient is left out where it is 1.
Tensor softmax_cross_entropy_grad(const Call& call) {
  const bool has_own = call.inputs() > 2;
  if (call.inputs() > 3) call.refuse("weights of classes are not supported");
  const Tensor log_probabilities = call.tensor(has_own ? 1 : 0),
               labels = call.tensor(has_own ? 2 : 1);
  const std::string reduction = call.attr("reduction", "mean");
  if (reduction != "mean" && reduction != "sum")
    call.refuse(fmt::format("reduction is '{}': want mean or sum", reduction));
  const Tensor wanted = labels.one_hot(log_probabilities.size(1)).movedim(-1, 1);
  Tensor result = log_probabilities.exp() - wanted.cast(log_probabilities.dtype());
  if (reduction == "mean") result = result / labels.numel();
  return has_own ? result * call.tensor(0) : result;
}

}  // namespace

OpTable microsoft_backward_ops() {
  static const Op ops[] = {
      {"LayerNormalizationGrad", 1, layer_normalization_grad},
      {"SoftmaxCrossEntropyLossGrad", 1, softmax_cross_entropy_grad},
      {"SoftmaxGrad", 1, softmax_grad},
  };
  return {microsoft, ops};
}

}  // namespace weft::onnx
