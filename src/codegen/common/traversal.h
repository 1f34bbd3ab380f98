// Passes that are no rules: a walk over the whole graph that says what becomes of each node.
#pragma once

#include <vector>

#include <weft/dev/ir/graph.h>
#include <weft/dev/rewrite/rewriter.h>

namespace weft {

// Of each root what Traversal(roots, arguments ...)[root] says, in an arena: that keeps the nodes made
// on the way, so that the traversal need not.
template <class Traversal, class... Arguments>
std::vector<UOp> traversed(const std::vector<UOp>& roots, const Arguments&... arguments) {
  return in_arena(roots, [&](const std::vector<UOp>& inside) {
    const std::vector<const Node*> nodes = nodes_of(inside);
    const Traversal traversal(nodes, arguments...);
    std::vector<UOp> results;
    for (const Node* node : nodes) results.push_back(traversal[node]);
    return results;
  });
}

}  // namespace weft
