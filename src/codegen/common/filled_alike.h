// Memory that copies of a loop's body fill, each its own. Where the copies have one loop again, and fill the same,
// the memory of one serves all.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/dev/ir/graph.h>

namespace weft {

class FilledAlike {
 public:
  explicit FilledAlike(NodeList order);  // of the graph before

  // For memory after what fills it, the AFTER that `before` has become: the first of those that differ in
  // nothing but the names of memory and of the loops that fill it.
  UOp first_of(const Node* before, const UOp& now);

 private:
  bool is_filled_here_only(const Node* after) const;
  UOp form_of(const UOp& after);

  NodeMap<int> stores_;               // to each memory
  NodeMap<const Node*> first_;        // by form
  std::vector<std::uint64_t> loops_;  // names in forms, in the order of their loops
  std::uint64_t memory_;
};

}  // namespace weft
