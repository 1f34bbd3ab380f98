// What gradients are asked for, found in the graph of a loss whatever of both has been read.
#pragma once

#include <optional>
#include <vector>

#include <weft/dev/engine/lineage.h>

#include "state.h"

namespace weft {

// Whether gradients for other targets do not go on through what the target was computed from: there are none, or it is a
// leaf, or holds what was assigned to it.
bool is_end(const Tensor::State& target, const UOp& graph, std::size_t targets);

// What a gradient can go to, and whether it reaches it: what a target was before it was assigned to is another tensor,
// and memory that was computed from it may have forgotten how.
class Targets {
 public:
  Targets(const UOp& loss, std::vector<UOp> nodes, const std::vector<bool>& are_ends);

  // The loss, back to what it was computed from in parts, and the targets in it.
  const UOp& graph() const { return graph_; }
  const std::vector<UOp>& nodes() const { return nodes_; }
  bool reaches(std::size_t target) const { return reached_.contains(nodes_[target].node()); }
  // Numbers of targets.
  std::optional<std::size_t> overwritten() const { return overwritten_; }
  std::optional<std::size_t> forgotten() const { return forgotten_; }

 private:
  void find_all(const std::vector<bool>& are_ends);
  bool may_look_back() const;
  void add(std::size_t i);
  void end_at(const Node* node);
  void look_at(const Node* buffer);

  UOp graph_;
  std::vector<UOp> nodes_;
  NodeSet ends_, own_, reached_;
  Lineage memory_;
  std::optional<std::size_t> overwritten_, forgotten_;
};

}  // namespace weft
