// Guards integer divisions and shifts for which machine instructions are undefined.

#include <weft/dev/codegen/decompose.h>
#include <weft/dev/codegen/lower.h>
#include <weft/dev/ir/graph.h>

namespace weft {
namespace {

UOp constant(std::int64_t value, const UOp& like) { return const_int(value, like->dtype()); }

UOp divide(const Match& m) {
  const Node* root = m.root();
  const bool quotient = root->op() == Op::CDiv;
  const UOp a(root->src(0)), b(root->src(1));
  const UOp zero = constant(0, b), one = constant(1, b), minus = constant(-1, b);
  const bool by_zero = b->bounds().contains(0);
  const bool may_wrap = !b->dtype().is_unsigned() && b->bounds().contains(-1) &&
                        a->bounds().lo == dtype_interval(a->dtype().scalar()).lo;
  if (!by_zero && !may_wrap) return {};
  UOp divisor = b;
  if (by_zero) divisor = where(b == zero, one, divisor);
  if (may_wrap) divisor = where(b == minus, one, divisor);
  UOp result = make(root->op(), {a, divisor});
  if (may_wrap) result = where(b == minus, quotient ? -a : zero, result);
  if (by_zero) result = where(b == zero, quotient ? zero : a, result);
  return result;
}

UOp shift(const Match& m) {
  const Node* root = m.root();
  const UOp a(root->src(0)), b(root->src(1));
  const int bits = a->dtype().bits();
  if (b->bounds().lo >= 0 && b->bounds().hi < bits) return {};
  const bool keeps_sign = root->op() == Op::Shr && !a->dtype().is_unsigned();
  const UOp inside = (b >= 0) & (b < bits);
  const UOp most = constant(bits - 1, b);
  const UOp by = where(inside, b, most);
  const UOp shifted = make(root->op(), {a, by});
  return keeps_sign ? shifted : where(inside, shifted, constant(0, a));
}

const RuleSet& split_rules() {
  static const Pat a = of_kinds("a", int_kinds | KindSet{Kind::Bool}), b = any("b"), c = any("c");
  static const RuleSet integers{"integers", {rule(node(Op::MulAcc, {a, b, c}), a * b + c)}};
  static const RuleSet rules{"split", {&truncating_rules(), &integers}};
  return rules;
}

}  // namespace

const RuleSet& guard_rules() {
  static const RuleSet rules{"guard",
                             {
                                 rule(node({Op::CDiv, Op::CMod}), divide),
                                 rule(node({Op::Shl, Op::Shr}), shift),
                             }};
  return rules;
}

// Applies each rule set once. A fixed point would guard guarded ops again, since bounds do not take
// the guarding condition into account.
std::vector<UOp> guard(const std::vector<UOp>& roots, const RewriteOptions& options) {
  return rewrite_once(rewrite_once(roots, split_rules(), options), guard_rules(), options);
}

}  // namespace weft
