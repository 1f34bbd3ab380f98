// Building blocks that the decompositions share. All of them work on any number of lanes.
#pragma once

#include <cmath>
#include <span>

#include <weft/dev/ir/uop.h>

namespace weft {

inline UOp shl(const UOp& a, int by) { return make(Op::Shl, {a, const_int(by, a->dtype())}); }
inline UOp shr(const UOp& a, int by) { return make(Op::Shr, {a, const_int(by, a->dtype())}); }
inline UOp mulacc(const UOp& a, const UOp& b, const UOp& c) { return make(Op::MulAcc, {a, b, c}); }

// The layout of f32 or f64 in a signed integer of the same width.
struct FloatLayout {
  DType value, word;  // with the operand's lanes
  int precision;      // bits of the significand, including the leading one
  int bias;

  static FloatLayout of(DType dtype) {
    const std::uint32_t lanes = dtype.lanes();
    if (dtype.kind() == Kind::F32) return {dtype, dtypes::i32.vec(lanes), 24, 127};
    return {dtype, dtypes::i64.vec(lanes), 53, 1023};
  }

  // Returns the table of constants for this dtype.
  template <class T>
  std::span<const T> table(std::span<const T> f32, std::span<const T> f64) const {
    return value.kind() == Kind::F32 ? f32 : f64;
  }
  int mantissa() const { return precision - 1; }  // bits below the exponent
  UOp number(double literal) const { return const_float(literal, value); }
  UOp integer(std::int64_t literal) const { return const_int(literal, word); }
  UOp sign() const { return const_bits(word, Bits{1} << (word.bits() - 1)); }
  UOp infinity() const { return number(HUGE_VAL); }
};

// Returns c[0] + x*c[1] + x^2*c[2] ... by Horner's scheme. With more than six terms, the even and
// odd ones form two independent chains, which halves the latency for one more product.
inline UOp polynomial(const UOp& x, std::span<const double> c) {
  const auto chain = [&](const UOp& y, std::size_t first, std::size_t step) {
    std::size_t i = c.size() - 1 - (c.size() - 1 - first) % step;
    UOp sum = literal_like(c[i], x);
    while (i > first) sum = mulacc(sum, y, literal_like(c[i -= step], x));
    return sum;
  };
  if (c.size() <= 6) return chain(x, 0, 1);
  const UOp square = x * x;
  return mulacc(x, chain(square, 1, 2), chain(square, 0, 2));
}

// An unevaluated sum. |low| is at most about an ulp of high.
struct Pair {
  UOp high, low;
};

// Returns a + b exactly.
inline Pair two_sum(const UOp& a, const UOp& b) {
  const UOp sum = a + b, other = sum - a;
  return {sum, (a - (sum - other)) + (b - other)};
}

// The same, if a is 0 or |a| >= |b|.
inline Pair fast_two_sum(const UOp& a, const UOp& b) {
  const UOp sum = a + b;
  return {sum, b - (sum - a)};
}

// Returns a * b exactly, unless it underflows.
inline Pair two_product(const UOp& a, const UOp& b) {
  const UOp product = a * b;
  return {product, mulacc(a, b, -product)};
}

// Returns 2^n for an integer n within the exponents of normal numbers.
inline UOp power_of_two(const UOp& n, const FloatLayout& f) {
  return bitcast(shl(n + f.bias, f.mantissa()), f.value);
}

// x rounded to the nearest integer, if |x| < 2^(precision - 3). x is added to a shift whose last
// bit has the weight 1, so the low bits of `word` are those of the integer.
struct Rounded {
  UOp value, word;
};
inline UOp rounding_shift(const FloatLayout& f, int above = 0) {
  return f.number(std::ldexp(1.5, f.mantissa()) + above);
}
inline Rounded unshifted(const UOp& shifted, const UOp& shift, const FloatLayout& f) {
  return {shifted - shift, bitcast(shifted, f.word)};
}
inline Rounded round_to_integer(const UOp& x, const FloatLayout& f) {
  const UOp shift = rounding_shift(f);
  return unshifted(x + shift, shift, f);
}

}  // namespace weft
