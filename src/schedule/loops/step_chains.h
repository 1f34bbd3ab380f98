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
  // If the nodes are SHRINKs of one tensor: how much their offsets grow per step along each axis.
  std::optional<std::vector<std::int64_t>> further = {};

  bool is_slice() const { return further.has_value(); }
  bool has_initial_value() const { return alike < nodes.size(); }
};

// Returns whether the search for chains has a start: at least `least_steps` similar reductions.
bool may_have_chains(const std::vector<UOp>& tensors, std::size_t least_steps);

// Passes sets of chains to `use`, those with the most steps first, until it returns true; returns
// whether it did. In each set a step depends on the previous one, and its chains depend only on
// each other, on values that all steps share, and on their initial values.
bool find_chains(const std::vector<UOp>& tensors, std::size_t least_steps,
                 const std::function<bool(std::vector<Chain>)>& use);

}  // namespace weft
