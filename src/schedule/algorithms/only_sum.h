// Helpers that recognise kernels with a single reduction.
#pragma once

#include <algorithm>
#include <vector>

#include <weft/dev/ir/graph.h>

namespace weft {

using Ranges = std::vector<const Node*>;

// Returns the only REDUCE below a STORE; null if there is none or several, or a STAGE or AFTER.
inline const Node* only_sum(const Node* store) {
  const Node* found = nullptr;
  for (const Node* node : toposort(store)) {
    if (node->op() == Op::Stage || node->op() == Op::After) return nullptr;
    if (node->op() != Op::Reduce) continue;
    if (found != nullptr) return nullptr;
    found = node;
  }
  return found;
}

inline bool has_known_sizes(NodeList ranges) {
  return std::ranges::all_of(ranges, [](const Node* range) {
    return range->op() == Op::Range && range->src(0)->is_const();
  });
}

}  // namespace weft
