// Finds repeated steps in a graph, by pairing each value of a step with its counterpart in the
// previous step.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

// The counterparts of one value in successive steps, last step first.
struct Chain {
  std::vector<const Node*> nodes;
  // The first `alike` nodes are computed in the same way; an initial value may follow.
  std::size_t alike = 0;
  // The nodes are SHRINKs of one tensor at offsets that grow by `further` (for each axis) per step.
  bool is_slice = false;
  std::vector<std::int64_t> further = {};

  bool has_initial_value() const { return alike < nodes.size(); }
};

inline bool is_movement(const Node* node) { return info(node->op()).cls == OpClass::Movement; }

// Returns whether the node is a SHRINK at constant offsets.
bool is_at_known_place(const Node* node);

// Returns whether the search for chains has a start: at least `least_steps` similar reductions.
bool may_have_chains(const std::vector<UOp>& tensors, std::size_t least_steps);

// Passes sets of chains to `use`, those with the most steps first, until it returns true; returns
// whether it did. In each set a step depends on the previous one, and its chains depend only on
// each other, on values that all steps share, and on their initial values.
bool find_chains(const std::vector<UOp>& tensors, std::size_t least_steps,
                 const std::function<bool(std::vector<Chain>)>& use);

}  // namespace weft
