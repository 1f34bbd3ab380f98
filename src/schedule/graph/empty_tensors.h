// Replaces tensors without elements by constants.

#pragma once

#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

// Returns the tensors with zeros in place of all values without elements. Runs after sharding.
std::vector<UOp> without_empty(const std::vector<UOp>& tensors);

}  // namespace weft
