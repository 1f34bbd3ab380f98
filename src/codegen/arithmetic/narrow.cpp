// Computes arithmetic of f16, bf16 and fp8 in f32.
//
// The CAST back rounds the f32 result a second time. This is innocuous if the wider precision is at
// least twice the narrower one plus two bits (Figueroa, "When is double rounding innocuous?",
// 1995): 24 >= 2*11 + 2. It is also innocuous for subnormal bf16 results, which are subnormal in
// f32 as well: their ties are multiples of 2^-134, and f32 keeps all bits down to 2^-149. A
// quotient is at least 2^-142 away from a tie. Among 16-bit significands of products only 65535
// would be rounded to a tie, and it is not the product of two 8-bit numbers. Only MULACC needs care
// to round once.

#include "narrow.h"

#include <algorithm>

#include <weft/dev/codegen/decompose.h>
#include <weft/dev/ir/graph.h>

#include "common/loops.h"

namespace weft {
namespace {

UOp wide(const Node* value) { return cast(UOp(value), dtypes::f32.vec(value->dtype().lanes())); }

// The product is exact in f32, except for bits far below the ties of bf16, so the error of the sum
// can be computed. If the product of two bf16 overflows, c may bring the sum back into range. Sums
// with a large product are therefore scaled by 1/4, which is exact for numbers of that size.
UOp fused_in_f32(const Match& m) {
  const UOp a = wide(m.root()->src(0)), b = wide(m.root()->src(1)), c = wide(m.root()->src(2));
  const auto number = [&](double literal) { return literal_like(literal, a); };
  const UOp product = a * b, limit = number(0x1p126);
  const UOp is_small = (product < limit) & (-limit < product);
  const UOp scale = where(is_small, number(1), number(0.25));
  const UOp part = a * scale, rest = c * scale;
  const UOp error = two_sum(part * b, rest).low;
  // MULACC rather than the sum of two_sum: it keeps the sign of a product that underflows to 0.
  const UOp sum = rounded_to_odd(mulacc(part, b, rest), 0.0 < error, error < 0.0);
  return cast(sum * where(is_small, number(1), number(4)), m.root()->dtype());
}

// NEG and WHERE work on words, since they keep the bits of a NaN.
UOp negate_word(const Match& m) {
  const DType dtype = m.root()->dtype(), word = word_of(dtype);
  const UOp sign = const_bits(word, Bits{1} << (word.bits() - 1));
  return bitcast(bitcast(UOp(m.root()->src(0)), word) ^ sign, dtype);
}

UOp select_word(const Match& m) {
  const DType dtype = m.root()->dtype(), word = word_of(dtype);
  const auto branch = [&](std::size_t i) { return bitcast(UOp(m.root()->src(i)), word); };
  return bitcast(where(UOp(m.root()->src(0)), branch(1), branch(2)), dtype);
}

bool combines_narrow(const Node* effect) {
  return effect->op() == Op::Store && effect->arg<StoreArg>().combine &&
         is_narrow(effect->src(1)->dtype());
}

// Expands each combining store of narrow floats to a load, the op and a plain store. The load runs
// in each iteration of the loops, after the combining stores before it. Returns an empty list if
// there is no such store.
std::vector<UOp> expand_combining_stores(NodeList effects, NodeList loops) {
  if (std::ranges::none_of(effects, combines_narrow)) return {};
  std::vector<UOp> before = list_of(loops), stores;
  for (const Node* effect : effects) {
    stores.emplace_back(effect);
    if (!combines_narrow(effect)) continue;
    std::vector<UOp> place = list_of(effect->src(0)->src()), store = list_of(effect->src());
    place[0] = with_list(Op::After, place[0], before);
    const UOp old = make(Op::Load, {make(Op::Index, place)});
    store[1] = make(effect->arg<StoreArg>().op, {old, store[1]});
    before.push_back(make(Op::Store, store, {}, StoreArg{}));
    stores.back() = before.back();
  }
  return stores;
}

UOp expand_combining_stores_in_loop(const Match& m) {
  const Node* end = m.root();
  const NodeList loops = end->src().subspan(1);
  const std::vector<UOp> stores = expand_combining_stores(members_in(end), loops);
  if (stores.empty()) return {};
  std::vector<UOp> src = list_of(end->src());
  src[0] = end->src(0)->op() == Op::Tuple ? tuple(stores) : stores[0];
  return with_sources(UOp(end), src);
}

// Expands combining stores outside of loops.
UOp expand_combining_stores_at_sink(const Match& m) {
  const std::vector<UOp> stores = expand_combining_stores(m.root()->src(), {});
  return stores.empty() ? UOp() : with_sources(UOp(m.root()), stores);
}

}  // namespace

UOp in_f32(const Match& m) {
  std::vector<UOp> operands;
  for (const Node* source : m.root()->src()) operands.push_back(wide(source));
  const UOp result = make(m.root()->op(), operands);
  return result->dtype().is_bool() ? result : cast(result, m.root()->dtype());
}

const RuleSet& narrow_rules() {
  static const OpSet rounded{Op::Recip, Op::Sqrt, Op::Trunc, Op::Add, Op::Sub,
                             Op::Mul,   Op::Div,  Op::Mod,   Op::Max};
  static const OpSet comparisons{Op::CmpLt, Op::CmpNe, Op::CmpEq};
  static const Pat a = of_kinds("a", narrow_kinds), b = of_kinds("b", narrow_kinds);
  static const RuleSet rules{"narrow",
                             {
                                 rule(with_kinds(node(rounded), narrow_kinds), in_f32),
                                 rule(node(comparisons, {a, b}), in_f32),
                                 rule(with_kinds(node(Op::MulAcc), narrow_kinds), fused_in_f32),
                                 rule(with_kinds(node(Op::Neg), narrow_kinds), negate_word),
                                 rule(with_kinds(node(Op::Where), narrow_kinds), select_word),
                                 rule(node(Op::End), expand_combining_stores_in_loop),
                                 rule(node(Op::Sink), expand_combining_stores_at_sink),
                             }};
  return rules;
}

}  // namespace weft
