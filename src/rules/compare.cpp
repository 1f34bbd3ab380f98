// Comparisons of integers, and conditions made of them.
//
// An upper bound is `sum < c`, a lower bound `c < sum`; a negation turns one into the other.

#include <algorithm>
#include <limits>

#include <weft/dev/rules/symbolic.h>

#include "assume.h"

namespace weft {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return -floor_div(-a, b); }

// sum < limit for all values, for none, or open.
std::optional<bool> decided(const Comparison& c, const Assumptions* assumptions) {
  const Interval b = bounds_of(c.sum, assumptions);
  if (b.hi < c.limit) return c.upper;
  if (b.lo >= c.limit) return !c.upper;
  return std::nullopt;
}

constexpr std::int64_t far = std::int64_t{1} << 62;

// A constant in all lanes of the condition.
UOp truth(const Node* condition, bool value) {
  return const_bits(condition->dtype(), value ? 1 : 0);
}

// -sum < limit is sum >= 1 - limit.
bool lead_with_positive(Comparison& c) {
  if (c.sum.terms.empty() || c.sum.terms[0].factor > 0) return false;
  const auto is_far = [](const Term& term) { return term.factor < -far; };
  if (std::ranges::any_of(c.sum.terms, is_far)) return false;
  for (Term& term : c.sum.terms) term.factor = -term.factor;
  c.limit = 1 - c.limit;
  c.upper = !c.upper;
  return true;
}

// g*D + r < limit is D < ceil(limit/g), if r stays within [0, g) and either r is 0 or g divides
// the limit; the same for >=.
bool divide_out(Comparison& c, std::int64_t g, const Assumptions* assumptions) {
  Sum rest;
  for (const Term& term : c.sum.terms)
    if (term.factor % g != 0) rest.terms.push_back(term);
  if (rest.terms.size() == c.sum.terms.size()) return false;
  if (!rest.terms.empty()) {
    const Interval r = bounds_of(rest, assumptions);
    if (c.limit % g != 0 || r.lo < 0 || r.hi >= g) return false;
  }
  c.sum = c.sum.divided(g);
  c.limit = ceil_div(c.limit, g);
  return true;
}

bool divide_out(Comparison& c, const Assumptions* assumptions) {
  std::int64_t common = 0;
  for (const Term& term : c.sum.terms) common = common_factor(common, term.factor);
  if (common > 1) return divide_out(c, common, assumptions);
  for (const Term& term : c.sum.terms) {
    const std::int64_t g = common_factor(term.factor, c.limit);
    if (g > 1 && divide_out(c, g, assumptions)) return true;
  }
  return false;
}

// x//d < limit is x < limit*d.
bool undivide(Comparison& c) {
  if (c.sum.terms.size() != 1 || c.sum.terms[0].factor != 1) return false;
  const Node* quotient = c.sum.terms[0].node;
  if (quotient->op() != Op::FloorDiv || !quotient->src(1)->is_const() ||
      quotient->src(1)->lo() <= 0)
    return false;
  auto numerator = Sum::of(quotient->src(0));
  std::int64_t limit = 0;
  if (!numerator || __builtin_mul_overflow(c.limit, quotient->src(1)->lo(), &limit) ||
      __builtin_sub_overflow(limit, numerator->constant, &limit))
    return false;
  numerator->constant = 0;
  c.sum = std::move(*numerator);
  c.limit = limit;
  return true;
}

// a - b < limit as a < b + limit.
UOp on_two_sides(const Comparison& c, DType dtype) {
  Sum left, right;
  right.constant = c.limit;
  for (const Term& term : c.sum.terms) {
    if (term.factor < -far) return {};
    if (term.factor > 0)
      left.terms.push_back(term);
    else
      right.terms.push_back({term.node, -term.factor});
  }
  const UOp a = left.build_exact(dtype), b = right.build_exact(dtype);
  return a.is_null() || b.is_null() ? UOp() : a < b;
}

UOp compare_sums(const Match& m) {
  const Node* root = m.root();
  const auto* assumptions = m.context<Assumptions>();
  auto comparison = Comparison::of_difference(root);
  if (!comparison || comparison->limit < -far || comparison->limit > far) return {};
  if (const auto result = decided(*comparison, assumptions)) return truth(root, *result);
  const bool two_sides = !root->src(0)->is_const() && !root->src(1)->is_const();
  bool changed = false;
  if (two_sides) {
    // Worth it only where terms cancel; otherwise both sides stay as they were written.
    const auto left = Sum::of(root->src(0)), right = Sum::of(root->src(1));
    if (!left || !right) return {};
    if (comparison->sum.terms.size() == left->terms.size() + right->terms.size()) {
      bool smaller = false;
      while (divide_out(*comparison, assumptions)) smaller = true;
      return smaller ? on_two_sides(*comparison, root->src(0)->dtype()) : UOp();
    }
    changed = true;
  }
  changed = lead_with_positive(*comparison) || changed;
  while (divide_out(*comparison, assumptions) || undivide(*comparison)) changed = true;
  const Sum& sum = comparison->sum;
  const Node* side = root->src(0)->is_const() ? root->src(1) : root->src(0);
  const bool has_constant = side->op() == Op::Add && side->src(1)->is_const();
  if (!changed && !has_constant) return {};
  if (sum.terms.empty()) return truth(root, (0 < comparison->limit) == comparison->upper);
  return comparison->build(root->src(0)->dtype());
}

