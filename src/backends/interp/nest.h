// A kernel as nested loops: which nodes run in which loop, in order. The plainest reading of the
// graph: nothing is moved, merged or left out.
#pragma once

#include <vector>

#include <weft/dev/ir/graph.h>

namespace weft::interp {

// The loops of an END, REDUCE or STAGE, with what runs in each iteration. The kernel itself is one
// too, without loops.
struct Nest {
  const Node* closer;             // END, REDUCE, STAGE or SINK
  std::vector<const Node*> body;  // sources before users; a closer among them runs its own nest
};

class Nests {
 public:
  explicit Nests(const Node* kernel);

  const Nest& root() const { return nests_.back(); }
  const Nest* of(const Node* closer) const;

 private:
  std::vector<Nest> nests_;  // by the place of their closers in the order
  NodeMap<std::uint32_t> number_;
};

}  // namespace weft::interp
