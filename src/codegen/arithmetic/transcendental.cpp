// Decompositions of EXP2 and LOG2, and the rules for all transcendental functions.
//
// The polynomials are weighted minimax fits (Remez exchange, Lawson's iteration for EXP2), computed
// with 300 bits. The coefficients were rounded one by one, the lowest first, and the rest was
// fitted again each time. The error bounds in the comments are those of the rounded polynomials,
// measured at 3,000 points, relative to the function's result.

#include "transcendental.h"

#include "narrow.h"

#include <cmath>
#include <limits>
#include <numbers>

#include <weft/dev/codegen/decompose.h>
#include <weft/dev/device/target.h>
#include <weft/dev/ir/value.h>
#include <weft/dev/rules/symbolic.h>

namespace weft {
namespace {

// (2^f - 1)/f for |f| <= 1/2.
constexpr double exp2_f32[] = {
    // 2^-27.9
    0x1.62e430p-1, 0x1.ebfbd6p-3, 0x1.c6af76p-5, 0x1.3b3208p-7, 0x1.5f0b86p-10, 0x1.3eb4cep-13,
};
constexpr double exp2_f64[] = {
    // 2^-57.3
    0x1.62e42fefa39efp-1,  0x1.ebfbdff82c5a4p-3,  0x1.c6b08d704a128p-5,  0x1.3b2ab6fba01c7p-7,
    0x1.5d87fe789fcc5p-10, 0x1.4309130eb8be1p-13, 0x1.ffcbfc5f40c0dp-17, 0x1.62bfc7e857567p-20,
    0x1.b52533fcf4663p-24, 0x1.e61ad5fdfe23cp-28, 0x1.e956db9986656p-32,
};

// (2 atanh(s)/s - 2)/(z ln 2) with z = s^2, for |s| <= (sqrt(2) - 1)/(sqrt(2) + 1).
constexpr double log2_f32[] = {0x1.ec70d2p-1, 0x1.274ca0p-1, 0x1.b93ea0p-2};  // 2^-30.1
constexpr double log2_f64[] = {                                               // 2^-59.4
    0x1.ec709dc3a0455p-1, 0x1.2776c50ee73d8p-1, 0x1.a61762d1f819bp-2, 0x1.484afcf932eb6p-2,
    0x1.0ca11e00caae7p-2, 0x1.c479cb0e718bfp-3, 0x1.b52904572c332p-3};

// 1/ln 2 as the sum of two numbers of the dtype.
constexpr double log2e_f32[] = {0x1.715476p+0, 0x1.4ae0cp-26};
constexpr double log2e_f64[] = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};

// log2(1 + f) = f/ln2 - f^2/(2 ln2) + s*(f^2/(2 ln2) + z*polynomial(z)) with s = f/(2 + f). The
// first term is added without being rounded, and the others are at most a fifth of it.
UOp log2_near_one(const UOp& f, const FloatLayout& layout) {
  const auto log2e = layout.table<double>(log2e_f32, log2e_f64);
  const auto terms = layout.table<double>(log2_f32, log2_f64);
  const UOp s = f / (f + 2), z = s * s, half = f * (log2e[0] / 2) * f;
  const UOp bend = mulacc(s, mulacc(z, polynomial(z, terms), half), -half);
  const UOp low = mulacc(f, layout.number(log2e[1]), bend);
  return mulacc(f, layout.number(log2e[0]), low);
}

}  // namespace

double exp2_clamp(const FloatLayout& layout) { return layout.bias + layout.precision + 9; }

UOp clamped(const UOp& x, double limit) {
  const UOp least = literal_like(-limit, x), most = literal_like(limit, x);
  const UOp above = where(x < least, least, x);
  return where(most < above, most, above);
}

UOp exponent_shift(const FloatLayout& layout) { return rounding_shift(layout, 2 * layout.bias); }

UOp scaled_exp2(const Rounded& n, const UOp& f, const FloatLayout& layout, bool scales) {
  const auto terms = layout.table<double>(exp2_f32, exp2_f64);
  const UOp power = mulacc(f, polynomial(f, terms), layout.number(1));
  if (scales)
    return make(Op::Ldexp, {power, n.word - bitcast(exponent_shift(layout), layout.word)});
  // Scales in two steps, since 2^n may not be a normal number. The first is exact. Each exponent
  // has one of the biases, and the shifts drop all bits above it.
  const UOp half = shr(n.word, 1), rest = n.word - half;
  const auto scale = [&](const UOp& exponent) {
    return bitcast(shl(exponent, layout.mantissa()), layout.value);
  };
  return power * scale(half) * scale(rest);
}

double rounding_error_of(double factor, DType dtype) {
  const auto log2e = FloatLayout::of(dtype).table<double>(log2e_f32, log2e_f64);
  return is_multiple_of_log2e(factor, dtype) ? factor / log2e[0] * log2e[1] : 0;
}

