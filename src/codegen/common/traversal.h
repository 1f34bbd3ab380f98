// Support for passes that are traversals of the whole graph rather than rewrite rules.
#pragma once

#include <vector>

#include <weft/dev/ir/graph.h>
#include <weft/dev/rewrite/rewriter.h>

namespace weft {

// What a traversal has made of the nodes so far.
class Rebuilt {
 public:
  UOp operator[](const Node* node) const { return UOp(*made_.find(node)); }

 protected:
  bool contains(const Node* node) const { return made_.contains(node); }
  void set(const Node* node, const UOp& result) { made_.set(node, result.node()); }
  std::vector<UOp> sources(const Node* node) const {
    std::vector<UOp> src;
    for (const Node* source : node->src()) src.push_back((*this)[source]);
    return src;
  }
  UOp with_new_sources(const Node* node) const { return with_sources(UOp(node), sources(node)); }

 private:
  NodeMap<const Node*> made_;
};

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
