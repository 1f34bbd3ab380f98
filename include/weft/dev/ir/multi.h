// Tensors in parts on several devices: what SHARD asks for, and MULTI is.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

// The devices of a SHARD or MULTI, by their parts.
std::vector<Symbol> devices_of(const Node* node);
Symbol joined_names(const std::vector<Symbol>& devices);

// How a tensor lies on several devices.
struct Layout {
  // All of it on each.
  explicit Layout(std::vector<Symbol> on) : devices(std::move(on)) {}
  // Split in parts whose sizes differ by 1 at most, the larger ones first.
  Layout(std::int64_t split, std::int64_t size, std::vector<Symbol> on);
  Layout(std::int64_t split, std::vector<Symbol> on, std::vector<std::int64_t> at)
      : axis(split), devices(std::move(on)), bounds(std::move(at)) {}
  static Layout of(const Node* multi);

  bool is_split() const { return axis >= 0; }
  std::int64_t size(std::size_t part) const { return bounds[part + 1] - bounds[part]; }
  UOp multi(const std::vector<UOp>& parts) const;
  // Of a tensor of these sizes, those of a part.
  std::vector<UOp> sizes_of_part(std::vector<UOp> whole, std::size_t part) const;
  friend bool operator==(const Layout&, const Layout&) = default;

  std::int64_t axis = -1;
  std::vector<Symbol> devices;
  std::vector<std::int64_t>
      bounds;  // along the axis: where each part begins, and the last one ends
};

}  // namespace weft
