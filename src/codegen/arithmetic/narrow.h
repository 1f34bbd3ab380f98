// Helpers for floats narrower than f32, seen as unsigned integers.
#pragma once

#include "arithmetic_steps.h"

#include <weft/dev/rewrite/rule.h>

namespace weft {

inline constexpr KindSet narrow_kinds{Kind::F16, Kind::BF16, Kind::F8E4M3, Kind::F8E5M2};

inline bool is_narrow(DType dtype) { return narrow_kinds.contains(dtype.kind()); }

// Computes the op of narrow floats in f32.
UOp in_f32(const Match& m);

// Returns the unsigned integer dtype of the same width.
inline DType word_of(DType narrow) {
  return (narrow.bits() == 8 ? dtypes::u8 : dtypes::u16).vec(narrow.lanes());
}

// Rounds an f32 result to odd, given whether the exact value is above or below it: an inexact
// result becomes the neighbour of the exact value whose last bit is odd. Rounding that again, to at
// least two bits less, gives the same as rounding the exact value. A finite value never becomes
// infinite.
inline UOp rounded_to_odd(const UOp& result, const UOp& is_above, const UOp& is_below) {
  const FloatLayout f32 = FloatLayout::of(result->dtype());
  const UOp word = bitcast(result, f32.word), is_even = (word & 1) == 0;
  // Incrementing the word moves away from zero for either sign.
  const UOp is_outward = is_above != (word < 0);
  const UOp odd = where(is_outward, word + 1, word - 1);
  return bitcast(where((is_above | is_below) & is_even, odd, word), f32.value);
}

}  // namespace weft
