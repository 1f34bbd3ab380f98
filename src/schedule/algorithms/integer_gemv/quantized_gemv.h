// Recognises kernels that multiply a vector by a quantised matrix. Its codes are bytes or bit
// fields of bytes, which are dequantised by a scale and a shift or offset of their block.
#pragma once

#include <optional>
#include <vector>

#include <weft/dev/ir/uop.h>

#include "algorithms/sum_kernel.h"

namespace weft {

// A kernel that sums x * (scale * (code + shift) + offset).
struct QuantizedGemv : SumKernel {
  const Node* row;  // the output loop
  UOp x;            // f32, the same for all rows
  const Node* code;
  UOp scale, shift = {}, offset = {};  // shift, offset or both are null
  Ranges blocks = {};                  // loops of the sum that scale, shift or offset change with
  Ranges codes = {};  // those in a block; every LOAD of `code` changes with the last

  std::int64_t codes_of_block() const { return iterations_of(codes); }
  std::vector<const Node*> parts_of_matrix() const;  // code, scale, and shift or offset
};

// Recognises such a kernel if its matrix is constant; returns nothing for others.
std::optional<QuantizedGemv> quantized_gemv_in(const UOp& kernel);

}  // namespace weft
