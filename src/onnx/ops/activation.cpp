// Activations, element by element and along an axis.

#include <fmt/format.h>

#include "arguments.h"
#include "tables.h"

namespace weft::onnx {
namespace {

using Unary = Tensor (Tensor::*)() const;

template <Unary Method>
Tensor unary(const Call& call) {
  return (call.tensor(0).*Method)();
}

Tensor celu(const Call& call) { return call.tensor(0).celu(call.attr("alpha", 1.0)); }
Tensor elu(const Call& call) { return call.tensor(0).elu(call.attr("alpha", 1.0)); }
Tensor leaky_relu(const Call& call) { return call.tensor(0).leaky_relu(call.attr("alpha", 0.01)); }

Tensor hard_sigmoid(const Call& call) {
  return call.tensor(0).hardsigmoid(call.attr("alpha", 0.2), call.attr("beta", 0.5));
}

Tensor thresholded_relu(const Call& call) {
  const Tensor x = call.tensor(0);
  return (x > call.attr("alpha", 1.0)).where(x, 0).cast(x.dtype());
}

Tensor selu_of(const Call& call, double alpha, double gamma) {
  return call.tensor(0).selu(call.attr("alpha", alpha), call.attr("gamma", gamma));
}
Tensor early_selu(const Call& call) { return selu_of(call, 1.6732, 1.0507); }
Tensor selu(const Call& call) {
  return selu_of(call, 1.67326319217681884765625, 1.05070102214813232421875);
}

Tensor gelu(const Call& call) {
  const std::string approximation = call.attr("approximate", "none");
  if (approximation == "none") return call.tensor(0).gelu(Gelu::Exact);
  if (approximation == "tanh") return call.tensor(0).gelu(Gelu::Tanh);
  call.refuse(fmt::format("approximate is {}: want none or tanh", approximation));
}

Tensor swish(const Call& call) {
  const Tensor x = call.tensor(0);
  return x * (x * call.attr("alpha", 1.0)).sigmoid();
}

Tensor swiglu(const Call& call) { return swish(call) * call.tensor(1); }

Tensor softplus(const Call& call) { return call.tensor(0).softplus(); }

Tensor shrink(const Call& call) {
  const Tensor x = call.tensor(0);
  const double bias = call.attr("bias", 0.0), edge = call.attr("lambd", 0.5);
  const Tensor above = (x > edge).where(x - bias, 0);
  return (x < -edge).where(x + bias, above).cast(x.dtype());
}

Tensor sloped(const Tensor& x, const Tensor& slope) { return (x < 0).where(x * slope, x); }

// The slope broadcasts; up to opset 6 its one axis is that of channels.
Tensor prelu(const Call& call) { return sloped(call.tensor(0), call.tensor(1)); }
Tensor prelu_of_channels(const Call& call) {
  const Tensor x = call.tensor(0), slope = call.tensor(1);
  const bool is_for_channels = slope.ndim() == 1 && x.ndim() > 1;
  return sloped(x, is_for_channels ? along(slope, 1, x.ndim()) : slope);
}

// --- Along an axis. Up to opset 12 along all axes from that one on, taken as one -------------------------

using AlongAxis = Tensor (*)(const Tensor& x, std::int64_t axis);

template <AlongAxis F>
Tensor along_one(const Call& call) {
  const Tensor x = call.tensor(0);
  return F(x, axis_of(call, call.attr("axis", -1), x.ndim()));
}

template <AlongAxis F>
Tensor along_rest(const Call& call) {
  const Tensor x = call.tensor(0);
  const std::int64_t axis = axis_of(call, call.attr("axis", 1), x.ndim());
  return F(x.flatten(axis), axis).reshape(x.dims());
}

Tensor softmax(const Tensor& x, std::int64_t axis) { return x.softmax(axis); }
Tensor log_softmax(const Tensor& x, std::int64_t axis) { return x.log_softmax(axis); }
Tensor hardmax(const Tensor& x, std::int64_t axis) {
  if (x.size(axis) == 0) return x;
  const Tensor places = Tensor::arange(x.size(axis), {.dtype = dtypes::i64, .device = x.device()});
  return (x.argmax(axis, true) == along(places, axis, x.ndim())).cast(x.dtype());
}

}  // namespace

OpTable activation_ops() {
  static const Op ops[] = {
      {"Celu", 12, celu},
      {"Elu", 1, elu},
      {"Gelu", 20, gelu},
      {"HardSigmoid", 1, hard_sigmoid},
      {"HardSwish", 14, unary<&Tensor::hardswish>},
      {"Hardmax", 1, along_rest<hardmax>},
      {"Hardmax", 13, along_one<hardmax>},
      {"LeakyRelu", 1, leaky_relu},
      {"LogSoftmax", 1, along_rest<log_softmax>},
      {"LogSoftmax", 13, along_one<log_softmax>},
      {"Mish", 18, unary<&Tensor::mish>},
      {"PRelu", 1, prelu_of_channels},
      {"PRelu", 7, prelu},
      {"Relu", 1, unary<&Tensor::relu>},
      {"Selu", 1, early_selu},
      {"Selu", 6, selu},
      {"Shrink", 9, shrink},
      {"Sigmoid", 1, unary<&Tensor::sigmoid>},
      {"Softmax", 1, along_rest<softmax>},
      {"Softmax", 13, along_one<softmax>},
      {"Softplus", 1, softplus},
      {"Softsign", 1, unary<&Tensor::softsign>},
      {"SwiGLU", 28, swiglu},
      {"Swish", 24, swish},
      {"Tanh", 1, unary<&Tensor::tanh>},
      {"ThresholdedRelu", 10, thresholded_relu},
  };
  return {"", ops};
}

}  // namespace weft::onnx
