// Collapses two nested loops into one if each access advances uniformly across both. Copies of
// several dimensions, contiguous in memory, then become loops that are as long as possible. Runs
// when schedules have been applied and indices are flat.
#pragma once

#include <weft/dev/ir/graph.h>

namespace weft {

// A traversal for traversed() in traversal.h.
class JoinLoops {
 public:
  explicit JoinLoops(NodeList roots);
  UOp operator[](const Node* node) const { return UOp(*made_.find(node)); }

 private:
  NodeMap<const Node*> made_;
};

}  // namespace weft
