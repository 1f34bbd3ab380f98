// Floor division and remainder of sums by constants.
//
// The sum is split as x = c*Q + R. Then x//c = Q + R//c and x%c = R%c, whatever the signs; the
// same split for both keeps a quotient and its remainder recognisable to sum_rules.

#include <numeric>

#include <weft/dev/rules/symbolic.h>

#include "assume.h"

namespace weft {
namespace {

constexpr std::int64_t far = std::int64_t{1} << 62;

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
  std::erase_if(result.quotient.terms, [](const Term& term) { return term.factor == 0; });
  result.quotient.constant = floor_div(sum.constant, c);
  result.remainder.constant = floor_mod(sum.constant, c);
  return result;
}

bool is_zero(const Sum& sum) { return sum.terms.empty() && sum.constant == 0; }

// The n with c*n <= sum < c*(n+1) for all values, where there is one.
std::optional<std::int64_t> bucket(const Sum& sum, std::int64_t c, const Assumptions* assumptions) {
  const Interval b = bounds_of(sum, assumptions);
  const auto quotient = [&](Wide a) { return a / c - (a % c != 0 && a < 0); };
  if (quotient(b.lo) != quotient(b.hi)) return std::nullopt;
  return static_cast<std::int64_t>(quotient(b.lo));
}

// R with some factors f replaced by f - c (f + c), if that keeps R within one bucket; Q gains
// what R lost. Each factor takes the nearer to 0; a lone term, or a tie, tries both.
std::optional<Division> centred(const Division& division, const Assumptions* assumptions) {
  const std::int64_t c = division.divisor;
  const std::size_t count = division.remainder.terms.size();
  for (unsigned attempt = 0; attempt < 2; ++attempt) {
    Division result = division;
    for (std::size_t i = 0; i < count; ++i) {
      std::int64_t& factor = result.remainder.terms[i].factor;
      const std::int64_t low = floor_mod(factor, c), nearer = low * 2 > c ? low - c : low;
      const bool open = count == 1 || low * 2 == c;
      const std::int64_t chosen = open ? (attempt == 0 ? low : low - c) : nearer;
      if (const std::int64_t moved = (factor - chosen) / c; moved != 0)
        result.quotient.terms.push_back({result.remainder.terms[i].node, moved});
      factor = chosen;
    }
    if (bucket(result.remainder, c, assumptions)) return result;
  }
  return std::nullopt;
}

// f divides c, and R = f*D + r where r stays within one bucket of f.
struct Nesting {
  std::int64_t factor;
  Sum outer;  // D plus that bucket
  Sum inner;  // r less the bucket: within [0, f)
};

std::optional<Nesting> nest_by(const Sum& sum, std::int64_t factor, const Assumptions* assumptions) {
  Nesting result{factor, {}, {}};
  for (const Term& term : sum.terms) {
    if (term.factor % factor == 0) result.outer.terms.push_back({term.node, term.factor / factor});
    else result.inner.terms.push_back(term);
  }
  result.inner.constant = sum.constant;
  if (result.outer.terms.empty()) return std::nullopt;
  const auto inner = bucket(result.inner, factor, assumptions);
  if (!inner) return std::nullopt;
  result.outer.constant = *inner;
  result.inner.constant -= *inner * factor;
  return result;
}

std::optional<Nesting> nested(const Division& division, const Assumptions* assumptions) {
  const std::int64_t c = division.divisor;
  std::int64_t common = c;
  for (const Term& term : division.remainder.terms) common = std::gcd(common, term.factor);
  if (common > 1) return nest_by(division.remainder, common, assumptions);
  std::optional<Nesting> best;
  for (const Term& term : division.remainder.terms) {
    const std::int64_t factor = std::gcd(term.factor, c);
    if (factor <= 1 || factor == c || (best && best->factor >= factor)) continue;
    if (auto found = nest_by(division.remainder, factor, assumptions)) best = std::move(found);
  }
  return best;
}

UOp plus(const Sum& sum, const UOp& rest) {
  return is_zero(sum) ? rest : sum.build(rest->dtype()) + rest;
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

UOp divide_sum(const Match& m) {
  const DType dtype = m.root()->dtype();
  const auto x = operands_of(m);
  if (!x) return {};
  const std::int64_t c = x->divisor;
  if (const auto whole = bucket(x->sum, c, x->assumptions)) return const_int(*whole, dtype);
  Division division = divide(x->sum, c);
  if (auto fits = centred(division, x->assumptions)) {
    fits->quotient.constant += *bucket(fits->remainder, c, x->assumptions);
    return fits->quotient.build(dtype);
  }
  if (!is_zero(division.quotient))
    return plus(division.quotient, division.remainder.build(dtype) / c);
  if (const auto nest = nested(division, x->assumptions))
    return nest->outer.build(dtype) / (c / nest->factor);
  return {};
}

// In a remainder by c, a term f*(t % d) is f*t where c divides f*d.
bool drop_inner_remainders(Sum& sum, std::int64_t c) {
  bool changed = false;
  for (Term& term : sum.terms) {
    std::int64_t whole = 0;
    const Node* node = term.node;
    if (node->op() != Op::FloorMod || !node->src(1)->is_const() || !node->src(0)->is_exact() ||
        __builtin_mul_overflow(term.factor, node->src(1)->lo(), &whole) || whole == 0 || whole % c != 0)
      continue;
    term.node = node->src(0);
    changed = true;
  }
  return changed;
}

UOp remainder_of_sum(const Match& m) {
  const DType dtype = m.root()->dtype();
  auto x = operands_of(m);
  if (!x) return {};
  const std::int64_t c = x->divisor;
  if (const auto whole = bucket(x->sum, c, x->assumptions)) {
    x->sum.constant -= *whole * c;
    return x->sum.build(dtype);
  }
  if (drop_inner_remainders(x->sum, c)) return x->sum.build(dtype) % c;
  Division division = divide(x->sum, c);
  if (auto fits = centred(division, x->assumptions)) {
    fits->remainder.constant -= *bucket(fits->remainder, c, x->assumptions) * c;
    return fits->remainder.build(dtype);
  }
  if (!is_zero(division.quotient)) return division.remainder.build(dtype) % c;
  if (const auto nest = nested(division, x->assumptions))
    return plus(nest->inner, nest->outer.build(dtype) % (c / nest->factor) * nest->factor);
  return {};
}

}  // namespace

const RuleSet& divmod_rules() {
  static const Pat x = ints("x"), y = ints("y"), n = ints("n");
  static const Pat a = int_const("a"), c = int_const("c"), d = int_const("d");
  static const Pat r = node(Op::Range, {n});
  // clang-format off
  static const RuleSet rules{"divmod", {
    // A negative divisor turns its dividend around.
    rule(exact(x / c),                      (x * -1) / fold(c * -1),          when(c < 0 && lo(x) > -far)),
    rule(exact(x % c),                      ((x * -1) % fold(c * -1)) * -1,   when(c < 0 && lo(x) > -far)),

    rule(exact((x / c) / d),                x / fold(c * d),                  when(c > 0 && d > 0)),
    rule(exact((x / c + a) / d),            (x + fold(a * c)) / fold(c * d),  when(c > 0 && d > 0)),
    rule((x % c) / d,                       (x / d) % fold(c / d),            when(c > 0 && d > 0 && c % d == 0)),
    rule((x % y) / y,                       0,                                when(lo(y) > 0)),

    rule(r % n,                             r),
    rule(r / n,                             0),
    rule(exact((x * n) / n),                x,                                when(lo(n) > 0)),
    rule(exact((x * n) % n),                0,                                when(lo(n) > 0)),
    rule(exact((x * n + y) / n),            x + y / n,                        when(lo(n) > 0)),
    rule(exact((x * n + y) % n),            y % n,                            when(lo(n) > 0)),

    rule(node(Op::FloorDiv),                divide_sum),
    rule(node(Op::FloorMod),                remainder_of_sum),

    // Rounding does not matter where nothing is negative.
    rule(node(Op::CDiv, {x, y}),            x / y,                            when(lo(x) >= 0 && lo(y) >= 0)),
    rule(node(Op::CMod, {x, y}),            x % y,                            when(lo(x) >= 0 && lo(y) >= 0)),
  }};
  // clang-format on
  return rules;
}

}  // namespace weft
