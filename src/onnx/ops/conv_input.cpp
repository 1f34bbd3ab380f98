#include "conv_input.h"

namespace weft::onnx {

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
