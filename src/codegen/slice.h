// What changes with a range, and copies of it.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <weft/dev/ir/graph.h>

namespace weft {

inline bool changes_with(const Node* node, const Node* range) {
  return std::ranges::find(node->ranges(), range) != node->ranges().end();
}

// What changes with the range, at and below a node, sources before users.
std::vector<const Node*> slice_of(const Node* root, const Node* range);

// A copy where the reductions that change with the range have new ranges: a RANGE is closed once.
UOp renewed(const UOp& root, const Node* changing);

}  // namespace weft
