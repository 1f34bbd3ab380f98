// A kernel as nested loops: which nodes run in which loop, in order. A value is computed in the innermost loop that it changes
// with.
#pragma once

#include <vector>

#include <weft/dev/ir/graph.h>

namespace weft::interp {

// One loop of an END, REDUCE or STAGE, with what runs in each iteration: what changes with the loop, or is repeated by it. A
// closer without loops, and the kernel itself, have one that runs once.
struct Nest {
  const Node* closer;           // END, REDUCE, STAGE or SINK
  const Node* range = nullptr;  // null where it runs once
  const Nest* inner = nullptr;  // the closer's next loop, which runs at the end of each iteration
  std::vector<const Node*> body =
      {};  // sources before users; a closer among them runs its own loops
};

class Nests {
 public:
  explicit Nests(const Node* kernel);

  const Nest& root() const { return nests_.back(); }
  // The closer's outermost loop; null for other nodes.
  const Nest* of(const Node* closer) const;

 private:
  // The loops of a closer, by the place of the closers in the order, and each closer's innermost loop first.
  std::vector<Nest> nests_;
  NodeMap<std::uint32_t> outermost_;
};

}  // namespace weft::interp
