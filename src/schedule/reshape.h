// Which element of a reshaped tensor is which.
#pragma once

#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

UOp size_as_index(const Node* size);

// The indices into a tensor of sizes `from` of the element that has `indices` in sizes `to`. Both
// hold equally many elements in row-major order.
std::vector<UOp> reshaped_indices(NodeList from, NodeList to, const std::vector<UOp>& indices);

}  // namespace weft
