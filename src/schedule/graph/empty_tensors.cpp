// Code motion could hoist a load out of a loop with zero iterations and read out of bounds. Tensors
// without elements are therefore constants.

#include "empty_tensors.h"

#include <algorithm>

#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/movement.h>
#include <weft/dev/rewrite/rewriter.h>

namespace weft {
namespace {

// Movement ops are excluded, because the target of a STORE may be a view.
bool may_be_empty(Op op) {
  constexpr OpSet others{Op::Contiguous, Op::Remat, Op::Load, Op::Reduce};
  return is_elementwise(op) || others.contains(op);
}

UOp zeros_for_none(const Match& m) {
  const UOp tensor(m.root());
  if (!has_no_elements(tensor)) return {};
  const Sizes ones(tensor->dims().size(), const_int(1));
  const UOp zeros = expand(reshape(const_int(0, tensor->dtype()), ones), sizes_of(tensor));
  return zeros.is(tensor) ? UOp() : zeros;
}

const RuleSet& no_elements_rules() {
  static const RuleSet rules{"no_elements",
                             {rule(node(OpSet::where(may_be_empty)), zeros_for_none)}};
  return rules;
}

}  // namespace

std::vector<UOp> without_empty(const std::vector<UOp>& tensors) {
  const auto is_empty = [](const Node* node) {
    return may_be_empty(node->op()) && has_no_elements(UOp(node));
  };
  return std::ranges::any_of(toposort(nodes_of(tensors)), is_empty)
             ? rewrite(tensors, no_elements_rules())
             : tensors;
}

}  // namespace weft
