// How the transcendental functions share their parts.
#pragma once

#include "arithmetic_steps.h"

namespace weft {

// `scales`: by LDEXP, which the target has.
UOp exp2_of(const UOp& x, bool scales);
UOp log2_of(const UOp& x);
UOp sin_of(const UOp& x);
UOp cos_of(const UOp& x);
UOp pow_of(const UOp& x, const UOp& y, bool scales);
// By square roots, where two roundings give it; else null.
UOp pow_by_roots(const UOp& x, double y);

// What makes an integer of an exponent, with two biases in the low bits of its word.
UOp exponent_shift(const FloatLayout& layout);
// 2^(n + f) for |f| a little above 1/2 at most, of an n that has been rounded by that shift.
UOp scaled_exp2(const Rounded& n, const UOp& f, const FloatLayout& layout, bool scales);
// x within +-limit: beyond it, every power of two is 0 or infinite. A NaN stays.
double exp2_limit(const FloatLayout& layout);
UOp clamped(const UOp& x, double limit);

// A positive finite x as 2^exponent * (1 + f), with sqrt(1/2) <= 1 + f < sqrt(2). Of other x the
// parts are finite and mean nothing.
struct Scaled {
  UOp exponent, f;
};
Scaled normalised(const UOp& x, const FloatLayout& layout);

}  // namespace weft
