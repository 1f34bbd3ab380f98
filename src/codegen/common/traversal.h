// Support for passes that are traversals of the whole graph rather than rewrite rules.
#pragma once

#include <vector>

#include <weft/dev/ir/graph.h>
#include <weft/dev/rewrite/rewriter.h>

namespace weft {

// Returns Traversal(nodes, arguments ...)[node] for the node of each root. Runs in an arena, which
// owns all nodes made on the way, so a traversal can hold them as plain pointers.
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
