// Sums of products of many tensors, whose axes run along together where they have one label.
#pragma once

#include <string_view>
#include <vector>

#include <weft/tensor.h>

#include "contraction_order.h"

namespace weft {

// A tensor and the label of each of its axes, all different and below 64.
struct Labelled {
  Tensor tensor;
  std::vector<std::size_t> labels;

  Labels set() const;
};

// Summed over all labels that the output has not; of a void dtype in that of the operands, as matmul().
Tensor contraction(std::string_view op, std::vector<Labelled> operands,
                   const std::vector<std::size_t>& output, DType dtype = {});

}  // namespace weft
