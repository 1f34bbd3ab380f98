// Views of contiguous bytes, which can be copied without a kernel.
#pragma once

#include <cstddef>
#include <optional>

#include <weft/dev/rewrite/rule.h>

namespace weft {

// The bytes of a BUFFER from `offset` on.
struct Region {
  const Node* buffer;
  std::size_t offset;
};

// Returns the bytes of a view whose elements are contiguous in row-major order: a BUFFER that is
// reshaped, bitcast, or shrunk along its outermost axes.
std::optional<Region> region_of(const Node* view);

// Rules for devices that run no kernels. A copy from such a device copies a region, and the rest of
// the view is applied to the copy.
const RuleSet& region_rules();

}  // namespace weft
