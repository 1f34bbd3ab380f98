// Indices under their validity. INDEX(buffer, valid, i ...) is read only where `valid` holds, so
// the indices may be anything elsewhere: each is simplified under that assumption, and each
// clause of the condition under the others.

#include <algorithm>

#include <weft/dev/ir/graph.h>
#include <weft/dev/rules/symbolic.h>

#include "assume.h"

namespace weft {
namespace {

// A read inside the value happens wherever its own condition holds, so it must not assume ours. Nor
// must a reduction: it would stand there in two forms, and its loop be closed twice.
bool assumes_nothing(const Node* value) {
  return std::ranges::any_of(toposort(value), [](const Node* node) {
    return node->op() == Op::Index || has(node->op(), OpFlag::Closes);
  });
}

UOp under(const Node* value, const std::vector<const Node*>& conditions) {
  const Assumptions assumptions(conditions);
  if (assumptions.facts.empty() || assumes_nothing(value)) return UOp(value);
  return rewrite(UOp(value), symbolic(), {.pass = "gate", .context = &assumptions});
}

// One clause after the other, each under those still standing: never two that justify each other.
UOp tightened(std::vector<const Node*> clauses) {
  for (std::size_t i = 0; i < clauses.size() && clauses.size() > 1;) {
    std::vector<const Node*> others = clauses;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const Node* now = under(clauses[i], others).node();
    if (now->is_const_int(0)) return UOp(now);
    if (now->is_const_int(1))
      clauses = std::move(others);
    else
      clauses[i++] = now;
  }
  UOp result(clauses[0]);
  for (std::size_t i = 1; i < clauses.size(); ++i) result = result & UOp(clauses[i]);
  return result;
}

// What will be a lane for each iteration.
bool is_vector(const Node* index) {
  return std::ranges::any_of(index->ranges(), [](const Node* range) {
    return range->arg<RangeArg>().kind == LoopKind::Vector;
  });
}

// Where nothing is read or written, any index will do that has as many lanes.
UOp nowhere(const Node* root) {
  std::vector<UOp> src{UOp(root->src(0)), UOp(root->src(1))};
  for (const Node* index : root->src().subspan(2))
    src.push_back(is_vector(index) ? UOp(index) : const_int(0, index->dtype()));
  return make(Op::Index, src);
}

UOp simplify_gate(const Match& m) {
  const Node* root = m.root();
  if (root->src(1)->is_const_int(0)) return nowhere(root);
  const Node* valid = root->src(1);
  if (valid->is_const() || valid->chain() > longest_sum) return {};
  // What holds in one lane, or for one element, says nothing of the others.
  if (valid->dtype().lanes() > 1 || valid->shape() != nullptr) return {};
  std::vector<UOp> src{UOp(root->src(0)), tightened(clauses_of(valid))};
  const auto conditions = clauses_of(src[1].node());
  for (const Node* index : root->src().subspan(2)) src.push_back(under(index, conditions));
  return make(Op::Index, src);
}

}  // namespace

const RuleSet& gate_rules() {
  static const RuleSet rules{"gate",
                             {
                                 rule(node(Op::Index), simplify_gate),
                             }};
  return rules;
}

}  // namespace weft
