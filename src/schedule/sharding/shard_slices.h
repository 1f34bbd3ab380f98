// Slices of a tensor that one device needs, whichever devices hold the tensor.
#pragma once

#include <optional>

#include <weft/dev/ir/movement.h>
#include <weft/dev/ir/multi.h>

#include "graph/reshape.h"

namespace weft {

UOp copied(const UOp& tensor, Symbol from, Symbol to);

// Concatenates pieces along an axis, by padding and selection. Reads of each piece are then masked.
UOp joined(const std::vector<UOp>& pieces, std::int64_t axis);

// Returns the part of the tensor that a layout assigns to one of its devices, on that device.
UOp shard_slice(const UOp& tensor, const Layout& layout, std::size_t part);

// Returns the layout in which to compute an op on operands of one shape: that of the first split
// operand, which then need not be copied. If none is split, it is that of the first MULTI; nothing
// if there is no MULTI.
std::optional<Layout> common_layout(NodeList operands);

// Returns the product of the sizes; nothing if one is symbolic or the product overflows.
std::optional<std::int64_t> constant_product(NodeList sizes);

// Returns whether the view consists of movement ops over the memory.
bool is_view_of(const Node* view, const Node* memory);

template <class F>
UOp for_each_part(const Layout& layout, F part) {
  std::vector<UOp> parts;
  for (std::size_t i = 0; i < layout.devices.size(); ++i) parts.push_back(part(i));
  return layout.multi(parts);
}

// Applies the op on each device to the slices that the layout assigns to it.
UOp apply_on_each(const Node* op, const Layout& layout);

}  // namespace weft
