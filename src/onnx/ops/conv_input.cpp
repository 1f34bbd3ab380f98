#include "conv_input.h"

#include "sliding.h"

namespace weft::onnx {

Tensor surrounded(const Call& call, const Tensor& x, const Tensor& weight, Scalar fill) {
  Tensor::Bounds bounds(2, {0, 0});
  for (const auto& [before, after] : sliding_over(call, x, weight).pads)
    bounds.emplace_back(before, after);
  return x.pad(bounds, fill);
}

Tensor place_by_place(const Tensor& x) {
  return x.permute({0, 2, 3, 1}).contiguous().permute({0, 3, 1, 2});
}

void gather_channels(Tensor& x, Tensor& weight) {
  constexpr std::int64_t together = 4;
  const std::int64_t missing = together - weight.size(1);
  if (missing <= 0 || x.ndim() != 4) return;
  x = place_by_place(x.pad(Tensor::Bounds{{0, 0}, {0, missing}, {0, 0}, {0, 0}}));
  weight = weight.pad(Tensor::Bounds{{0, 0}, {0, missing}, {0, 0}, {0, 0}});
}

}  // namespace weft::onnx
