// Which element of a reshaped tensor is which.
#pragma once

#include <optional>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

UOp size_as_index(const Node* size);

// The indices into a tensor of sizes `from` of the element that has `indices` in sizes `to`. Both
// hold equally many elements in row-major order.
std::vector<UOp> reshaped_indices(NodeList from, NodeList to, const std::vector<UOp>& indices);

// The axis that a RESHAPE passes on as this one; nothing where it joins or cuts, or where a size is not known.
std::optional<std::size_t> axis_before(const Node* reshape, std::size_t axis);

}  // namespace weft
