// The nodes that depend on a range, and copies of them.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <weft/dev/ir/below.h>

namespace weft {

inline LoopKind kind_of(const Node* range) { return range->arg<RangeArg>().kind; }

// Returns a new range of this size and of the same kind.
inline UOp range_like(const Node* range, std::int64_t iterations) {
  return weft::range(iterations, fresh_id().value, range->arg<RangeArg>().kind);
}

// Returns the nodes at and below `root` that depend on the range, sources before users.
std::vector<const Node*> slice_of(const Node* root, const Node* range);

// Replaces the range in `body` by `place`. Accesses that depend on the range are valid only where
// `valid` holds.
UOp with_range_replaced(const UOp& body, const Node* range, const UOp& place,
                        const UOp& valid = const_bool(true));

// Copies `root` so that two copies can coexist. The loops that depend on `changing` get new ranges,
// because a RANGE is closed only once, and the buffers that they fill are new.
UOp with_fresh_loops(const UOp& root, const Node* changing);

}  // namespace weft
