// How far a float is from the true value, by MPFR.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <mpfr.h>
#include <weft/dev/ir/value.h>

namespace weft {

// A number of many bits.
class Real {
 public:
  explicit Real(mpfr_prec_t precision = 192) { mpfr_init2(value_, precision); }
  ~Real() { mpfr_clear(value_); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

// The distance of `got` from a finite true value, in units of the last place that the value has in
// the dtype (f32 or f64). Infinity stands for the number after the largest one.
inline double ulp_error(Bits got, DType dtype, mpfr_ptr exact) {
  const bool is_f32 = dtype.kind() == Kind::F32;
  const int precision = is_f32 ? 24 : 53, top = is_f32 ? 128 : 1024;
  const int least = is_f32 ? -149 : -1074;  // the exponent of the last place of subnormals
  const double value = double_from_bits(got, dtype);
  if (std::isnan(value)) return std::numeric_limits<double>::infinity();
  static thread_local Real difference;
  mpfr_ptr d = difference.get();
  if (std::isinf(value)) {
    mpfr_set_si_2exp(d, value > 0 ? 1 : -1, top, MPFR_RNDN);
    if (mpfr_sgn(exact) == mpfr_sgn(d) && mpfr_cmpabs(exact, d) >= 0) return 0;
  } else {
    mpfr_set_d(d, value, MPFR_RNDN);
  }
  mpfr_sub(d, d, exact, MPFR_RNDN);
  const long exponent = mpfr_zero_p(exact) ? least : mpfr_get_exp(exact) - precision;
  mpfr_mul_2si(d, d, -std::max<long>(exponent, least), MPFR_RNDN);
  return std::abs(mpfr_get_d(d, MPFR_RNDN));
}

}  // namespace weft
