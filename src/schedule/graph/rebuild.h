// Rebuilds a graph node by node, for passes that no rewrite rule can express.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <weft/dev/ir/graph.h>

namespace weft {

// Returns the roots with remade(node, sources) in place of each node, where `sources` have taken the
// place of its own. Sources come before users.
template <class Remade>
std::vector<UOp> rebuilt(const std::vector<UOp>& roots, Remade remade) {
  NodeMap<std::size_t> place;
  std::vector<UOp> made;
  for (const Node* node : toposort(nodes_of(roots))) {
    std::vector<UOp> sources;
    for (const Node* source : node->src()) sources.push_back(made[*place.find(source)]);
    place.set(node, made.size());
    made.push_back(remade(node, std::move(sources)));
  }
  std::vector<UOp> results;
  for (const UOp& root : roots) results.push_back(made[*place.find(root.node())]);
  return results;
}

}  // namespace weft
