// Views that need no kernel to be copied: bytes that lie together.
#pragma once

#include <cstddef>
#include <optional>

#include <weft/dev/rewrite/rule.h>

namespace weft {

// Bytes of a BUFFER, from `offset` on.
struct Region {
  const Node* buffer;
  std::size_t offset;
};

// Where the elements of a view lie, if in row-major order and without a gap: of a BUFFER reshaped,
// read as another dtype, or cut along its outermost axes.
std::optional<Region> region_of(const Node* view);

// Devices that run no kernels: a copy from one takes a region, and what the rest of the view does
// with it happens where the copy is.
const RuleSet& region_rules();

}  // namespace weft
