// Splits 64-bit integers into two u32. The halves of x are cast<u32>(x) and cast<u32>(x >> 32), so
// that no node has to represent a pair. These casts move down through the ops until a value comes
// from memory. Shifts by the width or more give 0, which avoids all special cases.

#include "arithmetic_steps.h"

#include <weft/dev/codegen/decompose.h>

namespace weft {
namespace {

constexpr KindSet wide_kinds{Kind::I64, Kind::U64};

bool is_wide(const Node* node) { return wide_kinds.contains(node->dtype().kind()); }

DType half_of(DType wide) { return dtypes::u32.vec(wide.lanes()); }

UOp low(const Node* x) {
  const DType half = half_of(x->dtype());
  return x->is_const() ? const_bits(half, x->arg<ConstArg>().bits) : cast(UOp(x), half);
}

UOp high(const Node* x) {
  const DType half = half_of(x->dtype());
  if (x->is_const()) return const_bits(half, x->arg<ConstArg>().bits >> 32);
  return cast(shr(UOp(x), 32), half);
}

UOp as_signed(const UOp& half) { return bitcast(half, dtypes::i32.vec(half->dtype().lanes())); }
UOp as_half(const UOp& word) { return cast(word, half_of(word->dtype())); }

using Half = UOp (*)(const Node*);

// Applies the op to the halves of its wide sources.
template <Half half>
UOp each(const Node* x) {
  std::vector<UOp> src;
  for (const Node* source : x->src()) src.push_back(is_wide(source) ? half(source) : UOp(source));
  return make_uop(x->op(), src, half_of(x->dtype()), info(x->op()).arg, x->arg_bytes());
}

UOp high_sum(const Node* x) {
  const UOp a = low(x->src(0)), sum = a + low(x->src(1));
  return high(x->src(0)) + high(x->src(1)) + as_half(sum < a);
}

UOp high_difference(const Node* x) {
  const UOp borrow = as_half(low(x->src(0)) < low(x->src(1)));
  return high(x->src(0)) - high(x->src(1)) - borrow;
}

// Returns the upper half of the product of two u32, computed from 16-bit parts.
UOp upper_product(const UOp& a, const UOp& b) {
  const UOp a0 = a & 0xffff, a1 = shr(a, 16), b0 = b & 0xffff, b1 = shr(b, 16);
  const UOp middle = a1 * b0 + shr(a0 * b0, 16), other = a0 * b1 + (middle & 0xffff);
  return a1 * b1 + shr(middle, 16) + shr(other, 16);
}

UOp high_product(const Node* x) {
  const UOp a = low(x->src(0)), b = low(x->src(1));
  return upper_product(a, b) + a * high(x->src(1)) + high(x->src(0)) * b;
}

// Returns a shift count in 32 bits. Negative and large ones have a nonzero upper half: 64 is
// returned.
UOp count_of(const Node* x) {
  const UOp count = low(x->src(1)), rest = high(x->src(1));
  return where(rest == 0, count, literal_like(std::int64_t{64}, count));
}

UOp shifted_up(const UOp& half, const UOp& by) { return make(Op::Shl, {half, by}); }
UOp shifted_down(const UOp& half, const UOp& by) { return make(Op::Shr, {half, by}); }

UOp low_shl(const Node* x) { return shifted_up(low(x->src(0)), count_of(x)); }

// One of the two parts of `moved` is 0, unless both are equal.
UOp high_shl(const Node* x) {
  const UOp a = low(x->src(0)), by = count_of(x);
  const UOp moved = shifted_down(a, 32 - by) | shifted_up(a, by - 32);
  return shifted_up(high(x->src(0)), by) | moved;
}

UOp sign_shifted(const UOp& half, const UOp& by) {
  return as_half(shifted_down(as_signed(half), as_signed(by)));
}

UOp low_shr(const Node* x) {
  const UOp a = high(x->src(0)), by = count_of(x);
  const UOp inside = shifted_down(low(x->src(0)), by) | shifted_up(a, 32 - by);
  const UOp beyond = x->dtype().is_unsigned() ? shifted_down(a, by - 32) : sign_shifted(a, by - 32);
  return where(by < 32, inside, beyond);
}

UOp high_shr(const Node* x) {
  const UOp a = high(x->src(0)), by = count_of(x);
  return x->dtype().is_unsigned() ? shifted_down(a, by) : sign_shifted(a, by);
}

bool has_halves(const Node* x) { return x->dtype().is_int() || x->dtype().is_bool(); }

UOp low_cast(const Node* x) {
  return has_halves(x->src(0)) ? cast(UOp(x->src(0)), half_of(x->dtype())) : UOp();
}

UOp high_cast(const Node* x) {
  const Node* from = x->src(0);
  if (is_wide(from)) return high(from);
  if (!has_halves(from)) return {};
  const DType half = half_of(x->dtype());
  if (from->dtype().is_bool() || from->dtype().is_unsigned()) return const_int(0, half);
  return cast(shr(UOp(from), from->dtype().bits() - 1), half);
}

UOp low_bits(const Node* x) { return is_wide(x->src(0)) ? low(x->src(0)) : UOp(); }
UOp high_bits(const Node* x) { return is_wide(x->src(0)) ? high(x->src(0)) : UOp(); }

struct Row {
  Op op;
  Half low, high;
};
constexpr Row table[] = {
    {Op::Add, each<low>, high_sum},     {Op::Sub, each<low>, high_difference},
    {Op::Mul, each<low>, high_product}, {Op::And, each<low>, each<high>},
    {Op::Or, each<low>, each<high>},    {Op::Xor, each<low>, each<high>},
    {Op::Where, each<low>, each<high>}, {Op::Shl, low_shl, high_shl},
    {Op::Shr, low_shr, high_shr},       {Op::Cast, low_cast, high_cast},
    {Op::Bitcast, low_bits, high_bits}, {Op::Splat, each<low>, each<high>},
    {Op::Stack, each<low>, each<high>}, {Op::Lane, each<low>, each<high>},
};

UOp lower_half_cast(const Match& m) {
  const Node* x = m.root()->src(0);
  const bool is_high = x->op() == Op::Shr && x->src(1)->is_const_int(32);
  const Node* value = is_high ? x->src(0) : x;
  for (const Row& row : table)
    if (row.op == value->op()) return (is_high ? row.high : row.low)(value);
  return {};
}

UOp through_half(const Match& m) { return cast(low(m.root()->src(0)), m.root()->dtype()); }

UOp is_not_zero(const Match& m) {
  const Node* x = m.root()->src(0);
  return (low(x) | high(x)) != 0;
}

UOp less(const Match& m) {
  const Node *a = m.root()->src(0), *b = m.root()->src(1);
  const UOp x = high(a), y = high(b);
  const UOp is_less = a->dtype().is_unsigned() ? x < y : as_signed(x) < as_signed(y);
  return is_less | ((x == y) & (low(a) < low(b)));
}

UOp equal(const Match& m) {
  const Node *a = m.root()->src(0), *b = m.root()->src(1);
  return (low(a) == low(b)) & (high(a) == high(b));
}

}  // namespace

const RuleSet& half_rules() {
  static constexpr KindSet small{Kind::I8, Kind::I16, Kind::I32, Kind::U8, Kind::U16};
  static const Pat x = of_kinds("x", wide_kinds), y = of_kinds("y", wide_kinds);
  static const Pat z = of_kinds("z", wide_kinds), to_half = node(Op::Cast, {x});
  static const RuleSet rules{"split_int64",
                             {
                                 rule(with_kinds(to_half, {Kind::U32}), lower_half_cast),
                                 rule(with_kinds(to_half, small), through_half),
                                 rule(with_kinds(to_half, {Kind::Bool}), is_not_zero),
                                 rule(x < y, less),
                                 rule(x == y, equal),
                                 rule(x != y, !(x == y)),
                                 rule(-x, 0 - x),
                                 rule(max(x, y), where(x < y, y, x)),
                                 rule(node(Op::MulAcc, {x, y, z}), x * y + z),
                             }};
  return rules;
}

}  // namespace weft
