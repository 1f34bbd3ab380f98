// Merges buffers that copies of a loop body fill with the same values. Unrolling gives each copy a
// buffer of its own. Once the reductions of the copies share a loop again, copies that fill their
// buffers identically can share one buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include <weft/dev/ir/graph.h>

namespace weft {

class BufferMerger {
 public:
  explicit BufferMerger(NodeList order);  // the graph before it is rebuilt

  // Returns the first AFTER seen that equals `now` up to the ids of the buffer and of the loops
  // that fill it. `before` is the node that `now` was rebuilt from. Returns `now` if the buffer is
  // also filled elsewhere.
  UOp representative_of(const Node* before, const UOp& now);

 private:
  bool is_filled_here_only(const Node* after) const;
  UOp canonical_form(const UOp& after);

  std::unordered_map<const Node*, std::ptrdiff_t> stores_;  // how many each buffer has
  NodeMap<const Node*> first_;                              // by canonical form
  std::vector<std::uint64_t> loops_;                        // canonical ids of loops, by position
  UniqueId memory_;
};

}  // namespace weft
