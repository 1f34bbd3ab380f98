// What changes with a range, and copies of it.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <weft/dev/ir/below.h>

namespace weft {

inline LoopKind kind_of(const Node* range) { return range->arg<RangeArg>().kind; }

// A range of as many iterations, of the same kind.
inline UOp range_like(const Node* range, std::int64_t iterations) {
  return weft::range(iterations, fresh_id().value, range->arg<RangeArg>().kind);
}

// What changes with the range, at and below a node, sources before users.
std::vector<const Node*> slice_of(const Node* root, const Node* range);

// The body where the range is something else; what is read and written with it is valid only where
// `valid` is.
UOp at_place(const UOp& body, const Node* range, const UOp& place,
             const UOp& valid = const_bool(true));

// A copy where the loops that change with the range have new ranges, since a RANGE is closed once, and
// where what they fill is memory of its own.
UOp renewed(const UOp& root, const Node* changing);

}  // namespace weft
