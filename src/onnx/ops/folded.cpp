// What the clean-up of graphs asks for: weights with what follows a convolution multiplied in, divisions as products. No
// file has these.

#include <optional>

#include <weft/dev/tensor/quotient.h>

#include "tables.h"

namespace weft::onnx {
namespace {

Tensor factor(const Call& call, std::size_t scale, std::size_t variance) {
  return call.tensor(scale) * (call.tensor(variance) + call.attr("epsilon", 1e-5)).rsqrt();
}

Tensor flat(const Call& call) { return call.tensor(0).flatten(); }

Tensor factor_alone(const Call& call) { return factor(call, 0, 1); }

// Channel by channel.
Tensor scale_shift(const Call& call) {
  const Tensor x = call.tensor(0);
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(x.ndim()), 1);
  sizes.at(1) = -1;
  const auto each = [&](std::size_t i) { return call.tensor(i).reshape(sizes).cast(x.dtype()); };
  return x * each(1) + each(2);
}

Tensor scaled_bias(const Call& call) {
  const Tensor shift = call.tensor(1), mean = call.tensor(2);
  const Tensor before = call.has(4) ? call.tensor(4) - mean : -mean;
  return (before * factor(call, 0, 3) + shift).cast(shift.dtype());
}

// By a product, where the divisor is known.
Tensor quotient_of(const Call& call) {
  const Tensor a = call.tensor(0), b = call.tensor(1);
  const std::optional<double> divisor = call.known_float(1);
  return divisor && b.ndim() <= a.ndim() ? quotient(a, *divisor) : a / b;
}

}  // namespace

OpTable folded_ops() {
  static const Op ops[] = {{"Factor", 1, factor_alone},
                           {"Flat", 1, flat},
                           {"Quotient", 1, quotient_of},
                           {"ScaleShift", 1, scale_shift},
                           {"ScaledBias", 1, scaled_bias}};
  return {"weft", ops};
}

}  // namespace weft::onnx
