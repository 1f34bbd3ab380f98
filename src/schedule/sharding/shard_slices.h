// What one device takes of a tensor, wherever that lies.
#pragma once

#include <optional>

#include <weft/dev/ir/movement.h>
#include <weft/dev/ir/multi.h>

namespace weft {

UOp copied(const UOp& tensor, Symbol from, Symbol to);

// Elements from `start` on, along one axis.
UOp slice_of(const UOp& tensor, std::int64_t axis, std::int64_t start, std::int64_t size);

// Pieces one after another. By selection: what is read of each piece is masked.
UOp joined(const std::vector<UOp>& pieces, std::int64_t axis);

// The part of the tensor that a layout gives to one of its devices, on that device.
UOp shard_slice(const UOp& tensor, const Layout& layout, std::size_t part);

// Of operands of one shape: that of the first which is split, so that it stays where it is; nothing where
// none is in parts.
std::optional<Layout> common_layout(NodeList operands);

template <class F>
UOp for_each_part(const Layout& layout, F part) {
  std::vector<UOp> parts;
  for (std::size_t i = 0; i < layout.devices.size(); ++i) parts.push_back(part(i));
  return layout.multi(parts);
}

// The same op on each device, on what the layout says of all its operands.
UOp on_each(const Node* op, const Layout& layout);

}  // namespace weft
