// Online softmax rescaling: a maximum and the sums relative to it, one block of iterations at a
// time.
#pragma once

#include <string_view>
#include <vector>

#include <weft/dev/codegen/actions.h>
#include <weft/dev/ir/graph.h>

#include "fusible_group.h"
#include "rescale_rate.h"

namespace weft {

// Transforms a kernel so that a maximum over one loop, and all sums over equally many iterations of
// EXP2 of a distance from it, are computed together, block by block. Memory carries the maximum so
// far and the sums relative to it from block to block:
//
//   before:    top = -inf, sum = 0
//   a block:   next = max(top, the maximum of the block), scale = EXP2(rate * (next - top)),
//              top = next, sum = sum * scale + the sum over the block, relative to next
//
// Memory that is filled in these iterations, such as scores and their exponentials, shrinks to one
// block.
class OnlineRescale {
 public:
  // `loops` are all loops of the kernel, outermost first.
  OnlineRescale(const UOp& kernel, const Node* top, std::int64_t block,
                const std::vector<NamedLoop>& loops);

  std::string_view refusal() const { return together_.refusal; }  // empty if it succeeded
  const UOp& kernel() const { return kernel_; }
  // The loop over blocks, then the loops over carried memory.
  const std::vector<UOp>& added() const { return added_; }
  // Maps the loops over all iterations to those within a block that replace them.
  const Substitution& in_block() const { return in_block_; }
  // The ENDs that fill memory in a block.
  const std::vector<const Node*>& filling() const { return together_.filling; }

 private:
  // A carried value, with one element for each iteration of `loops`, which are inside of those
  // around: its memory before a block, and the effect that updates it.
  struct CarriedValue {
    std::vector<const Node*> loops;
    UOp memory, before, after;
  };

  UOp made(const Node* node) const { return UOp(*made_.find(node)); }
  UOp rebuilt(const Node* node);
  UOp with_made_sources(const Node* node) const;
  UOp index_in_block(const Node* index);
  UOp closed_in_block(const Node* closer) const;
  UOp read_inline(const Node* load) const;

  CarriedValue carry(const Node* reduce);
  UOp filled(const UOp& begin, const UOp& value, const std::vector<const Node*>& loops);
  UOp in_iteration(const UOp& memory) const;
  UOp next_top();
  UOp scale_by(double rate);
  UOp summed(const CarriedValue& sum, const UOp& part, const UOp& scale, const Node* read);
  bool is_relative_to_maximum(const RescaleRate& growth, const Node* sum) const;
  void update_carried();
  void replace_totals(const UOp& all, const std::vector<CarriedValue>& sums,
                      const std::vector<RescaleRate>& growths);

  UOp kernel_;
  FusibleGroup together_;
  std::int64_t iterations_;
  bool is_masked_;  // the last block is partial
  std::vector<NamedLoop> loops_;
  UOp blocks_;
  std::vector<UOp> added_;
  Substitution in_block_, memory_;
  NodeMap<const Node*> made_;
  CarriedValue top_;
  UOp next_;  // the maximum including this block
};

}  // namespace weft
