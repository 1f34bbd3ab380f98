// A kernel that multiplies a vector by a matrix of codes: bytes, or fields of bytes, which a scale and an offset of their
// block make numbers.
#pragma once

#include <optional>
#include <vector>

#include <weft/dev/ir/uop.h>

#include "algorithms/only_sum.h"

namespace weft {

// The kernel, as far as a form of it needs to know it: it sums x * (scale * (code + shift) + offset).
struct QuantizedGemv {
  const Node *end, *store, *sum;
  const Node* row;  // the loop of the output
  UOp x;            // f32, the same for all rows
  const Node* code;
  UOp scale, shift = {}, offset = {};  // one of the latter is null at least
  Ranges blocks = {};                  // loops of the sum that all but codes change with
  Ranges codes = {};  // those in a block; all that is read of codes changes with the last

  std::int64_t codes_of_block() const;
  std::vector<const Node*> parts_of_matrix() const;  // code, scale and what is not null
};

// Whose matrix is constant; nothing for other kernels.
std::optional<QuantizedGemv> quantized_gemv_in(const UOp& kernel);

}  // namespace weft
