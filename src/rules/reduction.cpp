// Reductions that need no loop: over what does not change with it, over a part of its iterations,
// or over the one iteration that a condition picks. An arange that was written as a sum of
// comparisons becomes its index, and the sum over a one-hot row one load.

#include <algorithm>
#include <cmath>
#include <limits>

#include <weft/dev/ir/graph.h>
#include <weft/dev/rules/symbolic.h>

#include "assume.h"

namespace weft {
namespace {

// A reduction as rules see it here: a sum over one of its ranges, with the others left in place.
struct Loop {
  UOp range, size;

  bool changes(const Node* node) const {
    return std::ranges::find(node->ranges(), range.node()) != node->ranges().end();
  }
  // A cast to fewer bits than the iterations need would count anew.
  bool is(const Node* node) const {
    return node == range.node() || (node->op() == Op::Cast && node->src(0) == range.node() &&
                                    node->bounds() == range->bounds());
  }
};

UOp as_index(const Node* node) { return cast(UOp(node), dtypes::index); }

// What a condition says about a loop: k < value, k >= value or k == value.
struct Limit {
  enum Kind { Below, From, At } kind;
  UOp value;
};

// The loop's factor in a sum, and the rest of it; nothing where it is not linear in the loop.
struct Linear {
  std::int64_t factor;
  UOp rest;
};

std::optional<Linear> linear(const Sum& sum, const Loop& loop) {
  Linear result{0, const_int(sum.constant)};
  for (const Term& term : sum.terms) {
    if (loop.is(term.node))
      result.factor += term.factor;
    else if (loop.changes(term.node))
      return std::nullopt;
    else
      result.rest = result.rest + as_index(term.node) * term.factor;
  }
  return result.factor == 0 ? std::nullopt : std::optional(result);
}

UOp ceil_div(const UOp& a, std::int64_t b) { return (a + (b - 1)) / b; }

std::optional<Limit> limit_of_order(const Node* condition, const Loop& loop) {
  const auto comparison = Comparison::of_difference(condition);
  if (!comparison) return std::nullopt;
  const auto parts = linear(comparison->sum, loop);
  if (!parts) return std::nullopt;
  const auto [factor, rest] = *parts;
  if (factor == std::numeric_limits<std::int64_t>::min()) return std::nullopt;
  if (factor > 0) {
    const UOp value = ceil_div(const_int(comparison->limit) - rest, factor);
    return Limit{comparison->upper ? Limit::Below : Limit::From, value};
  }
  const UOp value = (rest - comparison->limit) / -factor + 1;
  return Limit{comparison->upper ? Limit::From : Limit::Below, value};
}

std::optional<Limit> limit_of_equality(const Node* condition, const Loop& loop) {
  if (condition->op() != Op::CmpEq || !condition->src(0)->dtype().is_int()) return std::nullopt;
  for (std::size_t side : {0, 1}) {
    const auto sum = Sum::of(condition->src(side));
    const Node* other = condition->src(1 - side);
    if (!sum || loop.changes(other)) continue;
    const auto parts = linear(*sum, loop);
    if (!parts || (parts->factor != 1 && parts->factor != -1)) continue;
    return Limit{Limit::At, (as_index(other) - parts->rest) * parts->factor};
  }
  return std::nullopt;
}

// A value where a condition holds, 0 elsewhere.
struct Masked {
  UOp condition, value;

  static std::optional<Masked> of(const Node* node) {
    if (node->op() == Op::Cast && node->src(0)->dtype().is_bool())
      return Masked{UOp(node->src(0)), const_int(1, node->dtype())};
    if (node->op() != Op::Where) return std::nullopt;
    const UOp condition(node->src(0)), yes(node->src(1)), no(node->src(2));
    const auto is_zero = [](const UOp& x) { return x->is_const() && x->arg<ConstArg>().bits == 0; };
    if (is_zero(no)) return Masked{condition, yes};
    if (is_zero(yes)) return Masked{!condition, no};
    return std::nullopt;
  }
};

// The condition's clauses by what they say about the loop.
struct Limits {
  UOp outside = const_bool(true);  // what does not change with the loop
  UOp from = const_int(0), below;  // the iterations left
  std::vector<UOp> at;

