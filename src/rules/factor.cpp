// What is left after symbolic(), in fewer ops. These rules contract, and undo what the others
// expand: they run on their own.

#include <weft/dev/rules/symbolic.h>

#include "sum.h"

namespace weft {
namespace {

// y + ... x*c ... + z*c is y + ... + (x + z)*c, and with x*-c it is (z - x)*c.
UOp gather_factor(const Match& m) {
  const Node* root = m.root();
  const Term last = term_of(root->src(1));
  if (last.factor == 1 || root->src(1)->is_const()) return {};
  auto sum = Sum::of(root);
  if (!sum || last.factor < -(std::int64_t{1} << 62)) return {};
  for (std::size_t i = 0; i + 1 < sum->terms.size(); ++i) {
    const Term other = sum->terms[i];
    const bool same = other.factor == last.factor;
    if (!same && other.factor != -last.factor) continue;
    const UOp a(other.node), b(last.node);
    const std::int64_t factor = same || last.factor < 0 ? other.factor : last.factor;
    const UOp inside = same ? a + b : last.factor < 0 ? a - b : b - a;
    const UOp joined = factor == 1 ? inside : inside * factor;
    sum->terms.pop_back();
    sum->terms.erase(&sum->terms[i]);
    if (sum->terms.empty()) return sum->constant == 0 ? joined : joined + sum->constant;
    const std::int64_t constant = std::exchange(sum->constant, 0);
    const UOp result = sum->build(root->dtype()) + joined;
    return constant == 0 ? result : result + constant;
  }
  return {};
}

}  // namespace

const RuleSet& factor_rules() {
  static const Pat s = of_kinds("s", signed_kinds), t = of_kinds("t", signed_kinds);
  static const Pat u = of_kinds("u", signed_kinds), c = int_const("c");
  static const Pat d = int_const("d"), e = int_const("e");
  const auto natural = [](const Pat& least) {
    return when(d > 0 && (least < 0 || least + d * e >= 0));
  };
  // clang-format off
  static const RuleSet rules{"factor", {
    rule(with_kinds(node(Op::Add), int_kinds),    gather_factor),
    rule(-s + t,                                  t - s),
    rule((s - t) + u,                             (s + u) - t,       when([](const Match& m) { return m.root()->src(1)->op() != Op::Const; })),
    rule(s*-1,                                    -s),

    // One constant in place of two, before and after a division; but no dividend turns negative.
    rule(exact((s + c) / d) + e,                  exact(s + fold(c + d*e)) / d,      natural(lo(s) + c)),
    rule(exact((c - s) / d) + e,                  exact(fold(c + d*e) - s) / d,      natural(c - hi(s))),
    rule(exact(-s / d) + e,                       exact(fold(d*e) - s) / d,          when(d > 0)),
    rule(ordered((t + exact((s + c) / d)) + e),   t + exact(s + fold(c + d*e)) / d,  natural(lo(s) + c)),
    rule(ordered((t + exact((c - s) / d)) + e),   t + exact(fold(c + d*e) - s) / d,  natural(c - hi(s))),
    rule(ordered((t + exact(-s / d)) + e),        t + exact(fold(d*e) - s) / d,      when(d > 0)),
  }};
  // clang-format on
  return rules;
}

}  // namespace weft
