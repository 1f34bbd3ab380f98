#include "join_loops.h"

#include <algorithm>

#include <weft/dev/codegen/strides.h>
#include <weft/dev/ir/graph.h>

#include "loops.h"

namespace weft {
namespace {

bool is_plain_of_constant_size(const Node* range) {
  return is_range<LoopKind::Loop>(range) && range->src(0)->is_const();
}

// Two directly nested loops of an END.
class LoopPair {
 public:
  LoopPair(const Node* end, const Node* outer, const Node* inner)
      : end_(end),
        outer_(outer),
        inner_(inner),
        outer_slice_(slice_of(end->src(0), outer)),
        inner_slice_(slice_of(end->src(0), inner)),
        by_outer_(outer_slice_, outer),
        by_inner_(inner_slice_, inner) {}

  bool can_join() const {
    const auto is_fine = [&](const Node* node) { return only_addresses(node); };
    return std::ranges::all_of(outer_slice_, is_fine) && std::ranges::all_of(inner_slice_, is_fine);
  }

  UOp joined() const {
    const UOp both = range_like(inner_, outer_->src(0)->lo() * inner_->src(0)->lo());
    std::vector<UOp> src{
        substitute(UOp(end_->src(0)), {{outer_, const_int(0, outer_->dtype())}, {inner_, both}})};
    for (const Node* loop : end_->src().subspan(1))
      if (loop != outer_) src.push_back(loop == inner_ ? both : UOp(loop));
    return make(Op::End, src);
  }

 private:
  bool changes(const Node* node) const {
    return changes_with(node, outer_) || changes_with(node, inner_);
  }

  // Returns whether one outer iteration advances an index as far as the whole inner loop.
  bool is_contiguous_across(const Node* at) const {
    const auto outer = by_outer_.of(at), inner = by_inner_.of(at);
    return outer && inner && *outer == *inner * inner_->src(0)->lo();
  }

  bool is_arithmetic(const Node* node) const {
    return node == outer_ || node == inner_ ||
           (node->dtype().is_int() && OpSet{Op::Add, Op::Mul}.contains(node->op()) &&
            std::ranges::all_of(node->src(), [&](const Node* source) {
              return !changes(source) || is_arithmetic(source);
            }));
  }

  // Returns whether the loops only affect addresses, which advance uniformly across both loops.
  bool only_addresses(const Node* node) const {
    if (is_arithmetic(node)) return true;
    if (node->op() == Op::Index)
      return node->size() == 3 && !changes(node->src(0)) && !changes(node->src(1)) &&
             is_contiguous_across(node->src(2));
    const bool is_known =
        OpSet{Op::Load, Op::Store, Op::Tuple}.contains(node->op()) || is_elementwise(node->op());
    return is_known && std::ranges::none_of(node->src(), [&](const Node* source) {
             return changes(source) && is_arithmetic(source);
           });
  }

  const Node *end_, *outer_, *inner_;
  std::vector<const Node*> outer_slice_, inner_slice_;
  Strides by_outer_, by_inner_;
};

UOp with_joined_loops(const Match& m) {
  UOp end(m.root());
  for (std::size_t i = end->size() - 1; i > 1; --i) {
    const Node *outer = end->src(i - 1), *inner = end->src(i);
    if (!is_plain_of_constant_size(outer) || !is_plain_of_constant_size(inner)) continue;
    if (const LoopPair pair(end.node(), outer, inner); pair.can_join()) end = pair.joined();
  }
  return end.node() == m.root() ? UOp() : end;
}

}  // namespace

const RuleSet& join_rules() {
  static const RuleSet rules{"join_loops", {rule(node(Op::End), with_joined_loops)}};
  return rules;
}

}  // namespace weft
