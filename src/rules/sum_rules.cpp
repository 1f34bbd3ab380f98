// Sums of products: like terms meet, constants distribute, quotients join their remainders.

#include <algorithm>

#include <weft/dev/rules/symbolic.h>

#include "sum.h"

namespace weft {
namespace {

bool is_const_op(const Node* node, Op op) {
  return node->op() == op && node->src(1)->is_const() && node->src(1)->lo() > 0;
}

// For a quotient q = n // c and a remainder base % d: the x with q = x // d that is congruent to
// base modulo d. Null where there is none. It need not be base itself: a remainder keeps less of
// it, and (y//a + rest) // d may have become (y + a*rest) // (a*d).
UOp dividend(const Node* q, const Node* base, std::int64_t d) {
  if (!is_const_op(q, Op::FloorDiv) || q->src(1)->lo() % d != 0) return {};
  const Node* n = q->src(0);
  const std::int64_t c = q->src(1)->lo(), a = c / d;
  if (a == 1) return n == base || constant_difference(n, base, d) == 0 ? UOp(n) : UOp();
  auto rest = Sum::of(base);
  if (!rest) return {};
  const auto inner = std::ranges::find_if(rest->terms, [&](const Term& term) {
    return term.factor == 1 && is_const_op(term.node, Op::FloorDiv) && term.node->src(1)->lo() == a;
  });
  if (inner == rest->terms.end()) return {};
  const UOp y(inner->node->src(0));
  rest->terms.erase(inner);
  const UOp others = rest->build_exact(y->dtype());
  if (others.is_null()) return {};
  const UOp product = scaled(others, a), whole = y + product;
  if (!product->is_exact() || !whole->is_exact()) return {};
  return constant_difference(n, whole.node(), c) == 0 ? UOp(n) / a : UOp();
}

// d*((b//d + rest) % e) + b%d is (b + d*rest) % (d*e).
UOp widened(const Node* quotient, const Node* base, std::int64_t divisor) {
  std::int64_t wider = 0;
  if (!is_const_op(quotient, Op::FloorMod) ||
      __builtin_mul_overflow(divisor, quotient->src(1)->lo(), &wider))
    return {};
  auto inner = Sum::of(quotient->src(0));
  if (!inner) return {};
  for (std::size_t i = 0; i < inner->terms.size(); ++i) {
    if (inner->terms[i].factor != 1) continue;
    const UOp x = dividend(inner->terms[i].node, base, divisor);
    if (x.is_null()) continue;
    inner->terms.erase(&inner->terms[i]);
    const UOp rest = inner->build_exact(base->dtype()), by = exact_const(wider, base->dtype());
    if (rest.is_null() || by.is_null()) return {};
    if (inner->is_zero()) return x % by;
    const UOp product = scaled(rest, divisor), sum = x + product;
    return product->is_exact() && sum->is_exact() ? sum % by : UOp();
  }
  return {};
}

// m*(b % d) + m*d*(b // d) is m*b.
UOp recombined(const Term& remainder, const Term& quotient) {
  if (!is_const_op(remainder.node, Op::FloorMod)) return {};
  const Node* base = remainder.node->src(0);
  const std::int64_t divisor = remainder.node->src(1)->lo();
  std::int64_t scale = 0;
  if (__builtin_mul_overflow(remainder.factor, divisor, &scale) || scale != quotient.factor)
    return {};
  if (const UOp x = dividend(quotient.node, base, divisor); !x.is_null())
    return scaled(x, remainder.factor);
  const UOp x = widened(quotient.node, base, divisor);
  return x.is_null() ? x : scaled(x, remainder.factor);
}

// A term of a sum, or of a sum that is itself scaled: (a + b)*c has the parts a*c and b*c.
struct Part {
  Term term;
  std::size_t owner;  // which of the sum's terms it is part of
};
using PartList = InlineVector<Part, 12>;

PartList terms_as_parts(const Sum& sum) {
  PartList parts;
  for (std::size_t i = 0; i < sum.terms.size(); ++i) parts.push_back({sum.terms[i], i});
  return parts;
}

PartList all_parts(const Sum& sum) {
  PartList parts;
  for (std::size_t i = 0; i < sum.terms.size(); ++i) {
    const Term& term = sum.terms[i];
    const auto inner = term.node->op() == Op::Add ? Sum::of(term.node) : std::nullopt;
    if (!inner) {
      parts.push_back({term, i});
      continue;
    }
    for (const Term& part : inner->terms) {
      std::int64_t factor = 0;
      if (!__builtin_mul_overflow(part.factor, term.factor, &factor))
        parts.push_back({{part.node, factor}, i});
    }
  }
  return parts;
}

// The sum without the parts a and b: terms they came from are spelled out.
Sum without(const Sum& sum, const PartList& parts, const Part& a, const Part& b) {
  Sum rest;
  rest.constant = sum.constant;
  for (std::size_t i = 0; i < sum.terms.size(); ++i) {
    if (i != a.owner && i != b.owner) {
      rest.terms.push_back(sum.terms[i]);
      continue;
    }
    for (const Part& part : parts)
      if (part.owner == i && &part != &a && &part != &b) rest.terms.push_back(part.term);
    if (const auto inner = Sum::of(sum.terms[i].node); inner && sum.terms[i].node->op() == Op::Add)
      rest.constant += inner->constant * sum.terms[i].factor;
  }
  return rest;
}

// The last term of a sum with any other: pairs further left were met at a smaller sum.
UOp recombine(const Match& m, PartList (*parts_of)(const Sum&)) {
  const Node* root = m.root();
  if (root->src(1)->is_const()) return {};
  const auto splits = [](const Part& part) {
    return part.term.node->op() == Op::FloorMod || part.term.node->op() == Op::FloorDiv;
  };
  const Term last_term = term_of(root->src(1));
  if (!splits({last_term, 0}) && last_term.node->op() != Op::Add) return {};
  const auto sum = Sum::of(root);
  if (!sum) return {};
  const PartList parts = parts_of(*sum);
  const std::size_t last = sum->terms.size() - 1;
  for (const Part& b : parts) {
    if (b.owner != last || !splits(b)) continue;
    for (const Part& a : parts) {
      if (a.owner == last || !splits(a)) continue;
      UOp joined = recombined(a.term, b.term);
      if (joined.is_null()) joined = recombined(b.term, a.term);
      if (!joined.is_null()) return plus(without(*sum, parts, a, b), joined);
    }
  }
  return {};
}

UOp recombine_terms(const Match& m) { return recombine(m, terms_as_parts); }
UOp recombine_parts(const Match& m) { return recombine(m, all_parts); }

// Its ops, where it is written out; those within its terms that are sums count too.
std::size_t op_count(const Sum& sum) {
  std::size_t count = sum.terms.size() + (sum.constant != 0) - 1;
  for (const Term& term : sum.terms) {
    count += term.factor != 1;
    if (term.node->chain() > longest_sum) continue;
    for (const Node* node = term.node; node->op() == Op::Add; node = node->src(0))
      count += 1 + (node->src(1)->op() == Op::Mul);
  }
  return count;
}

// (a + b)*c + a*d is a*(c + d) + b*c, where that is shorter.
UOp open_sum(const Match& m) {
  const Node* root = m.root();
  if (root->chain() > longest_sum) return {};
  bool holds_sum = term_of(root->src(1)).node->op() == Op::Add;
  for (const Node* node = root->src(0); !holds_sum; node = node->src(0)) {
    holds_sum = term_of(node->op() == Op::Add ? node->src(1) : node).node->op() == Op::Add;
    if (node->op() != Op::Add) break;
  }
  if (!holds_sum) return {};
  const auto sum = Sum::of(root);
  auto open = sum ? sum->spread() : std::nullopt;
  if (!open) return {};
  Sum result;
  result.constant = open->constant;
  for (const Term& term : open->terms)
    if (term.factor != 0) result.terms.push_back(term);
  return result.terms.empty() || op_count(result) < op_count(*sum) ? result.build(root->dtype())
                                                                   : UOp();
}

// (g*s)*y is (s*y)*g: a product's constant stands outside, where division sees it.
UOp pull_factor(const Match& m) {
  const Node* root = m.root();
  if (root->src(0)->is_const() || root->src(1)->is_const()) return {};
  for (std::size_t i : {0, 1}) {
    auto sum = Sum::of(root->src(i));
    if (!sum || sum->terms.size() + (sum->constant != 0) < 2) continue;
    std::int64_t common = sum->constant;
    for (const Term& term : sum->terms) common = common_factor(common, term.factor);
    if (common <= 1) continue;
    Sum reduced = sum->divided(common);
    reduced.constant = sum->constant / common;
    const UOp rest = reduced.build(root->dtype()), other(root->src(1 - i));
    return (i == 0 ? rest * other : other * rest) * common;
  }
  return {};
}

}  // namespace

const RuleSet& sum_rules() {
  static const Pat x = ints("x"), y = ints("y"), c = int_const("c"), d = int_const("d");
  // clang-format off
  static const RuleSet rules{"sum", {
    rule(x + x,                        x * 2),
    rule(x*c + x,                      x * fold(c + 1)),
    rule(x*c + x*d,                    x * fold(c + d)),
    rule(ordered(ordered(y + x) + x),          y + x*2),
    rule(ordered(ordered(y + x*c) + x),        y + x * fold(c + 1)),
    rule(ordered(ordered(y + x) + x*c),        y + x * fold(c + 1)),
    rule(ordered(ordered(y + x*c) + x*d),      y + x * fold(c + d)),
    rule((x + c) * d,                  x*d + fold(c * d)),
    rule(x / y * y + x % y,            x),
    rule(x / c * d + x,                x % c,               when(c + d == 0)),
    rule(with_kinds(node(Op::Add), int_kinds), open_sum),
    rule(with_kinds(node(Op::Mul), int_kinds), pull_factor),
    rule(with_kinds(node(Op::Add), int_kinds), recombine_terms),
  }};
  // clang-format on
  return rules;
}

const RuleSet& spread_rules() {
  static const RuleSet rules{"spread",
                             {
                                 rule(with_kinds(node(Op::Add), int_kinds), recombine_parts),
                             }};
  return rules;
}

}  // namespace weft
