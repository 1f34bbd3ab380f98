// The smallest and largest value of an integer node, from those of its sources.

#include <algorithm>
#include <limits>
#include <optional>

#include <weft/dev/ir/value.h>

#include "analysis.h"

namespace weft {

Interval dtype_interval(DType dtype) {
  if (dtype.is_bool()) return {0, 1};
  const int bits = dtype.bits();
  if (dtype.is_unsigned()) return {0, (Wide{1} << bits) - 1};
  return {-(Wide{1} << (bits - 1)), (Wide{1} << (bits - 1)) - 1};
}

namespace {

Interval hull(Interval a, Interval b) { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }

Wide trunc_div(Wide a, Wide b) { return a / b; }

using Binary = Wide (*)(Wide, Wide);

// Saturates where u64 times u64 nears the end of the wide type, so that a sum with it still fits;
// so far out, only the magnitude matters.
Wide times(Wide a, Wide b) {
  constexpr Wide most = std::numeric_limits<Wide>::max() / 2;
  Wide product;
  return __builtin_mul_overflow(a, b, &product) ? most : std::min(product, most);
}

// Of an operation monotone in each operand, whatever the direction.
Interval corners(Interval a, Interval b, Binary f) {
  const Wide v[] = {f(a.lo, b.lo), f(a.lo, b.hi), f(a.hi, b.lo), f(a.hi, b.hi)};
  return {*std::ranges::min_element(v), *std::ranges::max_element(v)};
}

// Splits the divisor where its sign changes: each part is monotone, and division by 0 gives
// `by_zero`.
template <class Part>
Interval by_divisor_sign(Interval divisor, Interval by_zero, Part part) {
  const Interval negative{divisor.lo, std::min<Wide>(divisor.hi, -1)};
  const Interval positive{std::max<Wide>(divisor.lo, 1), divisor.hi};
  Interval result{1, 0};
  const auto join = [&](Interval i) { result = result.lo > result.hi ? i : hull(result, i); };
  if (negative.lo <= negative.hi) join(part(negative));
  if (divisor.contains(0)) join(by_zero);
  if (positive.lo <= positive.hi) join(part(positive));
  return result;
}

Interval divide(Interval a, Interval b, Binary quotient) {
  return by_divisor_sign(b, {0, 0}, [&](Interval d) { return corners(a, d, quotient); });
}

Interval floor_remainder(Interval a, Interval b) {
  return by_divisor_sign(b, a, [&](Interval d) -> Interval {
    if (d.is_point() && floor_div(a.lo, d.lo) == floor_div(a.hi, d.lo))
      return {floor_mod(a.lo, d.lo), floor_mod(a.hi, d.lo)};
    if (d.lo > 0)
      return {a.lo >= 0 && a.hi < d.lo ? a.lo : 0, a.lo >= 0 ? std::min(a.hi, d.hi - 1) : d.hi - 1};
    return {a.hi <= 0 ? std::max(a.lo, d.lo + 1) : d.lo + 1, 0};
  });
}

// The remainder takes the dividend's sign.
Interval trunc_remainder(Interval a, Interval b) {
  return by_divisor_sign(b, a, [&](Interval d) -> Interval {
    const Wide most = std::max(d.lo < 0 ? -d.lo : d.lo, d.hi < 0 ? -d.hi : d.hi) - 1;
    return {a.lo >= 0 ? 0 : std::max(a.lo, -most), a.hi <= 0 ? 0 : std::min(a.hi, most)};
  });
}

Interval shift_left(Interval a, Interval by, int bits) {
  const auto shifted = [](Wide x, Wide s) { return x * (Wide{1} << s); };
  if (by.lo < 0 || by.hi >= bits) return hull({0, 0}, corners(a, {0, bits - 1}, shifted));
  return corners(a, by, shifted);
}

Interval shift_right(Interval a, Interval by, int bits) {
  const auto shifted = [](Wide x, Wide s) { return x >> s; };
  if (by.lo < 0 || by.hi >= bits) return corners(a, {0, 127}, shifted);
  return corners(a, by, shifted);
}

// The least 2^k - 1 that is not below the value.
Wide ones_above(Wide value) {
  Wide ones = 0;
  while (ones < value) ones = ones * 2 + 1;
  return ones;
}

Interval bit_and(Interval a, Interval b, Interval all) {
  if (a.lo >= 0 && b.lo >= 0) return {0, std::min(a.hi, b.hi)};
  if (a.lo >= 0) return {0, a.hi};
  if (b.lo >= 0) return {0, b.hi};
  return all;
}

Interval bit_or(Interval a, Interval b, Interval all) {
  if (a.lo < 0 || b.lo < 0) return all;
  return {std::max(a.lo, b.lo), ones_above(std::max(a.hi, b.hi))};
}

Interval bit_xor(Interval a, Interval b, Interval all) {
  if (a.lo < 0 || b.lo < 0) return all;
  return {0, ones_above(std::max(a.hi, b.hi))};
}

Interval compare(Op op, const Node* x, const Node* y) {
  if (!has_bounds(x->dtype())) return {0, 1};
  const Interval a = x->bounds(), b = y->bounds();
  const bool apart = a.hi < b.lo || b.hi < a.lo;
  const bool same = a.is_point() && a == b;
  if (op == Op::CmpLt) return {a.hi < b.lo, a.lo < b.hi};
  if (op == Op::CmpNe) return {apart, !same};
  return {same, !apart};
}

Interval either(Interval a, Interval b) { return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)}; }
Interval both(Interval a, Interval b) { return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)}; }

