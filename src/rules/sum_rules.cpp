// Sums of products: like terms meet, constants distribute, quotients join their remainders.

#include <weft/dev/rules/symbolic.h>

#include "sum.h"

namespace weft {
namespace {

bool is_const_op(const Node* node, Op op) {
  return node->op() == op && node->src(1)->is_const() && node->src(1)->lo() > 0;
}

// Whether q is base // divisor, as the rules for division leave it: (x//a + k) // d has become
// (x + a*k) // (a*d).
bool is_quotient(const Node* q, const Node* base, std::int64_t divisor) {
  if (!is_const_op(q, Op::FloorDiv)) return false;
  if (q->src(0) == base && q->src(1)->lo() == divisor) return true;
  std::int64_t offset = 0;
  if (base->op() == Op::Add && base->src(1)->is_const()) {
    offset = base->src(1)->lo();
    base = base->src(0);
  }
  if (!is_const_op(base, Op::FloorDiv)) return false;
  const std::int64_t inner = base->src(1)->lo();
  std::int64_t whole = 0, shift = 0;
  if (__builtin_mul_overflow(inner, divisor, &whole) || __builtin_mul_overflow(inner, offset, &shift))
    return false;
  if (q->src(1)->lo() != whole) return false;
  const Node* numerator = q->src(0);
  if (shift == 0) return numerator == base->src(0);
  return numerator->op() == Op::Add && numerator->src(0) == base->src(0) &&
         numerator->src(1)->is_const_int(shift);
}

// m*(b % d) + m*d*(b // d) is m*b, and m*(b % d) + m*d*((b // d) % e) is m*(b % (d*e)).
UOp recombined(const Term& remainder, const Term& quotient) {
  if (!is_const_op(remainder.node, Op::FloorMod)) return {};
  const Node* base = remainder.node->src(0);
  const std::int64_t divisor = remainder.node->src(1)->lo();
  std::int64_t scale = 0, wider = 0;
  if (__builtin_mul_overflow(remainder.factor, divisor, &scale) || scale != quotient.factor) return {};
  if (is_quotient(quotient.node, base, divisor)) return UOp(base) * remainder.factor;
  if (!is_const_op(quotient.node, Op::FloorMod) ||
      !is_quotient(quotient.node->src(0), base, divisor) ||
      __builtin_mul_overflow(divisor, quotient.node->src(1)->lo(), &wider))
    return {};
  return UOp(base) % wider * remainder.factor;
}

// The last term of a sum with any other: pairs further left were met at a smaller sum.
UOp recombine(const Match& m) {
  const Node* root = m.root();
  const auto may_join = [](const Node* node) {
    return node->op() == Op::FloorMod || node->op() == Op::FloorDiv;
  };
  const Node* last_term = root->src(1)->is_const() ? nullptr : term_of(root->src(1)).node;
  if (last_term == nullptr || !may_join(last_term)) return {};
  auto sum = Sum::of(root);
  if (!sum) return {};
  const Term last = sum->terms.back();
  for (std::size_t i = 0; i + 1 < sum->terms.size(); ++i) {
    const Term& other = sum->terms[i];
    if (!may_join(other.node)) continue;
    UOp joined = recombined(last, other);
    if (joined.is_null()) joined = recombined(other, last);
    if (joined.is_null()) continue;
    sum->terms.pop_back();
    sum->terms.erase(sum->terms.begin() + static_cast<std::ptrdiff_t>(i));
    if (sum->terms.empty() && sum->constant == 0) return joined;
    return sum->build(root->dtype()) + joined;
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
    rule((x + y) * c,                  x*c + y*c),
    rule(with_kinds(node(Op::Add), int_kinds), recombine),
  }};
  // clang-format on
  return rules;
}

}  // namespace weft
