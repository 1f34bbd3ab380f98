// Operators that models have without a domain, and the standard does not.
#include <numbers>

#include <fmt/format.h>

#include "microsoft.h"

namespace weft::onnx {
namespace {

// Over the axis and all behind it.
Values simplified_layer_normalization(const Call& call) {
  const Tensor x = call.tensor(0), gamma = call.tensor(1);
  const std::int64_t rank = x.ndim(), axis = call.attr("axis", -1);
  if (axis < -rank || axis >= rank) call.refuse(fmt::format("it has no axis {}", axis));
  const std::int64_t first = axis < 0 ? axis + rank : axis;
  const auto [y, mean, inverse] =
      rms_normalized(x.flatten(first), gamma.flatten(), call.attr("epsilon", 1e-5));
  std::vector<Dim> kept = x.dims();
  for (auto i = static_cast<std::size_t>(first); i < kept.size(); ++i) kept[i] = 1;
  return {y.reshape_as(x), inverse.reshape(Shape(kept))};
}

// Of models for microcontrollers: RMS normalisation as it is,
Tensor rms_norm(const Call& call) {
  return rms_normalized(call.tensor(0), call.tensor(1), call.attr("eps", 1e-6)).y;
}

// and integers, held in floats, in another scale: multiplied, moved and divided by a power of two, to the nearest.
// The numbers are attributes in tensors, which a recorded call cannot read. Integers of f64 stay whole.
Tensor requant_shift(const Call& call) {
  const auto exact = [](const Tensor& x) { return x.cast(dtypes::f64); };
  const auto number = [&](const char* name) { return exact(call.attr<Tensor>(name).reshape({})); };
  const Tensor x = call.tensor(0), levels = number("n_levels_out");
  const Tensor least = (number("signed") != 0).where(levels / -2, 0.0);
  const Tensor moved = exact(x) * exact(call.tensor(1)) + exact(call.tensor(2));
  const Tensor nearest = (moved / number("div") + 0.5).floor();
  return nearest.maximum(least).minimum(least + levels - 1).cast(x.dtype());
}

// Of the exact form, from its input.
Tensor gelu_grad(const Call& call) {
  const Tensor dy = call.tensor(0), x = call.tensor(1);
  const Tensor below =
      (x * std::numbers::sqrt2 / 2).erf() * 0.5 + 0.5;  // the part of a normal distribution
  const Tensor density =
      (x * x * -0.5).exp() * (0.5 * std::numbers::inv_sqrtpi * std::numbers::sqrt2);
  return dy * (below + x * density);
}

Tensor sgd(const Call& call) { return call.tensor(0) - call.tensor(1) * call.attr<double>("lr"); }

}  // namespace

OpTable unofficial_ops() {
  static const Op ops[] = {
      {"GeluGrad", 1, gelu_grad},
      {"RMSNorm", 1, rms_norm},
      {"RequantShift", 1, requant_shift},
      {"SGD", 1, sgd},
      {"SimplifiedLayerNormalization", 1, simplified_layer_normalization},
  };
  return {"", ops};
}

}  // namespace weft::onnx