  static std::optional<Limits> of(const Masked& masked, const Loop& loop) {
    Limits limits;
    limits.below = loop.size;
    for (const Node* clause : clauses_of(masked.condition.node())) {
      if (!loop.changes(clause)) {
        limits.outside = limits.outside & UOp(clause);
        continue;
      }
      auto limit = limit_of_equality(clause, loop);
      if (!limit) limit = limit_of_order(clause, loop);
      if (!limit) return std::nullopt;
      switch (limit->kind) {
        case Limit::Below: limits.below = min(limits.below, limit->value); break;
        case Limit::From: limits.from = max(limits.from, limit->value); break;
        case Limit::At: limits.at.push_back(limit->value); break;
      }
    }
    return limits;
  }
};

// The value at one iteration, which may be none: what it loads there is loaded only where it is
// one. Null where there is a loop inside that changes with this one.
UOp at_iteration(const UOp& value, const Loop& loop, const UOp& iteration,
                 const UOp& is_iteration) {
  Substitution by{{loop.range.node(), cast(iteration, loop.range->dtype())}};
  for (const Node* node : toposort(value.node())) {
    if (!loop.changes(node)) continue;
    if (node->op() == Op::Reduce || node->op() == Op::Stage) return {};
    if (node->op() != Op::Load) continue;
    std::vector<UOp> place;
    for (const Node* source : node->src(0)->src()) place.push_back(substitute(UOp(source), by));
    place[1] = place[1] & is_iteration;
    std::vector<UOp> src{make(Op::Index, place)};
    for (const Node* other : node->src().subspan(1)) src.push_back(substitute(UOp(other), by));
    by.emplace(node, make(Op::Load, src));
  }
  return substitute(value, by);
}

bool is_finite_const(const UOp& value) {
  return value->is_const() &&
         std::isfinite(double_from_bits(value->arg<ConstArg>().bits, value->dtype()));
}

UOp zero_like(const UOp& value) { return const_int(0, value->dtype()); }

// A sum over part of the iterations, all of them the same or just one.
UOp masked_sum(const Masked& masked, const Loop& loop) {
  const auto limits = Limits::of(masked, loop);
  if (!limits) return {};
  if (!limits->at.empty()) {
    const UOp& iteration = limits->at[0];
    UOp is_iteration = limits->outside & (iteration >= limits->from) & (iteration < limits->below);
    for (const UOp& other : limits->at) is_iteration = is_iteration & (other == iteration);
    const UOp value = at_iteration(masked.value, loop, iteration, is_iteration);
    return value.is_null() ? UOp() : where(is_iteration, value, zero_like(value));
  }
  if (loop.changes(masked.value.node())) return {};
  // No iterations of what is not finite sum to 0.
  const UOp zero = zero_like(masked.value), iterations = limits->below - limits->from;
  const bool is_finite = !masked.value->dtype().is_float() || is_finite_const(masked.value);
  const UOp condition = is_finite ? limits->outside : limits->outside & (iterations > 0);
  const UOp count = is_finite ? max(iterations, const_int(0)) : iterations;
  return where(condition, masked.value * cast(count, zero->dtype()), zero);
}

// Narrow dtypes would round the count, or wrap it where the sum does not.
bool holds_counts(DType dtype) {
  return dtype == dtypes::f32 || dtype == dtypes::f64 ||
         (dtype.is_int() && (dtype.is_index() || dtype.bits() >= 32));
}

// Sums over nothing but constant iterations may be products: a loop of no iterations sums to 0, not
// to NaN.
UOp constant_reduction(const Node* reduce, const UOp& body, const Loop& loop) {
  if (loop.changes(body.node()) || loop.size->bounds().lo < 1) return {};
  switch (reduce->arg<ReduceArg>().op) {
    case Op::Add:
      return holds_counts(body->dtype()) ? body * cast(loop.size, body->dtype()) : UOp();
    case Op::Max: return body;
    default: return {};
  }
}

UOp without_loop(const Match& m) {
  const Node* reduce = m.root();
  const UOp body(reduce->src(0));
  if (body->dtype().lanes() > 1) return {};
  const bool is_counted = reduce->arg<ReduceArg>().op == Op::Add && holds_counts(body->dtype());
  const auto masked = is_counted ? Masked::of(body.node()) : std::optional<Masked>();
  for (std::size_t i = 1; i < reduce->size(); ++i) {
    const UOp range(reduce->src(i));
    if (range->op() != Op::Range) continue;
    const Loop loop{range, as_index(range->src(0))};
    UOp value = constant_reduction(reduce, body, loop);
    if (value.is_null() && masked) value = masked_sum(*masked, loop);
    if (value.is_null()) continue;
    std::vector<UOp> src{value};
    for (std::size_t j = 1; j < reduce->size(); ++j)
      if (j != i) src.emplace_back(reduce->src(j));
    return src.size() == 1 ? value : with_sources(UOp(reduce), src);
  }
  return {};
}

bool changes(const Node* loop, const Node* node) {
  return loop->op() != Op::Range || Loop{UOp(loop), {}}.changes(node);
}

// A sum of sums is one over the loops of both. Where the inner one is the same in all iterations of
// the outer loops, others outside of those may use it too, and its loops cannot end in two places.
UOp joined(const Match& m) {
  const Node *outer = m.root(), *inner = outer->src(0);
  if (inner->op() != Op::Reduce || inner->dtype() != outer->dtype() ||
      inner->arg<ReduceArg>().op != outer->arg<ReduceArg>().op ||
      !inner->arg<ReduceArg>().axes.empty() || !outer->arg<ReduceArg>().axes.empty() ||
      !std::ranges::all_of(outer->src().subspan(1),
                           [&](const Node* loop) { return changes(loop, inner); }))
    return {};
  std::vector<UOp> src{UOp(inner->src(0))};
  for (const Node* reduce : {outer, inner})
    for (const Node* range : reduce->src().subspan(1)) src.emplace_back(range);
  return with_sources(UOp(outer), src);
}

}  // namespace

const RuleSet& reduction_rules() {
  static const RuleSet rules{
      "reduction", {rule(node(Op::Reduce), without_loop), rule(node(Op::Reduce), joined)}};
  return rules;
}

}  // namespace weft
