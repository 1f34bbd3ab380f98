// What the clean-up of graphs asks for: weights with what follows a convolution multiplied in. No file has these.

#include "tables.h"

namespace weft::onnx {
namespace {

Tensor factor(const Call& call, std::size_t scale, std::size_t variance) {
  return call.tensor(scale) * (call.tensor(variance) + call.attr("epsilon", 1e-5)).rsqrt();
}

Tensor flat(const Call& call) { return call.tensor(0).flatten(); }

Tensor scaled_weight(const Call& call) {
  const Tensor weight = call.tensor(0);
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(weight.ndim()), 1);
  sizes.at(0) = -1;
  return weight * factor(call, 1, 2).reshape(sizes).cast(weight.dtype());
}

Tensor scaled_bias(const Call& call) {
  const Tensor shift = call.tensor(1), mean = call.tensor(2);
  const Tensor before = call.has(4) ? call.tensor(4) - mean : -mean;
  return (before * factor(call, 0, 3) + shift).cast(shift.dtype());
}

const Op ops[] = {
    {"Flat", 1, flat}, {"ScaledBias", 1, scaled_bias}, {"ScaledWeight", 1, scaled_weight}};

}  // namespace

OpTable folded_ops() { return {"weft", ops}; }

}  // namespace weft::onnx