// !(a < b): the other bound, where one side is constant.
UOp negate_comparison(const Match& m) {
  const auto comparison = Comparison::of(m.root());
  if (!comparison || comparison->limit < -far || comparison->limit > far) return {};
  return comparison->build(m.root()->src(0)->src(0)->dtype());
}

bool same_terms(const Sum& a, const Sum& b) {
  return std::ranges::equal(a.terms, b.terms, [](const Term& x, const Term& y) {
    return x.node == y.node && x.factor == y.factor;
  });
}

// Two bounds of one sum, joined by & or |: the one that implies the other, or a constant.
// Nothing where they say different things.
UOp joined(Op op, const Node* first, const Node* second) {
  const auto a = Comparison::of(first), b = Comparison::of(second);
  if (!a || !b || !same_terms(a->sum, b->sum)) return {};
  const bool conjunction = op == Op::And;
  if (a->upper == b->upper) {
    const bool first_is_lower = a->limit <= b->limit;
    // Of two upper bounds the lower limit is the stronger, of two lower bounds the higher.
    const bool first_is_stronger = a->limit == b->limit || first_is_lower == a->upper;
    return UOp(first_is_stronger == conjunction ? first : second);
  }
  const auto& upper = a->upper ? *a : *b;
  const auto& lower = a->upper ? *b : *a;
  if (conjunction && upper.limit <= lower.limit) return truth(first, false);
  if (!conjunction && upper.limit >= lower.limit) return truth(first, true);
  return {};
}

// The last operand of a chain of & or | with each before it.
UOp join_comparisons(const Match& m) {
  const Node* root = m.root();
  if (root->chain() > longest_sum || !Comparison::of(root->src(1))) return {};
  std::vector<const Node*> others;
  const Node* rest = root->src(0);
  for (; rest->op() == root->op(); rest = rest->src(0)) others.push_back(rest->src(1));
  others.push_back(rest);
  std::ranges::reverse(others);
  for (const Node*& other : others) {
    const UOp both = joined(root->op(), other, root->src(1));
    if (both.is_null()) continue;
    other = both.node();
    UOp result(others[0]);
    for (std::size_t i = 1; i < others.size(); ++i)
      result = root->op() == Op::And ? result & UOp(others[i]) : result | UOp(others[i]);
    return result;
  }
  return {};
}

// The index that an integer is, where its type holds all values of it; null where it is none, or made of more than so
// many terms.
UOp place_in(const Node* value, std::int64_t& terms) {
  const DType dtype = value->dtype();
  if (!dtype.is_int() || dtype.lanes() != 1 || terms-- <= 0) return {};
  if (value->is_const() && dtype.kind() != Kind::U64) return const_int(value->lo());
  if (value->op() == Op::Cast && value->src(0)->dtype() == dtypes::index)
    return value->bounds() == value->src(0)->bounds() ? UOp(value->src(0)) : UOp();
  if (!OpSet{Op::Add, Op::Mul}.contains(value->op()) || !value->is_exact()) return {};
  const UOp a = place_in(value->src(0), terms);
  const UOp b = a.is_null() ? UOp() : place_in(value->src(1), terms);
  return b.is_null() ? UOp() : make(value->op(), {a, b});
}

// Places are compared as such, whatever a program counts them in.
UOp compare_places(const Match& m) {
  const Node* root = m.root();
  if (root->src(0)->dtype().is_index()) return {};
  std::int64_t terms = longest_sum;
  const UOp a = place_in(root->src(0), terms), b = place_in(root->src(1), terms);
  return a.is_null() || b.is_null() ? UOp() : make(root->op(), {a, b});
}

}  // namespace

const RuleSet& compare_rules() {
  static const Pat x = ints("x"), y = ints("y"), c = int_const("c"), d = int_const("d");
  static const Pat less = node(Op::CmpLt), n = ints("n"), r = node(Op::Range, {n});
  // clang-format off
  static const RuleSet rules{"compare", {
    rule(x < x,                            0),
    rule(x != x,                           0),
    rule(x == x,                           1),
    rule(r < n,                            1),
    rule(node({Op::CmpLt, Op::CmpNe, Op::CmpEq}, {x, y}), compare_places),
    rule(node(Op::CmpLt, {x, y}),          compare_sums),
    rule(!less,                            negate_comparison),
    rule(x + c != d,                       x != fold(d - c)),
    rule(x + c == d,                       x == fold(d - c)),
    rule(x + c != x,                       1,                   when(c != 0)),
    rule(x + c == x,                       0,                   when(c != 0)),
    rule(x + y * -1 != 0,                  x != y),
    rule(x + y * -1 == 0,                  x == y),
    rule(exact(x*c) != d,                  1,                   when(c != 0 && d % c != 0)),
    rule(exact(x*c) == d,                  0,                   when(c != 0 && d % c != 0)),
    rule(exact(x*c) != d,                  x != fold(d / c),    when(c != 0 && d % c == 0)),
    rule(exact(x*c) == d,                  x == fold(d / c),    when(c != 0 && d % c == 0)),
    rule(with_kinds(node({Op::And, Op::Or}), {Kind::Bool}), join_comparisons),
  }};
  // clang-format on
  return rules;
}

}  // namespace weft
