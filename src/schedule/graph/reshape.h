// Maps indices and axes of a RESHAPE to those of its source.
#pragma once

#include <optional>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

UOp size_as_index(const Node* size);

// Returns the indices, in a tensor of sizes `from`, of the element that has `indices` in sizes
// `to`. Both have the same elements in row-major order.
std::vector<UOp> reshaped_indices(NodeList from, NodeList to, const std::vector<UOp>& indices);

// Returns the source axis that a RESHAPE passes on unchanged as this axis; nothing if it merges or
// splits axes here, or if a size is unknown.
std::optional<std::size_t> source_axis(const Node* reshape, std::size_t axis);

}  // namespace weft
