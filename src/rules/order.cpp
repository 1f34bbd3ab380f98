// One order for the operands of ops that commute, so that equal values become equal nodes.
//
// A chain of one op leans left, its operands rise by comes_before(), its constant stands last.
// Floats keep the order they were written in: only their pairs commute, not their chains.

#include <algorithm>

#include <weft/dev/rules/symbolic.h>

#include "sum.h"

namespace weft {
namespace {

// What an operand is sorted by: without its factor, so that like terms of a sum meet.
const Node* sort_key(const Node* node, Op op) { return op == Op::Add ? term_of(node).node : node; }

bool before(const Node* a, const Node* b, Op op) {
  return comes_before(sort_key(a, op), sort_key(b, op));
}

const Pat& x() {
  static const Pat p = any("x");
  return p;
}
const Pat& y() {
  static const Pat p = any("y");
  return p;
}
const Pat& z() {
  static const Pat p = any("z");
  return p;
}

// x op y with y before x, neither constant nor a chain.
bool pair_is_unsorted(const Match& m) {
  const Node* root = m.root();
  const Node *a = m.node(x()), *b = m.node(y());
  if (a->is_const() || b->is_const()) return a->is_const() && !b->is_const();
  return a->op() != root->op() && b->op() != root->op() && before(b, a, root->op());
}

// (x op y) op z with z before y.
bool last_is_unsorted(const Match& m) {
  const Node* root = m.root();
  const Node *b = m.node(y()), *c = m.node(z());
  if (c->is_const() || c->op() == root->op()) return false;
  if (b->is_const()) return true;
  return root->chain() <= longest_sum && before(c, b, root->op());
}

void collect(const Node* chain, Op op, std::vector<const Node*>& operands) {
  const std::size_t first = operands.size();
  for (; chain->op() == op; chain = chain->src(0)) operands.push_back(chain->src(1));
  operands.push_back(chain);
  std::reverse(operands.begin() + static_cast<std::ptrdiff_t>(first), operands.end());
}

// x op (y op z): one sorted chain. Where it would be longer than rules look, both stay as they are.
UOp merge_chains(const Match& m) {
  const Node* root = m.root();
  const Op op = root->op();
  const Node *a = root->src(0), *b = root->src(1);
  if (b->op() != op || (a->op() == op ? a->chain() + 1 : 1) + b->chain() + 1 > longest_sum)
    return {};
  std::vector<const Node*> operands;
  collect(a, op, operands);
  collect(b, op, operands);
  std::ranges::sort(operands, [&](const Node* x, const Node* y) {
    return x->is_const() || y->is_const() ? !x->is_const() && y->is_const() : before(x, y, op);
  });
  UOp result(operands[0]);
  for (std::size_t i = 1; i < operands.size(); ++i) result = make(op, {result, UOp(operands[i])});
  return result;
}

std::vector<Rule> rules_for(Op op, KindSet kinds) {
  const auto of = [&](const Pat& a, const Pat& b) {
    return with_kinds(ordered(node(op, {a, b})), kinds);
  };
  static const Pat c = any_const("c"), d = any_const("d");
  return {
      rule(of(x(), y()), node(op, {y(), x()}), when(pair_is_unsorted)),
      rule(of(x(), of(y(), z())), merge_chains),
      rule(of(of(x(), y()), z()), node(op, {node(op, {x(), z()}), y()}), when(last_is_unsorted)),
      rule(of(of(x(), c), d), node(op, {x(), fold(node(op, {c, d}))})),
  };
}

// Comparisons: a constant comes last where the op commutes.
bool left_is_const(const Match& m) { return m.node(x())->is_const() && !m.node(y())->is_const(); }

}  // namespace

const RuleSet& order_rules() {
  static const RuleSet rules = [] {
    std::vector<Rule> all;
    const auto append = [&](std::vector<Rule> more) {
      all.insert(all.end(), more.begin(), more.end());
    };
    for (Op op : {Op::Add, Op::Mul, Op::Max, Op::And, Op::Or, Op::Xor})
      append(rules_for(op, int_kinds));
    for (Op op : {Op::And, Op::Or, Op::Xor}) append(rules_for(op, {Kind::Bool}));
    for (Op op : {Op::And, Op::Or}) {
      const auto of = [&](const Pat& a, const Pat& b) { return ordered(node(op, {a, b})); };
      all.push_back(rule(of(of(x(), y()), y()), node(op, {x(), y()})));
    }
    for (Op op : {Op::CmpNe, Op::CmpEq})
      all.push_back(rule(ordered(node(op, {x(), y()})), node(op, {y(), x()}), when(left_is_const)));
    return RuleSet("order", std::move(all));
  }();
  return rules;
}

}  // namespace weft
