#include "functions.h"

#include <numbers>

#include "../support/ulp.h"

namespace weft::accuracy {
namespace {

using std::numbers::pi;

constexpr mpfr_prec_t precision = 192;
constexpr mpfr_rnd_t nearest = MPFR_RNDN;

// A number that a reference computes with.
struct Wide : Real {
  Wide() : Real(precision) {}
  operator mpfr_ptr() { return get(); }  // NOLINT: reads as MPFR's own
};

// --- References that MPFR does not have ---------------------------------------------------------

void sigmoid(mpfr_ptr out, mpfr_ptr x) {
  mpfr_neg(out, x, nearest);
  mpfr_exp(out, out, nearest);
  mpfr_add_ui(out, out, 1, nearest);
  mpfr_ui_div(out, 1, out, nearest);
}

// x * sigmoid(gate): infinity times 0 is NaN, here and below.
void gated(mpfr_ptr out, mpfr_ptr x, mpfr_ptr gate) {
  if (mpfr_inf_p(x) && mpfr_sgn(x) < 0) return mpfr_set_nan(out);
  Wide share;
  sigmoid(share, gate);
  mpfr_mul(out, x, share, nearest);
}

void silu(mpfr_ptr out, mpfr_ptr x, mpfr_ptr) { gated(out, x, x); }

void quick_gelu(mpfr_ptr out, mpfr_ptr x, mpfr_ptr) {
  Wide gate;
  mpfr_set_str(gate, "1.702", 10, nearest);
  mpfr_mul(gate, gate, x, nearest);
  gated(out, x, gate);
}

// By sigmoid(2 sqrt(2/pi) (x + 0.044715 x^3)).
void gelu_tanh(mpfr_ptr out, mpfr_ptr x, mpfr_ptr) {
  Wide gate, factor;
  mpfr_sqr(gate, x, nearest);
  mpfr_set_str(factor, "0.044715", 10, nearest);
  mpfr_mul(gate, gate, factor, nearest);
  mpfr_add_ui(gate, gate, 1, nearest);
  mpfr_mul(gate, gate, x, nearest);
  mpfr_const_pi(factor, nearest);
  mpfr_ui_div(factor, 8, factor, nearest);
  mpfr_sqrt(factor, factor, nearest);
  mpfr_mul(gate, gate, factor, nearest);
  gated(out, x, gate);
}

void gelu(mpfr_ptr out, mpfr_ptr x, mpfr_ptr) {
  if (mpfr_inf_p(x) && mpfr_sgn(x) < 0) return mpfr_set_nan(out);
  Wide z;
  mpfr_sqrt_ui(z, 2, nearest);
  mpfr_div(z, x, z, nearest);
  mpfr_neg(z, z, nearest);
  mpfr_erfc(z, z, nearest);
  mpfr_mul(out, z, x, nearest);
  mpfr_div_2ui(out, out, 1, nearest);
}

void softplus(mpfr_ptr out, mpfr_ptr x, mpfr_ptr = nullptr) {
  if (mpfr_cmp_si(x, 1000) > 0) {
    mpfr_set(out, x, nearest);
    return;
  }
  mpfr_exp(out, x, nearest);
  mpfr_log1p(out, out, nearest);
}

void logsigmoid(mpfr_ptr out, mpfr_ptr x, mpfr_ptr) {
  mpfr_neg(out, x, nearest);
  softplus(out, out);
  mpfr_neg(out, out, nearest);
}

void mish(mpfr_ptr out, mpfr_ptr x, mpfr_ptr) {
  if (mpfr_inf_p(x) && mpfr_sgn(x) < 0) return mpfr_set_nan(out);
  Wide share;
  softplus(share, x);
  mpfr_tanh(share, share, nearest);
  mpfr_mul(out, x, share, nearest);
}

void elu(mpfr_ptr out, mpfr_ptr x, mpfr_ptr) {
  if (mpfr_sgn(x) > 0)
    mpfr_set(out, x, nearest);
  else
    mpfr_expm1(out, x, nearest);
}

void softsign(mpfr_ptr out, mpfr_ptr x, mpfr_ptr) {
  if (mpfr_inf_p(x)) return mpfr_set_nan(out);  // infinity by infinity
  Wide size;
  mpfr_abs(size, x, nearest);
  mpfr_add_ui(size, size, 1, nearest);
  mpfr_div(out, x, size, nearest);
}

void sinc(mpfr_ptr out, mpfr_ptr x, mpfr_ptr) {
  if (mpfr_zero_p(x)) return void(mpfr_set_ui(out, 1, nearest));
  if (mpfr_inf_p(x)) return mpfr_set_nan(out);
  Wide angle;
  mpfr_const_pi(angle, nearest);
  mpfr_mul(angle, angle, x, nearest);
  mpfr_sinpi(out, x, nearest);
  mpfr_div(out, out, angle, nearest);
}

void times_pi_over(mpfr_ptr out, mpfr_ptr x, unsigned long divisor, bool inverse) {
  Wide factor;
  mpfr_const_pi(factor, nearest);
  mpfr_div_ui(factor, factor, divisor, nearest);
  if (inverse)
    mpfr_div(out, x, factor, nearest);
  else
    mpfr_mul(out, x, factor, nearest);
}

// The derivative of erf: 2/sqrt(pi) exp(-x^2).
void erf_slope(mpfr_ptr out, mpfr_ptr x) {
  Wide root;
  mpfr_const_pi(root, nearest);
  mpfr_sqrt(root, root, nearest);
  mpfr_sqr(out, x, nearest);
  mpfr_neg(out, out, nearest);
  mpfr_exp(out, out, nearest);
  mpfr_mul_2ui(out, out, 1, nearest);
  mpfr_div(out, out, root, nearest);
}

// Newton's steps with the second derivative, from Giles' approximation of single precision: each triples the digits.
// Where y is near 1, of erfc, which keeps them.
void erfinv(mpfr_ptr out, mpfr_ptr y, mpfr_ptr) {
  if (mpfr_zero_p(y) || mpfr_nan_p(y)) return void(mpfr_set(out, y, nearest));
  const int beyond = mpfr_cmpabs_ui(y, 1);
  if (beyond > 0) return mpfr_set_nan(out);
  if (beyond == 0) return mpfr_set_inf(out, mpfr_sgn(y));
  Wide size, rest, error, slope, x;
  mpfr_abs(size, y, nearest);
  mpfr_ui_sub(rest, 1, size, nearest);  // exact
  const double w = -std::log(mpfr_get_d(rest, nearest) * (1 + mpfr_get_d(size, nearest)));
  const double s = w < 5 ? w - 2.5 : std::sqrt(w) - 3;
  constexpr double near[] = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                             -4.39150654e-06, 0.00021858087,  -0.00125372503,
                             -0.00417768164,  0.246640727,    1.50140941};
  constexpr double far[] = {-0.000200214257, 0.000100950558, 0.00134934322,
                            -0.00367342844,  0.00573950773,  -0.0076224613,
                            0.00943887047,   1.00167406,     2.83297682};
  double start = 0;
  for (const double c : w < 5 ? near : far) start = start * s + c;
  mpfr_mul_d(x, size, start, nearest);
  const bool by_rest = mpfr_cmp_d(size, 0.5) > 0;
  for (int step = 0; step < 40; ++step) {
    if (by_rest) {
      mpfr_erfc(error, x, nearest);
      mpfr_sub(error, rest, error, nearest);
    } else {
      mpfr_erf(error, x, nearest);
      mpfr_sub(error, error, size, nearest);
    }
    erf_slope(slope, x);
    mpfr_div(error, error, slope, nearest);  // e: the next is x - e/(1 + e x)
    mpfr_mul(slope, error, x, nearest);
    mpfr_add_ui(slope, slope, 1, nearest);
    mpfr_div(error, error, slope, nearest);
    mpfr_sub(x, x, error, nearest);
    if (mpfr_zero_p(error.get()) || mpfr_get_exp(error) < mpfr_get_exp(x) - 60)
      break;  // of which the next is the cube
  }
  mpfr_setsign(out, x, mpfr_signbit(y), nearest);
}

// The sum of (x^2/4)^k / k!^2, whose terms are positive.
void i0(mpfr_ptr out, mpfr_ptr x, mpfr_ptr) {
  if (mpfr_nan_p(x)) return mpfr_set_nan(out);
  if (mpfr_cmpabs_ui(x, 800) > 0) return mpfr_set_inf(out, 1);
  Wide quarter, term;
  mpfr_sqr(quarter, x, nearest);
  mpfr_div_2ui(quarter, quarter, 2, nearest);
  mpfr_set_ui(out, 1, nearest);
  mpfr_set_ui(term, 1, nearest);
  for (unsigned long k = 1; !mpfr_zero_p(term.get()); ++k) {
    mpfr_mul(term, term, quarter, nearest);
    mpfr_div_ui(term, term, k * k, nearest);
    mpfr_add(out, out, term, nearest);
    if (!mpfr_zero_p(term.get()) && mpfr_get_exp(term) < mpfr_get_exp(out) - 120) break;
  }
}

void lgamma(mpfr_ptr out, mpfr_ptr x, mpfr_ptr) {
  int sign = 0;
  mpfr_lgamma(out, &sign, x, nearest);
}

void rsqrt(mpfr_ptr out, mpfr_ptr x, mpfr_ptr) {
  if (mpfr_zero_p(x)) return mpfr_set_inf(out, mpfr_signbit(x) ? -1 : 1);
  mpfr_rec_sqrt(out, x, nearest);
}

// The larger operand, and what is added to it: log(1 + exp(-|a - b|)), by this exponential and logarithm.
template <class Exp>
void log_of_sum(mpfr_ptr out, mpfr_ptr x, mpfr_ptr y, Exp exp, bool binary) {
  if (mpfr_nan_p(x) || mpfr_nan_p(y)) return mpfr_set_nan(out);
  Wide distance, most;
  mpfr_max(most, x, y, nearest);
  if (mpfr_inf_p(most.get())) return void(mpfr_set(out, most, nearest));
  mpfr_sub(distance, x, y, nearest);
  mpfr_abs(distance, distance, nearest);
  mpfr_neg(distance, distance, nearest);
  exp(distance, distance, nearest);
  mpfr_log1p(distance, distance, nearest);
  if (binary) {
    Wide ln2;
    mpfr_const_log2(ln2, nearest);
    mpfr_div(distance, distance, ln2, nearest);
  }
  mpfr_add(out, most, distance, nearest);
}

void xlogy(mpfr_ptr out, mpfr_ptr x, mpfr_ptr y) {
  if (mpfr_nan_p(y)) return mpfr_set_nan(out);
  if (mpfr_zero_p(x)) return mpfr_set_zero(out, 1);
  mpfr_log(out, y, nearest);
  mpfr_mul(out, out, x, nearest);
}

// The remainder with the sign of the divisor; a zero has that of the dividend.
void python_mod(mpfr_ptr out, mpfr_ptr x, mpfr_ptr y) {
  mpfr_fmod(out, x, y, nearest);
  if (!mpfr_zero_p(out) && mpfr_number_p(out) && !mpfr_signbit(out) != !mpfr_signbit(y)) {
    Wide sum;
    mpfr_set_prec(sum, 2300);  // any two of f64 add up exactly
    mpfr_add(sum, out, y, nearest);
    mpfr_set(out, sum, nearest);
  }
}

// --- The table ----------------------------------------------------------------------------------

using Mpfr1 = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
using Mpfr2 = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

auto of(Mpfr1 f) {
  return [f](mpfr_ptr out, mpfr_ptr x, mpfr_ptr) { f(out, x, nearest); };
}
auto of(Mpfr2 f) {
  return [f](mpfr_ptr out, mpfr_ptr x, mpfr_ptr y) { f(out, x, y, nearest); };
}
auto to_the(double exponent) {
  return [exponent](mpfr_ptr out, mpfr_ptr x, mpfr_ptr) {
    Wide y;
    mpfr_set_d(y, exponent, nearest);
    mpfr_pow(out, x, y, nearest);
  };
}

auto method(Tensor (Tensor::*f)() const) {
  return [f](const Tensor& x, const Tensor&) { return (x.*f)(); };
}
auto method(Tensor (Tensor::*f)(const Operand&) const) {
  return [f](const Tensor& x, const Tensor& y) { return (x.*f)(y); };
}

}  // namespace

