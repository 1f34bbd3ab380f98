#include "slice.h"

namespace weft {

std::vector<const Node*> slice_of(const Node* root, const Node* range) {
  std::vector<const Node*> order;
  NodeMap<bool> seen;
  struct Frame {
    const Node* node;
    std::uint32_t next;
  };
  std::vector<Frame> stack;
  const auto visit = [&](const Node* node) {
    if (changes_with(node, range) && seen.insert(node, true)) stack.push_back({node, 0});
  };
  visit(root);
  while (!stack.empty()) {
    Frame& top = stack.back();
    if (top.next < top.node->size()) {
      visit(top.node->src(top.next++));
    } else {
      order.push_back(top.node);
      stack.pop_back();
    }
  }
  return order;
}

// A reduction with new ranges may hold others that change with these, though not with the first: they
// are other reductions from now on, so theirs are new too.
UOp renewed(const UOp& root, const Node* changing) {
  Substitution fresh;
  std::vector<std::pair<const Node*, const Node*>> open{{root.node(), changing}};
  while (!open.empty()) {
    const auto [body, changed] = open.back();
    open.pop_back();
    for (const Node* node : slice_of(body, changed)) {
      if (node->op() != Op::Reduce) continue;
      for (const Node* old : node->src().subspan(1)) {
        if (fresh.contains(old)) continue;
        fresh.emplace(old, range(UOp(old->src(0)), fresh_id().value, old->arg<RangeArg>().kind));
        open.emplace_back(node->src(0), old);
      }
    }
  }
  return substitute(root, fresh);
}

}  // namespace weft
