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
  std::erase_if(result.sum.terms, [](const Term& term) { return term.factor == 0; });
  return overflow ? std::nullopt : std::optional(std::move(result));
}

UOp Comparison::build(DType dtype) const {
  if (upper) return sum.build(dtype) < const_int(limit, dtype);
  return const_int(limit - 1, dtype) < sum.build(dtype);
}

Assumptions::Assumptions(const std::vector<const Node*>& conditions) {
  constexpr Wide far = std::numeric_limits<std::int64_t>::max();
  for (const Node* condition : conditions) {
    auto comparison = Comparison::of(condition);
    if (!comparison) continue;
    const Wide limit = comparison->limit;
    const Interval interval = comparison->upper ? Interval{-far, limit - 1} : Interval{limit, far};
    const auto same = std::ranges::find_if(facts, [&](const Fact& fact) {
      return std::ranges::equal(fact.sum.terms, comparison->sum.terms,
                                [](const Term& a, const Term& b) {
                                  return a.node == b.node && a.factor == b.factor;
                                });
    });
    if (same == facts.end()) facts.push_back({std::move(comparison->sum), interval});
    else same->interval = {std::max(same->interval.lo, interval.lo),
                           std::min(same->interval.hi, interval.hi)};
  }
}

namespace {

Interval scaled(Interval interval, Wide factor) {
  return factor >= 0 ? Interval{interval.lo * factor, interval.hi * factor}
                     : Interval{interval.hi * factor, interval.lo * factor};
}

Interval term_bounds(const Term& term) { return scaled(term.node->bounds(), term.factor); }

// The number m for which m * fact's terms all stand among `terms`; 0 where there is none.
std::int64_t multiple_of(const Sum& fact, const std::vector<Term>& terms) {
  std::int64_t multiple = 0;
  for (const Term& part : fact.terms) {
    const auto found =
        std::ranges::find_if(terms, [&](const Term& term) { return term.node == part.node; });
    if (found == terms.end() || found->factor % part.factor != 0) return 0;
    const std::int64_t ratio = found->factor / part.factor;
    if (multiple != 0 && ratio != multiple) return 0;
    multiple = ratio;
  }
  return multiple;
}

}  // namespace

Interval bounds_of(const Sum& sum, const Assumptions* assumptions) {
  Interval result{sum.constant, sum.constant};
  const auto add = [&](Interval i) { result = {result.lo + i.lo, result.hi + i.hi}; };
  std::vector<Term> rest = sum.terms;
  if (assumptions != nullptr) {
    for (const auto& fact : assumptions->facts) {
      const std::int64_t multiple = multiple_of(fact.sum, rest);
      if (multiple == 0) continue;
      Interval own{0, 0};
      for (const Term& part : fact.sum.terms) {
        const Interval i = term_bounds(part);
        own = {own.lo + i.lo, own.hi + i.hi};
        std::erase_if(rest, [&](const Term& term) { return term.node == part.node; });
      }
      add(scaled({std::max(own.lo, fact.interval.lo), std::min(own.hi, fact.interval.hi)}, multiple));
    }
  }
  for (const Term& term : rest) add(term_bounds(term));
  return result;
}

}  // namespace weft