Scaled normalised(const UOp& x, const FloatLayout& layout) {
  const int up = layout.precision;  // subnormals are scaled by 2^up
  const UOp tiny = x < std::ldexp(1.0, 1 - layout.bias);
  const UOp word = bitcast(where(tiny, x * std::ldexp(1.0, up), x), layout.word);
  const UOp least = bitcast(layout.number(std::numbers::sqrt2 / 2), layout.word);
  const UOp exponent = shr(word - least, layout.mantissa());
  const UOp significand = bitcast(word - shl(exponent, layout.mantissa()), layout.value);
  const UOp undo = where(tiny, layout.integer(up), layout.integer(0));
  return {cast(exponent - undo, layout.value), significand - 1};
}

namespace {

UOp log2_of(const UOp& x) {
  const FloatLayout layout = FloatLayout::of(x->dtype());
  const auto [exponent, f] = normalised(x, layout);
  const UOp regular = exponent + log2_near_one(f, layout);
  const UOp nan = layout.number(std::numeric_limits<double>::quiet_NaN());
  const UOp irregular = where(x == 0, -layout.infinity(), nan);
  // +inf and NaN stay as they are.
  return where(x < layout.infinity(), where(0 < x, regular, irregular), x);
}

bool scales(const Match& m) {
  const auto* target = m.context<Target>();
  return m.root()->dtype().kind() == Kind::F32 && target != nullptr &&
         target->ops.contains(Op::Ldexp);
}

template <UOp (*function)(const UOp&)>
UOp unary(const Match& m) {
  return function(UOp(m.root()->src(0)));
}

double value_of(const Node* constant) {
  return double_from_bits(constant->arg<ConstArg>().bits, constant->dtype().scalar());
}

// Returns 2^(x*c), without rounding the product first. For exp this saves an instruction and gains
// as many bits as the product has before the binary point. rounding_error_of() compensates for the
// rounding of c = 1/ln 2, which would cost exp(88) 20 ulp. Returns null for factors so large or
// small that the limits of x do not fit the dtype.
UOp exp2_of_multiple(const Match& m) {
  const Node* product = m.root()->src(0);
  UOp x(product->src(0)), c(product->src(1));
  if (x->is_const() && is_multiple_of_log2e(value_of(x.node()), x->dtype())) std::swap(x, c);
  const double factor = value_of(c.node()), size = std::abs(factor);
  if (!(size > 0x1p-64 && size < 0x1p64)) return {};
  const FloatLayout layout = FloatLayout::of(x->dtype());
  const UOp near = clamped(x, exp2_clamp(layout) / size), shift = exponent_shift(layout);
  const Rounded n = unshifted(mulacc(near, c, shift), shift, layout);
  UOp rest = mulacc(near, c, -n.value);
  if (const double lost = rounding_error_of(factor, x->dtype()); lost != 0)
    rest = mulacc(near, layout.number(lost), rest);
  return scaled_exp2(n, rest, layout, scales(m));
}

UOp exp2(const Match& m) {
  const UOp x(m.root()->src(0));
  const FloatLayout layout = FloatLayout::of(x->dtype());
  const UOp near = clamped(x, exp2_clamp(layout)), shift = exponent_shift(layout);
  const Rounded n = unshifted(near + shift, shift, layout);
  return scaled_exp2(n, near - n.value, layout, scales(m));
}

UOp power_by_roots(const Match& m) {
  return pow_by_roots(UOp(m.root()->src(0)), value_of(m.root()->src(1)));
}

UOp power(const Match& m) {
  return pow_of(UOp(m.root()->src(0)), UOp(m.root()->src(1)), scales(m));
}

}  // namespace

const RuleSet& transcendental_rules() {
  static constexpr KindSet wide{Kind::F32, Kind::F64};
  static const Pat x = of_kinds("x", wide), c = any_const("c");
  static const RuleSet rules{
      "transcendental",
      {
          rule(node(Op::Exp2, {ordered(x * c)}), exp2_of_multiple),
          rule(with_kinds(node(Op::Exp2), wide), exp2),
          rule(with_kinds(node(Op::Log2), wide), unary<log2_of>),
          rule(with_kinds(node(Op::Sin), wide), unary<sin_of>),
          rule(with_kinds(node(Op::Cos), wide), unary<cos_of>),
          rule(node(Op::Pow, {x, c}), power_by_roots),
          rule(with_kinds(node(Op::Pow), wide), power),
          rule(with_kinds(node({Op::Exp2, Op::Log2, Op::Sin, Op::Cos, Op::Pow}), narrow_kinds),
               in_f32),
      }};
  return rules;
}

}  // namespace weft
