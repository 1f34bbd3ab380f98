// Decomposes POW: x^y is 2^(y log2 x). The logarithm is a pair, so y times its error stays below
// the last bit of the result.

#include <cmath>
#include <limits>

#include "transcendental.h"

namespace weft {
namespace {

// The coefficients of s, s^3 ... in log2((1 + s)/(1 - s)) = 2/ln2 * (s + s^3/3 + s^5/5 ...). Those
// that matter beyond the last bit are pairs. The others form a polynomial in z = s^2, fitted as in
// transcendental.cpp.
constexpr double pairs_f32[][2] = {{0x1.715476p+1, 0x1.4ae0cp-25},
                                   {0x1.ec709ep-1, -0x1.e2fe02p-28}};
constexpr double rest_f32[] = {0x1.27770ep-1, 0x1.a5bbfcp-2, 0x1.59edaep-2};  // 2^-36.7
constexpr double pairs_f64[][2] = {{0x1.71547652b82fep+1, 0x1.777d0ffda0d24p-55},
                                   {0x1.ec709dc3a03fdp-1, 0x1.d27f05548af0cp-55},
                                   {0x1.2776c50ef9bfep-1, 0x1.e4b29ccc535d4p-55}};
constexpr double rest_f64[] = {  // 2^-72.8
    0x1.a61762a7ae380p-2, 0x1.484b13d73428ep-2, 0x1.0c9a85021e8e7p-2, 0x1.c68f045cec34bp-3,
    0x1.8a060f02bee0ap-3, 0x1.59407f956f981p-3, 0x1.5feab603a5b5fp-3};

// The error is that of rounding the low part.
Pair times(const Pair& a, const Pair& b) {
  const Pair product = two_product(a.high, b.high);
  return {product.high, product.low + mulacc(a.high, b.low, a.low * b.high)};
}

// Returns s = f/(2 + f). FMA computes the remainder of a first approximation.
Pair quotient(const UOp& f) {
  const Pair divisor = fast_two_sum(literal_like(2.0, f), f);
  const UOp reciprocal = 1 / divisor.high, high = f * reciprocal;
  const UOp rest = mulacc(-high, divisor.low, mulacc(-high, divisor.high, f));
  return {high, rest * reciprocal};
}

Pair log2_pair(const UOp& x, const FloatLayout& layout) {
  const auto pairs = layout.table<double[2]>(pairs_f32, pairs_f64);
  const auto rest = layout.table<double>(rest_f32, rest_f64);
  const auto [exponent, f] = normalised(x, layout);
  const Pair s = quotient(f), z = times(s, s);
  const UOp zero = layout.number(0);
  Pair sum{polynomial(z.high, rest), zero};
  for (std::size_t i = pairs.size(); i-- > 0;) {
    const Pair tail = times(sum, z), next = fast_two_sum(layout.number(pairs[i][0]), tail.high);
    sum = {next.high, next.low + (tail.low + layout.number(pairs[i][1]))};
  }
  const Pair fraction = times(sum, s), whole = fast_two_sum(exponent, fraction.high);
  return fast_two_sum(whole.high, whole.low + fraction.low);
}

// Returns |x|^y for finite x other than 0.
UOp power_of_magnitude(const UOp& magnitude, const UOp& y, const FloatLayout& layout, bool scales) {
  const Pair log = log2_pair(magnitude, layout);
  // At this limit, x^y is 0, 1 or infinite even for x next to 1. A larger product could overflow.
  const UOp bounded = clamped(y, std::ldexp(1.0, layout.precision + 10));
  const Pair product = two_product(bounded, log.high);
  const double limit = exp2_clamp(layout);
  const UOp high = clamped(product.high, limit);
  const UOp low =
      where(high == product.high, mulacc(bounded, log.low, product.low), layout.number(0));
  const UOp shift = exponent_shift(layout);
  const Rounded n = unshifted(high + shift, shift, layout);
  return scaled_exp2(n, (high - n.value) + low, layout, scales);
}

}  // namespace

// A power by at most two roundings is within 2 ulp.
UOp pow_by_roots(const UOp& x, double y) {
  if (y != 0.25 && y != 0.5 && y != 1.5 && y != -0.5) return {};
  const UOp root = make(Op::Sqrt, {x});
  UOp power = y == 0.25 ? make(Op::Sqrt, {root}) : y == 1.5 ? root * x : root;
  // SQRT maps -0 to -0 and -inf to NaN, where POW has the powers of 0 and infinity.
  const UOp zero = literal_like(0.0, x), infinity = literal_like(HUGE_VAL, x);
  if (y != 1.5) power = where(x == zero, zero, power);
  power = where(x == -infinity, infinity, power);
  return y < 0 ? make(Op::Recip, {power}) : power;
}

UOp pow_of(const UOp& x, const UOp& y, bool scales) {
  const FloatLayout layout = FloatLayout::of(x->dtype());
  const UOp zero = layout.number(0), one = layout.number(1), infinity = layout.infinity();
  const UOp word = bitcast(x, layout.word);
  const UOp magnitude = bitcast(word & (layout.sign() ^ -1), layout.value);

  // Every number from 2^precision on is even.
  const UOp even_from = layout.number(std::ldexp(1.0, layout.precision));
  const UOp small = where((y < even_from) & (-even_from < y), y, zero);
  const UOp whole = cast(small, layout.word);
  const UOp is_whole = cast(whole, layout.value) == small;
  const UOp is_odd = is_whole & ((whole & 1) != 0);

  const UOp is_pole = (magnitude == zero) | (magnitude == infinity);
  const UOp at_pole = where((magnitude == zero) != (y < zero), zero, infinity);
  const UOp size = where(is_pole, at_pole, power_of_magnitude(magnitude, y, layout, scales));
  const UOp is_negative = word < 0;
  const UOp result = where(is_negative & is_odd, -size, size);

  const UOp is_nan = (x != x) | (y != y) | ((x < zero) & (-infinity < x) & (!is_whole));
  const UOp nan = layout.number(std::numeric_limits<double>::quiet_NaN());
  return where((x == one) | (y == zero), one, where(is_nan, nan, result));
}

}  // namespace weft
