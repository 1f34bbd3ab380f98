// What a program does again and again: of each value of a step, the one that took its place in the step before.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

// A value of each step, that of the last first.
struct Chain {
  std::vector<const Node*> nodes;
  // So many of them, from the last step on, are computed alike; what remains is none or one, which began it all.
  std::size_t alike = 0;
  // A SHRINK of what all steps share, a place further in each: where it begins, by axis.
  bool is_moving = false;
  std::vector<std::int64_t> further = {};

  bool begins_otherwise() const { return alike < nodes.size(); }
};

inline bool is_movement(const Node* node) { return info(node->op()).cls == OpClass::Movement; }

// A SHRINK whose place is known.
bool is_at_known_place(const Node* node);

// Whether there are as many sums that look alike, which chains begin with.
bool may_have_chains(const std::vector<UOp>& tensors, std::size_t least_steps);

// Chains where each step needs the one before, those of the most steps first, until one of them is of use: whether one
// was. Each chain is made of others of them, of itself, of what all steps share, and of the chains' own first values.
bool find_chains(const std::vector<UOp>& tensors, std::size_t least_steps,
                 const std::function<bool(std::vector<Chain>)>& use);

}  // namespace weft
