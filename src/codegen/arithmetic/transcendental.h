// Decompositions of the transcendental functions, and the parts that they share.
#pragma once

#include "arithmetic_steps.h"

namespace weft {

UOp sin_of(const UOp& x);
UOp cos_of(const UOp& x);
// `scales`: the target has LDEXP, which then scales by the power of two.
UOp pow_of(const UOp& x, const UOp& y, bool scales);
// Computes x^y by square roots if at most two roundings are needed; returns null otherwise.
UOp pow_by_roots(const UOp& x, double y);

// Returns the shift that rounds an exponent to an integer n and leaves n + 2*bias in the word.
UOp exponent_shift(const FloatLayout& layout);
// Returns 2^(n + f) for |f| little above 1/2 at most, where exponent_shift() has rounded n.
UOp scaled_exp2(const Rounded& n, const UOp& f, const FloatLayout& layout, bool scales);
// Returns the limit beyond which every power of two is 0 or infinite.
double exp2_clamp(const FloatLayout& layout);
// Clamps x to +-limit; NaN stays NaN.
UOp clamped(const UOp& x, double limit);

// A positive finite x as 2^exponent * (1 + f), with sqrt(1/2) <= 1 + f < sqrt(2). For other x the
// parts are finite but meaningless.
struct Scaled {
  UOp exponent, f;
};
Scaled normalised(const UOp& x, const FloatLayout& layout);

}  // namespace weft
