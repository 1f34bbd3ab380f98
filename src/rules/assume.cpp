#include "assume.h"

#include <algorithm>
#include <limits>

namespace weft {
namespace {

// x != true
const Node* negated(const Node* condition) {
  if (condition->op() == Op::CmpNe && condition->src(0)->dtype().is_bool() &&
      condition->src(1)->is_const_int(1))
    return condition->src(0);
  return nullptr;
}

void add_term(Sum& sum, const Node* node, std::int64_t factor, bool& overflow) {
  for (Term& term : sum.terms)
    if (term.node == node) {
      overflow = overflow || __builtin_add_overflow(term.factor, factor, &term.factor);
      return;
    }
  sum.terms.push_back({node, factor});
}

}  // namespace

std::optional<Comparison> Comparison::of(const Node* condition) {
  if (const Node* inner = negated(condition)) {
    auto result = of(inner);
    if (result) result->upper = !result->upper;
    return result;
  }
  if (condition->op() != Op::CmpLt) return std::nullopt;
  const Node *a = condition->src(0), *b = condition->src(1);
  if (a->is_const() == b->is_const()) return std::nullopt;
  auto sum = Sum::of(a->is_const() ? b : a);
  if (!sum) return std::nullopt;
  // c < sum is sum >= c + 1.
  std::int64_t limit = a->is_const() ? a->lo() : b->lo();
  if (a->is_const() && __builtin_add_overflow(limit, 1, &limit)) return std::nullopt;
  if (__builtin_sub_overflow(limit, sum->constant, &limit)) return std::nullopt;
  sum->constant = 0;
  return Comparison{std::move(*sum), limit, !a->is_const()};
}

std::optional<Comparison> Comparison::of_difference(const Node* condition) {
  if (auto result = of(condition)) return result;
  if (condition->op() != Op::CmpLt) return std::nullopt;
  auto left = Sum::of(condition->src(0));
  const auto right = Sum::of(condition->src(1));
  if (!left || !right) return std::nullopt;
  Comparison result{std::move(*left), 0, true};
  bool overflow = __builtin_sub_overflow(right->constant, result.sum.constant, &result.limit);
  result.sum.constant = 0;
  for (const Term& term : right->terms) {
    if (term.factor == std::numeric_limits<std::int64_t>::min()) return std::nullopt;
    add_term(result.sum, term.node, -term.factor, overflow);
  }
  result.sum.terms.remove_if([](const Term& term) { return term.factor == 0; });
  return overflow ? std::nullopt : std::optional(std::move(result));
}

UOp Comparison::build(DType dtype) const {
  const UOp x = sum.build_exact(dtype), c = exact_const(upper ? limit : limit - 1, dtype);
  if (x.is_null() || c.is_null()) return {};
  return upper ? x < c : c < x;
}

Assumptions::Assumptions(const std::vector<const Node*>& conditions) {
  constexpr Wide far = Wide{1} << 64;
  for (const Node* condition : conditions) {
    auto comparison = Comparison::of(condition);
    if (!comparison) continue;
    const Wide limit = comparison->limit;
    const Interval interval = comparison->upper ? Interval{-far, limit - 1} : Interval{limit, far};
    const auto same = std::ranges::find_if(facts, [&](const Fact& fact) {
      return std::ranges::equal(
          fact.sum.terms, comparison->sum.terms,
          [](const Term& a, const Term& b) { return a.node == b.node && a.factor == b.factor; });
    });
    if (same == facts.end())
      facts.push_back({std::move(comparison->sum), interval});
    else
      same->interval = {std::max(same->interval.lo, interval.lo),
                        std::min(same->interval.hi, interval.hi)};
  }
}

namespace {

Interval scaled(Interval interval, Wide factor) {
  return factor >= 0 ? Interval{interval.lo * factor, interval.hi * factor}
                     : Interval{interval.hi * factor, interval.lo * factor};
}

// Quotients and remainders within a sum are looked into this deep.
constexpr int deepest = 4;

Interval bounds_within(const Sum& sum, const Assumptions* assumptions, int depth);

Interval meet(Interval a, Interval b) { return {std::max(a.lo, b.lo), std::min(a.hi, b.hi)}; }

// What is assumed of a sum is known of its quotient and remainder too.
Interval node_bounds(const Node* node, const Assumptions* assumptions, int depth) {
  const Interval known = node->bounds();
  const bool quotient = node->op() == Op::FloorDiv;
  if (assumptions == nullptr || depth == deepest || !(quotient || node->op() == Op::FloorMod) ||
      !node->src(1)->is_const() || node->src(1)->lo() <= 0)
    return known;
  const auto sum = Sum::of(node->src(0));
  if (!sum) return known;
  const Wide c = node->src(1)->lo();
  const Interval x = bounds_within(*sum, assumptions, depth + 1);
  const Interval quotients{floor_div(x.lo, c), floor_div(x.hi, c)};
  if (quotient) return meet(known, quotients);
  if (quotients.lo != quotients.hi) return known;
  return meet(known, {x.lo - c * quotients.lo, x.hi - c * quotients.lo});
}

// The number m for which m * fact's terms all stand among `terms`; 0 where there is none.
std::int64_t multiple_of(const Sum& fact, const TermList& terms) {
  std::int64_t multiple = 0;
  for (const Term& part : fact.terms) {
    const auto found =
        std::ranges::find_if(terms, [&](const Term& term) { return term.node == part.node; });
    if (found == terms.end()) return 0;
    const auto ratio = exact_quotient(found->factor, part.factor);
    if (!ratio || (multiple != 0 && *ratio != multiple)) return 0;
    multiple = *ratio;
  }
  return multiple;
}

}  // namespace

namespace {

Interval bounds_within(const Sum& sum, const Assumptions* assumptions, int depth) {
  const auto term_bounds = [&](const Term& term) {
    return scaled(node_bounds(term.node, assumptions, depth), term.factor);
  };
  Interval result{sum.constant, sum.constant};
  const auto add = [&](Interval i) { result = {result.lo + i.lo, result.hi + i.hi}; };
  TermList rest = sum.terms;
  if (assumptions != nullptr) {
    for (const auto& fact : assumptions->facts) {
      const std::int64_t multiple = multiple_of(fact.sum, rest);
      if (multiple == 0) continue;
      Interval own{0, 0};
      for (const Term& part : fact.sum.terms) {
        const Interval i = term_bounds(part);
        own = {own.lo + i.lo, own.hi + i.hi};
        rest.remove_if([&](const Term& term) { return term.node == part.node; });
      }
      add(scaled(meet(own, fact.interval), multiple));
    }
  }
  for (const Term& term : rest) add(term_bounds(term));
  return result;
}

}  // namespace

bool Assumptions::pin(Sum& sum) const {
  bool changed = false;
  for (const Fact& fact : facts) {
    const std::int64_t multiple = multiple_of(fact.sum, sum.terms);
    if (multiple == 0) continue;
    const Interval value = meet(bounds_within(fact.sum, nullptr, 0), fact.interval);
    std::int64_t pinned = 0;
    if (!value.is_point() ||
        __builtin_mul_overflow(static_cast<std::int64_t>(value.lo), multiple, &pinned) ||
        __builtin_add_overflow(sum.constant, pinned, &sum.constant))
      continue;
    for (const Term& part : fact.sum.terms)
      sum.terms.remove_if([&](const Term& term) { return term.node == part.node; });
    changed = true;
  }
  return changed;
}

Interval bounds_of(const Sum& sum, const Assumptions* assumptions) {
  return bounds_within(sum, assumptions, 0);
}

}  // namespace weft
