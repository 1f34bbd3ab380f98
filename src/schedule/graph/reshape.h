// Movement ops: their sizes, and how their indices and axes map to those of their sources.
#pragma once

#include <optional>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

UOp size_as_index(const Node* size);

// Returns the indices, in a tensor of sizes `from`, of the element that has `indices` in sizes
// `to`. Both have the same elements in row-major order.
std::vector<UOp> reshaped_indices(NodeList from, NodeList to, const std::vector<UOp>& indices);

inline bool is_movement(const Node* node) { return info(node->op()).cls == OpClass::Movement; }

// Returns `size` elements from `start` along one axis.
UOp slice_of(const UOp& tensor, std::int64_t axis, const UOp& start, std::int64_t size);

// Views that neither leave elements out nor add zeros.
inline constexpr OpSet whole_views{Op::Reshape, Op::Permute, Op::Expand};

// Returns the source axis that a whole view passes on as this axis; nothing if a RESHAPE merges or
// splits axes here, or if a size of it is unknown or 0.
std::optional<std::size_t> source_axis(const Node* view, std::size_t axis);

// Returns whether the view is an EXPAND of an axis of size 1 to this axis.
bool repeats(const Node* view, std::size_t axis);

// Returns the product of the sizes of all inner axes, which have to be constants.
Wide elements_behind(NodeList dims, std::size_t axis);

bool are_constants(NodeList sizes);
// Returns whether all sizes are positive constants.
bool have_known_sizes(NodeList dims);
// Returns whether a PAD or SHRINK has only constants besides its source.
bool has_known_bounds(const Node* node);
// Returns whether the node is a SHRINK at constant offsets.
bool is_at_known_place(const Node* node);

// A group of axes of a RESHAPE's source, and one of its result with as many elements.
struct AxisGroup {
  std::size_t from, from_end, to, to_end;
};

// Returns the smallest such groups, outermost first, up to the first size that is not positive and
// known.
std::vector<AxisGroup> axis_groups(NodeList from, NodeList to);

}  // namespace weft
