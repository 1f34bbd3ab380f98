// What values are made of: walking down from some nodes, where the way on depends on the node.
#pragma once

#include <algorithm>
#include <vector>

#include <weft/dev/ir/graph.h>

namespace weft {

inline bool changes_with(const Node* node, const Node* range) {
  return std::ranges::find(node->ranges(), range) != node->ranges().end();
}

// The nodes and what they are made of, each once: of a node, `next` says which of its sources to go on with.
template <class Next>
std::vector<const Node*> nodes_below(std::vector<const Node*> open, Next next) {
  std::vector<const Node*> found;
  NodeMap<bool> seen;
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (!seen.insert(node, true)) continue;
    found.push_back(node);
    const NodeList sources = next(node);
    open.insert(open.end(), sources.begin(), sources.end());
  }
  return found;
}

// What values are made of, element for element, down to what is read or reduced.
inline std::vector<const Node*> elementwise_below(const std::vector<const Node*>& values) {
  return nodes_below(values, [](const Node* node) {
    return is_elementwise(node->op()) ? node->src() : NodeList{};
  });
}

}  // namespace weft
