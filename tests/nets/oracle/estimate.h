// A number that takes several operations, each of which may be rounded to the type or not: exact as long as none
// needs to be.
#pragma once

#include "array.h"

namespace nets {

class Estimate {
 public:
  // Of a cell of the type, or a number that the type holds or rounds.
  Estimate(Type type, const Cell& cell) : type_(type), value_(cell.real), error_(cell.error) {}
  Estimate(Type type, double value) : Estimate(type, value, 0) {}

  double value() const { return value_; }
  double error() const { return error_; }
  bool is_unknown() const { return !(error_ < unknown); }

  friend Estimate operator+(const Estimate& a, const Estimate& b) {
    const double sum = a.value_ + b.value_;
    // What the sum of doubles loses is what this computes.
    const double part = sum - a.value_, lost = (a.value_ - (sum - part)) + (b.value_ - part);
    return {a.type_, sum, a.error_ + b.error_, lost != 0};
  }
  friend Estimate operator-(const Estimate& a, const Estimate& b) {
    return a + Estimate(b.type_, Cell::of_real(-b.value_, b.error_));
  }
  friend Estimate operator*(const Estimate& a, const Estimate& b) {
    const double product = a.value_ * b.value_;
    const bool is_rounded = std::fma(a.value_, b.value_, -product) != 0;
    return {a.type_, product,
            of_product(a.value_, b.error_) + of_product(b.value_, a.error_) +
                of_product(a.error_, b.error_),
            is_rounded};
  }
  friend Estimate operator/(const Estimate& a, const Estimate& b) {
    const double quotient = a.value_ / b.value_;
    const double least = std::abs(b.value_) - b.error_;
    // The sign of a zero is open.
    if (!(least > 0)) return {a.type_, quotient, unknown};
    const bool is_rounded = std::fma(quotient, b.value_, -a.value_) != 0;
    return {a.type_, quotient, (a.error_ + of_product(quotient, b.error_)) / least, is_rounded};
  }
  // A function that is within so many halves of a unit in the last place.
  template <class F>
  Estimate apply(F function, double halves) const {
    const double here = function(value_);
    double most = 0;
    for (const double part : {-1.0, -0.5, 0.5, 1.0})
      if (error_ > 0) most = std::max(most, std::abs(function(value_ + part * error_) - here));
    if (std::isnan(most) || is_unknown()) most = unknown;
    const double own = std::isfinite(here) ? halves * half_ulp(type_) * std::abs(here) : 0;
    return {type_, here, 1.5 * most + own, rounded(here, type_) != here};
  }
  Estimate sqrt() const {
    return apply([](double x) { return std::sqrt(x); }, 1);
  }

  Cell cell() const {
    if (error_ == 0) return Cell::of_real(value_);
    if (is_unknown() || !std::isfinite(value_)) return Cell::of_real(value_, unknown);
    if (std::abs(value_) + error_ >= largest_of(type_)) return Cell::of_real(value_, unknown);
    return Cell::of_real(value_, 1.5 * error_ + 1.01 * half_ulp(type_) * std::abs(value_));
  }

 private:
  Estimate(Type type, double value, double error, bool is_rounded = false)
      : type_(type), value_(value), error_(error) {
    if (!std::isfinite(value)) {
      error_ = error == 0 ? 0 : unknown;
    } else if (is_rounded || rounded(value, type) != value) {
      const double least = std::ldexp(1.0, format_of(type).least_exponent);
      const double own = is_rounded ? half_ulp(Type::F64) : 0;  // what this computes is rounded too
      error_ += (half_ulp(type) + own) * std::max(std::abs(value), least);
      if (std::abs(value) >= largest_of(type)) error_ = unknown;
    }
  }
  static double of_product(double value, double error) {
    return error == 0 ? 0 : std::isfinite(value) ? std::abs(value) * error : unknown;
  }

  Type type_;
  double value_, error_;
};

}  // namespace nets
