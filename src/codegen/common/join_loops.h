// Loops that together walk along all memory that they change, as one: copies of what lies in several
// dimensions, one behind the other, are then as long as can be. Schedules are applied by then.
#pragma once

#include <weft/dev/ir/graph.h>

namespace weft {

// A traversal and not a rule: an END says which loops follow one another.
class JoinLoops {
 public:
  explicit JoinLoops(NodeList roots);
  UOp operator[](const Node* node) const { return UOp(*made_.find(node)); }

 private:
  NodeMap<const Node*> made_;
};

}  // namespace weft
