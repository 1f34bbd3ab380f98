// Polynomials that functions are made of where no op of the IR is near enough.
#pragma once

#include <span>

#include <weft/tensor.h>

namespace weft {

// Coefficients, the lowest power first, for f32 and for f64.
struct Fit {
  std::span<const double> f32, f64;
};

// a*b + c, rounded once.
Tensor fused(const Tensor& a, const Operand& b, const Operand& c);
// Of x, which is f32 or f64.
Tensor polynomial(const Tensor& x, const Fit& fit);

extern const Fit expm1_fit;      // (exp(x) - 1 - x)/x^2 for |x| <= 1/2
extern const Fit tanh_fit;       // (tanh(x)/x - 1)/z with z = x^2, for |x| <= 5/8
extern const Fit log1p_fit;      // log(1 + x)/x for 0 <= x <= 1
extern const Fit atan_fit;       // (atan(x)/x - 1)/z with z = x^2, for |x| <= tan(pi/8)
extern const Fit erf_fit;        // erf(x)/x - 1 of z = x^2, for |x| <= 1
extern const Fit erf_short_fit;  // erf(x)/x of z = x^2, for |x| <= 23/8, within 2^-14; of f32
extern const Fit
    erf_tail_fit;  // (1 - erf(x))^(1/4) of x - 5/2 for 1 <= x <= 4; f64: log2(1 - erf(x)) of x - 7/2 for 1 <= x <= 6
extern const Fit erfcx_fit;         // exp(x^2) erfc(x) (1 + 2x) of t = (x - 4)/(x + 4), for x >= 0
extern const Fit erfinv_small_fit;  // erfinv(y)/y of w - 25/8 with w = -log(1 - y^2), for w <= 25/4
extern const Fit erfinv_middle_fit;  // ... of sqrt(w) - 13/4, for 25/4 <= w <= 16
extern const Fit erfinv_large_fit;   // ... of sqrt(w) - 5, for w > 16, which only f64 has
extern const Fit lgamma_one_fit;     // log(gamma(1 + u))/(u (u - 1)) for 0 <= u <= 1
extern const Fit lgamma_tail_fit;    // x (log(gamma(x)) - Stirling's formula) of 1/x, for x >= 3
extern const Fit digamma_one_fit;    // digamma(1 + u)/(u - root) for 0 <= u <= 1
extern const Fit digamma_tail_fit;   // x^2 (log(x) - 1/(2x) - digamma(x)) of 1/x, for x >= 3
extern const Fit i0_small_fit;       // exp(-x) I0(x) of x/4 - 1, for 0 <= x <= 8
extern const Fit i0_large_fit;       // exp(-x) I0(x) sqrt(x) of 16/x - 1, for x >= 8

}  // namespace weft