// clang-format off
const std::vector<Function>& functions() {
  using T = const Tensor&;
  constexpr Interval angles{-100, 100}, unit{-1, 1}, positive{0, 1000}, exponents{-746, 746}, any{-1000, 1000};
  static const std::vector<Function> table{
      // name, operands, in weft, by MPFR, range, points, unit, cost
      {"sqrt", 1, method(&Tensor::sqrt), of(mpfr_sqrt), positive},
      {"rsqrt", 1, method(&Tensor::rsqrt), rsqrt, positive},
      {"reciprocal", 1, method(&Tensor::reciprocal), to_the(-1), any},
      {"exp", 1, method(&Tensor::exp), of(mpfr_exp), exponents},
      {"exp2", 1, method(&Tensor::exp2), of(mpfr_exp2), {-1080, 1030}},
      {"expm1", 1, method(&Tensor::expm1), of(mpfr_expm1), exponents},
      {"log", 1, method(&Tensor::log), of(mpfr_log), positive},
      {"log2", 1, method(&Tensor::log2), of(mpfr_log2), positive},
      {"log10", 1, method(&Tensor::log10), of(mpfr_log10), positive},
      {"log1p", 1, method(&Tensor::log1p), of(mpfr_log1p), {-1, 100}},
      {"sin", 1, method(&Tensor::sin), of(mpfr_sin), angles},
      {"cos", 1, method(&Tensor::cos), of(mpfr_cos), angles},
      {"tan", 1, method(&Tensor::tan), of(mpfr_tan), angles},
      {"asin", 1, method(&Tensor::asin), of(mpfr_asin), unit},
      {"acos", 1, method(&Tensor::acos), of(mpfr_acos), unit},
      {"atan", 1, method(&Tensor::atan), of(mpfr_atan), {-10, 10}, {std::numbers::sqrt2 - 1, std::numbers::sqrt2 + 1}},
      {"sinh", 1, method(&Tensor::sinh), of(mpfr_sinh), exponents},
      {"cosh", 1, method(&Tensor::cosh), of(mpfr_cosh), exponents},
      {"tanh", 1, method(&Tensor::tanh), of(mpfr_tanh), {-20, 20}, {0.625}},
      {"asinh", 1, method(&Tensor::asinh), of(mpfr_asinh), any, {1 << 28}},
      {"acosh", 1, method(&Tensor::acosh), of(mpfr_acosh), {1, 100}, {1 << 28}},
      {"atanh", 1, method(&Tensor::atanh), of(mpfr_atanh), unit},
      {"sinc", 1, method(&Tensor::sinc), sinc, angles, {}, Unit::Result, 1, false},
      {"deg2rad", 1, method(&Tensor::deg2rad), [](mpfr_ptr out, mpfr_ptr x, mpfr_ptr) { times_pi_over(out, x, 180, false); }, any},
      {"rad2deg", 1, method(&Tensor::rad2deg), [](mpfr_ptr out, mpfr_ptr x, mpfr_ptr) { times_pi_over(out, x, 180, true); }, any},
      {"erf", 1, method(&Tensor::erf), of(mpfr_erf), {-6, 6}, {1, 4}, Unit::Result, 4},
      {"erfc", 1, method(&Tensor::erfc), of(mpfr_erfc), {-6, 28}, {0.5}, Unit::Result, 4},
      {"erfinv", 1, method(&Tensor::erfinv), erfinv, unit, {0.5, 0.998}, Unit::Result, 32},
      {"lgamma", 1, method(&Tensor::lgamma), lgamma, {-20, 40}, {1, 2, 3, -2.4570247382208006, -2.7476826467274127, -3.1435808883499799}, Unit::One, 16},
      {"digamma", 1, method(&Tensor::digamma), of(mpfr_digamma), {-20, 40}, {1, 2, 3, 1.4616321449683623, -0.50408300826445541}, Unit::One, 16},
      {"i0", 1, method(&Tensor::i0), i0, exponents, {8}, Unit::Result, 16},
      {"sigmoid", 1, method(&Tensor::sigmoid), [](mpfr_ptr out, mpfr_ptr x, mpfr_ptr) { sigmoid(out, x); }, exponents, {}, Unit::Normal},
      {"logsigmoid", 1, method(&Tensor::logsigmoid), logsigmoid, exponents},
      {"softplus", 1, [](T x, T) { return x.softplus(); }, softplus, exponents},
      {"silu", 1, method(&Tensor::silu), silu, exponents, {}, Unit::Normal},
      {"mish", 1, method(&Tensor::mish), mish, exponents, {20}, Unit::Normal},
      {"gelu", 1, [](T x, T) { return x.gelu(Gelu::Exact); }, gelu, {-15, 10}, {}, Unit::Operand, 16, false},
      {"gelu_tanh", 1, [](T x, T) { return x.gelu(Gelu::Tanh); }, gelu_tanh, {-15, 10}, {}, Unit::Normal},
      {"quick_gelu", 1, method(&Tensor::quick_gelu), quick_gelu, {-60, 20}, {}, Unit::Normal},
      {"elu", 1, [](T x, T) { return x.elu(); }, elu, {-40, 10}},
      {"softsign", 1, method(&Tensor::softsign), softsign, any},
      {"pow(x,2)", 1, [](T x, T) { return x.pow(2); }, to_the(2), any},
      {"pow(x,3)", 1, [](T x, T) { return x.pow(3); }, to_the(3), any},
      {"pow(x,0.5)", 1, [](T x, T) { return x.pow(0.5); }, to_the(0.5), any},
      {"pow(x,0.25)", 1, [](T x, T) { return x.pow(0.25); }, to_the(0.25), any},
      {"pow(x,1.5)", 1, [](T x, T) { return x.pow(1.5); }, to_the(1.5), any},
      {"pow(x,-0.5)", 1, [](T x, T) { return x.pow(-0.5); }, to_the(-0.5), any},
      {"pow(x,-1)", 1, [](T x, T) { return x.pow(-1); }, to_the(-1), any},
      {"pow(x,2.5)", 1, [](T x, T) { return x.pow(2.5); }, to_the(2.5), any},
      {"pow", 2, method(&Tensor::pow), of(mpfr_pow), any},
      {"div", 2, [](T x, T y) { return x / y; }, of(mpfr_div), any},
      {"fmod", 2, method(&Tensor::fmod), of(mpfr_fmod), any},
      {"mod", 2, method(&Tensor::mod), python_mod, any},
      {"atan2", 2, method(&Tensor::atan2), of(mpfr_atan2), any},
      {"hypot", 2, method(&Tensor::hypot), of(mpfr_hypot), any},
      {"logaddexp", 2, method(&Tensor::logaddexp), [](mpfr_ptr out, mpfr_ptr x, mpfr_ptr y) { log_of_sum(out, x, y, mpfr_exp, false); }, any, {}, Unit::Operand},
      {"logaddexp2", 2, method(&Tensor::logaddexp2), [](mpfr_ptr out, mpfr_ptr x, mpfr_ptr y) { log_of_sum(out, x, y, mpfr_exp2, true); }, any, {}, Unit::Operand},
      {"xlogy", 2, method(&Tensor::xlogy), xlogy, any, {}, Unit::Result, 1, false},
  };
  return table;
}
// clang-format on

}  // namespace weft::accuracy