Interval bool_binary(Op op, Interval a, Interval b, Interval all) {
  switch (op) {
    case Op::Add:
    case Op::Max:
    case Op::Or: return either(a, b);
    case Op::Mul:
    case Op::And: return both(a, b);
    default:  // SUB and XOR
      if (!a.is_point() || !b.is_point()) return all;
      return {a.lo != b.lo, a.lo != b.lo};
  }
}

// Sizes may be symbolic; a range that may be empty contributes its identity.
std::optional<Interval> reduce_bounds(const NodeFields& f) {
  const Interval body = f.src[0]->bounds();
  Interval iterations{1, 1};
  for (const Node* source : f.src.subspan(1)) {
    // A range whose width is being chosen stands under a CAST for a moment.
    const Node* range = source->op() == Op::Cast ? source->src(0) : source;
    if (range->op() != Op::Range || !has_bounds(range->dtype())) return std::nullopt;
    const Interval size = range->src(0)->bounds();
    iterations =
        corners(iterations, {std::max<Wide>(size.lo, 0), std::max<Wide>(size.hi, 0)}, times);
    if (iterations.hi > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
  }
  const auto& arg = *static_cast<const ReduceArg*>(f.arg);
  if (!arg.axes.empty() || f.dtype.is_bool()) return std::nullopt;
  if (arg.op == Op::Max) return iterations.lo > 0 ? std::optional(body) : std::nullopt;
  if (arg.op == Op::Add) return corners(body, iterations, times);
  return std::nullopt;
}

Interval const_bounds(const NodeFields& f) {
  const Bits bits = static_cast<const ConstArg*>(f.arg)->bits;
  const Wide value =
      f.dtype.kind() == Kind::U64 ? Wide{bits} : Wide{static_cast<std::int64_t>(bits)};
  return {value, value};
}

Interval cast_bounds(const Node* from, DType to, Interval all) {
  if (!has_bounds(from->dtype())) return all;
  const Interval a = from->bounds();
  if (to.is_bool()) return {!a.contains(0), !(a.is_point() && a.lo == 0)};
  return all.lo <= a.lo && a.hi <= all.hi ? a : all;
}

// Of the first branch of a WHERE, which may be what the condition compares, or a multiple of it as an index, which never wraps.
Interval where_less(const NodeFields& f, Interval branch) {
  const Node *condition = f.src[0], *value = f.src[1];
  if (condition->op() != Op::CmpLt || !has_bounds(f.dtype)) return branch;
  const Node* less = condition->src(0);
  if (less->dtype() != f.dtype || condition->src(1)->dtype() != f.dtype) return branch;
  const bool is_multiple = f.dtype.is_index() && value->op() == Op::Mul && value->src(0) == less;
  if (value != less && !is_multiple) return branch;
  Interval bound = less->bounds();
  bound.hi = std::min(bound.hi, condition->src(1)->bounds().hi - 1);
  return is_multiple ? corners(bound, value->src(1)->bounds(), times) : bound;
}

// The mathematical result, before it is wrapped into the dtype. Nothing where it is not known.
std::optional<Interval> mathematical(const NodeFields& f, Interval all) {
  const auto src = [&](std::size_t i) {
    return has_bounds(f.src[i]->dtype()) ? f.src[i]->bounds() : all;
  };
  switch (f.op) {
    case Op::Const: return const_bounds(f);
    case Op::Variable: {
      const auto& arg = *static_cast<const VariableArg*>(f.arg);
      return arg.lo <= arg.hi ? Interval{arg.lo, arg.hi} : all;
    }
    case Op::Range:
      // Not 0 alone where the loop may not run: what it computes would seem to be the same outside.
      if (src(0).lo <= 0 && src(0).hi == 1) return Interval{0, 1};
      [[fallthrough]];
    case Op::Special: return Interval{0, std::max<Wide>(src(0).hi - 1, 0)};
    case Op::Neg: return Interval{-src(0).hi, -src(0).lo};
    case Op::Add: return Interval{src(0).lo + src(1).lo, src(0).hi + src(1).hi};
    case Op::Sub: return Interval{src(0).lo - src(1).hi, src(0).hi - src(1).lo};
    case Op::Mul: return corners(src(0), src(1), times);
    case Op::MulAcc: {
      if (f.dtype.is_bool()) return either(both(src(0), src(1)), src(2));
      const Interval product = corners(src(0), src(1), times);
      return Interval{product.lo + src(2).lo, product.hi + src(2).hi};
    }
    case Op::Max: return Interval{std::max(src(0).lo, src(1).lo), std::max(src(0).hi, src(1).hi)};
    case Op::FloorDiv: return divide(src(0), src(1), floor_div);
    case Op::CDiv: return divide(src(0), src(1), trunc_div);
    case Op::FloorMod: return floor_remainder(src(0), src(1));
    case Op::CMod: return trunc_remainder(src(0), src(1));
    case Op::Shl: return shift_left(src(0), src(1), f.dtype.bits());
    case Op::Shr: return shift_right(src(0), src(1), f.dtype.bits());
    case Op::And: return bit_and(src(0), src(1), all);
    case Op::Or: return bit_or(src(0), src(1), all);
    case Op::Xor: return bit_xor(src(0), src(1), all);
    case Op::CmpLt:
    case Op::CmpNe:
    case Op::CmpEq: return compare(f.op, f.src[0], f.src[1]);
    case Op::Where:
      if (src(0).is_point()) return src(0).lo != 0 ? src(1) : src(2);
      return hull(where_less(f, src(1)), src(2));
    case Op::Reduce: return reduce_bounds(f);
    case Op::Pad: return hull(src(0), {0, 0});
    case Op::Load: return hull(src(0), f.src.size() > 1 ? src(1) : Interval{0, 0});
    case Op::Multi:
    case Op::Stack: {
      Interval result = src(0);
      for (std::size_t i = 1; i < f.src.size(); ++i) result = hull(result, src(i));
      return result;
    }
    case Op::Splat:
    case Op::Lane:
    case Op::Bind:
    case Op::Index:
    case Op::Copy:
    case Op::Contiguous:
    case Op::Detach:
    case Op::Remat:
    case Op::Stage:
    case Op::Shuffle:
    case Op::Trunc:
    case Op::Reshape:
    case Op::Permute:
    case Op::Expand:
    case Op::Shrink:
    case Op::Flip: return src(0);
    case Op::Cast: return cast_bounds(f.src[0], f.dtype, all);
    case Op::Buffer:
    case Op::Param:
    case Op::After:                // of what was written
    case Op::Bitcast: return all;  // nothing is computed, so nothing can wrap
    default: return std::nullopt;
  }
}

bool is_bool_arithmetic(const NodeFields& f) {
  return f.dtype.is_bool() && f.src.size() == 2 && f.src[0]->dtype().is_bool() &&
         info(f.op).cls == OpClass::Binary && !has(f.op, OpFlag::Compare);
}

}  // namespace

BoundsResult compute_bounds(const NodeFields& f) {
  const Interval all = dtype_interval(f.dtype);
  if (is_bool_arithmetic(f))
    return {bool_binary(f.op, f.src[0]->bounds(), f.src[1]->bounds(), all), true};
  if (f.op == Op::Neg && f.dtype.is_bool()) return {f.src[0]->bounds(), true};
  const std::optional<Interval> result = mathematical(f, all);
  if (result && all.lo <= result->lo && result->hi <= all.hi) return {*result, true};
  return {all, false};
}

}  // namespace weft
