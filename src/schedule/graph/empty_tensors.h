#pragma once

#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

// The tensors with zeros in place of all that has no elements, once each lies on its devices.
std::vector<UOp> without_empty(const std::vector<UOp>& tensors);

}  // namespace weft
