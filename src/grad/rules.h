// Gradient rules: from the gradient of a node to those of its sources.
#pragma once

#include <vector>

#include <weft/dev/ir/graph.h>

namespace weft {

// Where the nodes of a graph are computed. Found at the first question, for all nodes at once.
class GradientPlacement {
 public:
  explicit GradientPlacement(NodeList order) : order_(order) {}

  // The BUFFER, COPY, SHARD or MULTI that says it; null where none does.
  const Node* of(const Node* node);
  // `value`, where the node is computed; where nothing says, wherever it is.
  UOp bring(const UOp& value, const Node* node);

 private:
  const Node* find(const Node* node) const;

  NodeList order_;
  NodeMap<const Node*> known_;
  bool is_found_ = false;
};

// What a rule sees: the node y, the gradient g of y, which has y's shape and dtype, and up to three
// sources of y under the names that the op table gives them.
struct GradientStep {
  GradientStep(const Node* node, UOp gradient, const NodeMap<std::uint32_t>& paths,
               GradientPlacement& where);
  // Whether a target is below the source. What a rule gives to others is dropped.
  bool wants(std::size_t source) const { return on_path.contains(y->src(source)); }

  UOp g, y, a, b, c;
  const NodeMap<std::uint32_t>& on_path;
  GradientPlacement& placement;
};

// Of the sources, from the first; null (or none at the end) where one has no gradient. Where a
// scalar source met a tensor, the gradient still has the tensor's shape: the caller adds it up.
using Gradients = std::vector<UOp>;
using GradientRule = Gradients (*)(const GradientStep&);

GradientRule gradient_rule(Op op);  // null where there is none

// Rules too long for the table.
Gradients of_reduce(const GradientStep& step);
Gradients of_allreduce(const GradientStep& step);
Gradients of_permute(const GradientStep& step);
Gradients of_expand(const GradientStep& step);
Gradients of_shrink(const GradientStep& step);
Gradients of_load(const GradientStep& step);
Gradients of_index(const GradientStep& step);
Gradients of_store(const GradientStep& step);
Gradients of_after(const GradientStep& step);
Gradients of_copy(const GradientStep& step);
Gradients of_multi(const GradientStep& step);
Gradients of_tuple(const GradientStep& step);
Gradients of_call(const GradientStep& step);
Gradients of_custom(const GradientStep& step);

// A list with gradients for its members: a TUPLE, in which an empty TUPLE stands for none.
UOp list_of(const std::vector<UOp>& members);  // null for a member without
std::vector<UOp> members_of(const UOp& list);

// d loss / d target; null where the loss does not depend on the target. The loss may be a list, and
// the seed then is one too.
std::vector<UOp> backward(const UOp& loss, const UOp& seed, const std::vector<UOp>& targets);

// Added up along the axes, which stay with size 1. In f32 at least: a sum of few bits stops growing.
UOp added_up(const UOp& tensor, const std::vector<std::int64_t>& axes);
UOp filled(const UOp& value, const std::vector<UOp>& sizes);  // a scalar in every element
UOp undo_permute(const UOp& tensor, const std::vector<std::int64_t>& axes);
UOp folded(const UOp& size);  // as a constant, where its bounds leave one value

}  // namespace weft
