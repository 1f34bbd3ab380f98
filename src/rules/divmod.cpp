// Floor division and remainder of sums by constants.
//
// The sum is split as x = c*Q + R. Then x//c = Q + R//c and x%c = R%c, whatever the signs; the
// same split for both keeps a quotient and its remainder recognisable to sum_rules.

#include <algorithm>

#include <weft/dev/ir/graph.h>
#include <weft/dev/rules/symbolic.h>

#include "long_division.h"

namespace weft {
namespace {

struct Division {
  Sum quotient;   // Q
  Sum remainder;  // R: factors below c in magnitude, constant in [0, c)
  std::int64_t divisor;
};

Division divide(const Sum& sum, std::int64_t c) {
  Division result{{}, {}, c};
  for (const Term& term : sum.terms) {
    result.quotient.terms.push_back({term.node, term.factor / c});
    if (term.factor % c != 0) result.remainder.terms.push_back({term.node, term.factor % c});
  }
  result.quotient.terms.remove_if([](const Term& term) { return term.factor == 0; });
  result.quotient.constant = floor_div(sum.constant, c);
  result.remainder.constant = floor_mod(sum.constant, c);
  return result;
}

// sum - n*c, modulo 2^64: what is built from it wraps to the same value.
void subtract(Sum& sum, std::int64_t n, std::int64_t c) {
  sum.constant = static_cast<std::int64_t>(Bits(sum.constant) - Bits(n) * Bits(c));
}

// The n with c*n <= sum < c*(n+1) for all values, where there is one.
std::optional<std::int64_t> bucket(const Sum& sum, std::int64_t c, const Assumptions* assumptions) {
  const Interval b = bounds_of(sum, assumptions);
  const Wide first = floor_div(b.lo, Wide{c});
  if (first != floor_div(b.hi, Wide{c})) return std::nullopt;
  return static_cast<std::int64_t>(first);
}

// R with some factors f replaced by f - c (f + c), if that keeps R within one bucket, and then moved
// into [0, c); Q gains what R lost. Each factor takes the nearer to 0; a lone term, or a tie, tries both.
std::optional<Division> centred(const Division& division, const Assumptions* assumptions) {
  const std::int64_t c = division.divisor;
  const std::size_t count = division.remainder.terms.size();
  for (unsigned attempt = 0; attempt < 2; ++attempt) {
    Division result = division;
    for (std::size_t i = 0; i < count; ++i) {
      std::int64_t& factor = result.remainder.terms[i].factor;
      const std::int64_t low = floor_mod(factor, c), nearer = low > c - low ? low - c : low;
      const bool open = count == 1 || low == c - low;
      const std::int64_t chosen = open ? (attempt == 0 ? low : low - c) : nearer;
      if (const std::int64_t moved = (factor - chosen) / c; moved != 0)
        result.quotient.terms.push_back({result.remainder.terms[i].node, moved});
      factor = chosen;
    }
    if (const auto whole = bucket(result.remainder, c, assumptions)) {
      result.quotient.constant += *whole;
      subtract(result.remainder, *whole, c);
      return result;
    }
  }
  return std::nullopt;
}

// That, or the same for the sum spelled out: a scaled sum may hide multiples of c.
std::optional<Division> within_one_bucket(const Sum& sum, const Division& division,
                                          const Assumptions* assumptions) {
  if (auto result = centred(division, assumptions)) return result;
  const auto spread = sum.spread();
  return spread ? centred(divide(*spread, division.divisor), assumptions) : std::nullopt;
}

// f divides c, and R = f*D + r where r stays within one bucket of f.
struct Nesting {
  std::int64_t factor;
  Sum outer;  // D plus that bucket
  Sum inner;  // r less the bucket: within [0, f)
};

std::optional<Nesting> nest_by(const Sum& sum, std::int64_t factor,
                               const Assumptions* assumptions) {
  Nesting result{factor, {}, {}};
  for (const Term& term : sum.terms) {
    if (term.factor % factor == 0)
      result.outer.terms.push_back({term.node, term.factor / factor});
    else
      result.inner.terms.push_back(term);
  }
  result.inner.constant = sum.constant;
  if (result.outer.terms.empty()) return std::nullopt;
  const auto inner = bucket(result.inner, factor, assumptions);
  if (!inner) return std::nullopt;
  result.outer.constant = *inner;
  subtract(result.inner, *inner, factor);
  return result;
}

std::optional<Nesting> nested(const Division& division, const Assumptions* assumptions) {
  const std::int64_t c = division.divisor;
  std::int64_t common = c;
  for (const Term& term : division.remainder.terms) common = common_factor(common, term.factor);
  if (common > 1) return nest_by(division.remainder, common, assumptions);
  std::optional<Nesting> best;
  for (const Term& term : division.remainder.terms) {
    const std::int64_t factor = common_factor(term.factor, c);
    if (factor <= 1 || factor == c || (best && best->factor >= factor)) continue;
    if (auto found = nest_by(division.remainder, factor, assumptions)) best = std::move(found);
  }
  return best;
}

// sum // by or sum % by; null where the sum, written out, could wrap.
UOp divided(Op op, const Sum& sum, const UOp& by) {
  const UOp x = sum.build_exact(by->dtype());
  return x.is_null() ? x : make(op, {x, by});
}
UOp divided(Op op, const Sum& sum, std::int64_t by, DType dtype) {
  const UOp divisor = exact_const(by, dtype);
  return divisor.is_null() ? divisor : divided(op, sum, divisor);
}

struct Operands {
  Sum sum;
  std::int64_t divisor;
  const Assumptions* assumptions;
};

std::optional<Operands> operands_of(const Match& m) {
  const Node* root = m.root();
  if (!root->src(1)->is_const() || root->src(1)->lo() <= 0) return std::nullopt;
  auto sum = Sum::of(root->src(0));
  if (!sum) return std::nullopt;
  return Operands{std::move(*sum), root->src(1)->lo(), m.context<Assumptions>()};
}

// (x//a + rest) // c is (x + a*rest) // (a*c): fewer ops where the terms of the rest stand in x.
UOp merge_quotients(const Match& m) {
  const auto operands = operands_of(m);
  if (!operands) return {};
  const auto& [sum, c, assumptions] = *operands;
  const auto inner = std::ranges::find_if(sum.terms, [](const Term& term) {
    return term.factor == 1 && term.node->op() == Op::FloorDiv && term.node->src(1)->is_const() &&
           term.node->src(1)->lo() > 0;
  });
  if (inner == sum.terms.end()) return {};
  const std::int64_t a = inner->node->src(1)->lo();
  auto x = Sum::of(inner->node->src(0));
  std::int64_t divisor = 0, product = 0;
  if (!x || __builtin_mul_overflow(a, c, &divisor) ||
      __builtin_mul_overflow(a, sum.constant, &product) ||
      __builtin_add_overflow(x->constant, product, &x->constant))
    return {};
  for (const Term& term : sum.terms) {
    if (&term == &*inner) continue;
    const auto known = std::ranges::find(x->terms, term.node, &Term::node);
    if (known == x->terms.end() || __builtin_mul_overflow(a, term.factor, &product) ||
        __builtin_add_overflow(known->factor, product, &known->factor))
      return {};
  }
  return divided(Op::FloorDiv, *x, divisor, m.root()->dtype());
}

UOp divide_sum(const Match& m) {
  const DType dtype = m.root()->dtype();
  const auto x = operands_of(m);
  if (!x) return {};
  const std::int64_t c = x->divisor;
  if (const auto whole = bucket(x->sum, c, x->assumptions)) return const_int(*whole, dtype);
  Division division = divide(x->sum, c);
  if (const auto fits = within_one_bucket(x->sum, division, x->assumptions))
    return fits->quotient.build(dtype);
  if (!division.quotient.is_zero())
    return plus(division.quotient, divided(Op::FloorDiv, division.remainder, c, dtype));
  if (const auto nest = nested(division, x->assumptions))
    return divided(Op::FloorDiv, nest->outer, c / nest->factor, dtype);
  return {};
}

bool is_remainder_by(const Sum& sum, std::int64_t c) {
  if (sum.terms.size() != 1) return false;
  const Node* node = sum.terms[0].node;
  return node->op() == Op::FloorMod && node->src(1)->is_const() && node->src(1)->lo() % c == 0;
}

// x % c, where x differs by a constant, modulo c, from a sum that the condition keeps within one
// bucket: that sum less its bucket. (Not where the sum is made of this very remainder, or is
// one itself: perhaps this one as it was before anything was assumed.)
UOp assumed_remainder(const Node* root, std::int64_t c, const Assumptions* assumptions) {
  if (assumptions == nullptr) return {};
  const Node* x = root->src(0);
  for (const auto& fact : assumptions->facts) {
    if (is_remainder_by(fact.sum, c)) continue;
    const UOp known = fact.sum.build_exact(x->dtype());
    const auto offset = known.is_null() ? std::nullopt : constant_difference(x, known.node(), c);
    if (!offset) continue;
    Sum sum = fact.sum;
    sum.constant = *offset;
    const auto whole = bucket(sum, c, assumptions);
    if (!whole || depends_on(known.node(), root)) continue;
    subtract(sum, *whole, c);
    return sum.build(x->dtype());
  }
  return {};
}

UOp remainder_of_sum(const Match& m) {
  const DType dtype = m.root()->dtype();
  auto x = operands_of(m);
  if (!x) return {};
  const std::int64_t c = x->divisor;
  if (const auto whole = bucket(x->sum, c, x->assumptions)) {
    subtract(x->sum, *whole, c);
    return x->sum.build(dtype);
  }
  if (const UOp known = assumed_remainder(m.root(), c, x->assumptions); !known.is_null())
    return known;
  if (Sum sum = x->sum; sum.drop_remainders(c))
    if (const UOp result = divided(Op::FloorMod, sum, c, dtype); !result.is_null()) return result;
  Division division = divide(x->sum, c);
  if (const auto fits = within_one_bucket(x->sum, division, x->assumptions))
    return fits->remainder.build(dtype);
  if (!division.quotient.is_zero()) return divided(Op::FloorMod, division.remainder, c, dtype);
  if (const auto nest = nested(division, x->assumptions))
    return plus(nest->inner, divided(Op::FloorMod, nest->outer, c / nest->factor, dtype),
                nest->factor);
  return {};
}

// node / n where n stands among the factors of a product; null where it does not.
UOp without_factor(const Node* product, const Node* n) {
  if (product == n) return const_int(1, n->dtype());
  if (product->op() != Op::Mul || !product->is_exact() || product->chain() > longest_sum) return {};
  if (product->src(1) == n) return UOp(product->src(0));
  const UOp rest = without_factor(product->src(0), n);
  return rest.is_null() ? rest : rest * UOp(product->src(1));
}

// By n > 0 that is no constant. Where it is open between which multiples of n x lies, terms with the
// factor n come out, and so does what all of n's terms have in common.
UOp divide_by_symbol(const Match& m) {
  const Node* root = m.root();
  const Node* n = root->src(1);
  const bool quotient = root->op() == Op::FloorDiv;
  if (n->is_const() || !n->dtype().is_int() || n->bounds().lo <= 0) return {};
  if (UOp known = long_division(root, m.context<Assumptions>()); !known.is_null()) return known;
  const auto x = Sum::of(root->src(0)), divisor = Sum::of(n);
  if (!x || !divisor) return {};
  UOp whole;
  Sum rest;
  rest.constant = x->constant;
  for (const Term& term : x->terms) {
    const UOp part = without_factor(term.node, n);
    if (part.is_null())
      rest.terms.push_back(term);
    else
      whole = whole.is_null() ? scaled(part, term.factor) : whole + scaled(part, term.factor);
  }
  if (!whole.is_null()) {
    const UOp remaining = divided(root->op(), rest, UOp(n));
    return !quotient || remaining.is_null() ? remaining : whole + remaining;
  }
  std::int64_t common = divisor->constant;
  for (const Term& term : divisor->terms) common = common_factor(common, term.factor);
  if (common <= 1) return {};
  const auto nest = nest_by(*x, common, m.context<Assumptions>());
  if (!nest) return {};
  Sum reduced = divisor->divided(common);
  reduced.constant = divisor->constant / common;
  UOp by = reduced.build_exact(root->dtype());
  if (by.is_null()) return by;
  const UOp outer = divided(root->op(), nest->outer, by);
  return quotient ? outer : plus(nest->inner, outer, common);
}

// What a condition leaves only one value for.
UOp assumed_value(const Match& m) {
  const auto* assumptions = m.context<Assumptions>();
  if (assumptions == nullptr) return {};
  const Interval b = bounds_of({{{m.root(), 1}}, 0}, assumptions);
  return b.is_point() ? const_int(static_cast<std::int64_t>(b.lo), m.root()->dtype()) : UOp();
}

UOp assumed_sum(const Match& m) {
  const auto* assumptions = m.context<Assumptions>();
  if (assumptions == nullptr) return {};
  auto sum = Sum::of(m.root());
  return sum && assumptions->pin(*sum) ? sum->build(m.root()->dtype()) : UOp();
}

}  // namespace

const RuleSet& merge_rules() {
  static const RuleSet rules{"merge",
                             {
                                 rule(node(Op::FloorDiv), merge_quotients),
                             }};
  return rules;
}

const RuleSet& divmod_rules() {
  static const Pat x = ints("x"), y = ints("y"), n = ints("n");
  static const Pat a = int_const("a"), c = int_const("c"), d = int_const("d");
  static const Pat r = node(Op::Range, {n});
  // clang-format off
  static const RuleSet rules{"divmod", {
    // A negative divisor turns its dividend around.
    rule(exact(x / c),                      exact(x * -1) / fold(c * -1),          when(c < 0)),
    rule(exact(x % c),                      exact(x * -1) % fold(c * -1) * -1,     when(c < 0)),

    rule(exact((x / c) / d),                x / fold(c * d),                  when(c > 0 && d > 0)),
    rule(exact((x / c + a) / d),            exact(x + fold(a * c)) / fold(c * d), when(c > 0 && d > 0)),
    rule((x % c) / d,                       (x / d) % fold(c / d),            when(c > 0 && d > 0 && c % d == 0)),
    rule((x % y) / y,                       0,                                when(lo(y) > 0)),

    rule(r % n,                             r),
    rule(r / n,                             0),

    rule(node({Op::FloorDiv, Op::FloorMod, Op::Range}), assumed_value),
    rule(with_kinds(node(Op::Add), int_kinds), assumed_sum),
    rule(node(Op::FloorDiv),                divide_sum),
    rule(node(Op::FloorMod),                remainder_of_sum),
    rule(node({Op::FloorDiv, Op::FloorMod}), divide_by_symbol),

    // Rounding does not matter where nothing is negative.
    rule(node(Op::CDiv, {x, y}),            x / y,                            when(lo(x) >= 0 && lo(y) >= 0)),
    rule(node(Op::CMod, {x, y}),            x % y,                            when(lo(x) >= 0 && lo(y) >= 0)),
  }};
  // clang-format on
  return rules;
}

}  // namespace weft
