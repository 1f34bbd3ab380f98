// The functions of Tensor that have a true value, and how to compute that with MPFR.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include <mpfr.h>
#include <weft/tensor.h>

namespace weft::accuracy {

// What an error is counted in: units in the last place of the result, or of something larger where what is rounded is
// larger than the result.
enum class Unit {
  Result,
  Operand,  // of the operand, or the larger one of two, if it is farther from 0 than the result
  One,      // of 1, if that is larger than the result
  Normal,   // of the result; results below 2^8 times the least normal number may be any that are
};

// A range of inputs that the sample takes more numbers of: where the function is neither trivial nor out of range.
struct Interval {
  double from, to;
};

struct Function {
  std::string_view name;
  int operands;
  std::function<Tensor(const Tensor&, const Tensor&)>
      compute;  // the second is null for one operand
  // Sets `out` to the true value, within 2^-100 of it. NaN, infinities and zeros are those of IEEE 754 and C's Annex F;
  // of functions that those do not have, the limits.
  std::function<void(mpfr_ptr out, mpfr_ptr x, mpfr_ptr y)> exact;
  Interval range;
  std::vector<double> points = {};  // where something happens: zeros, poles, joints of pieces
  Unit unit = Unit::Result;
  int cost = 1;             // the sample is divided by this
  bool signs_zeros = true;  // zeros have the sign that `exact` gives them
};

const std::vector<Function>& functions();

}  // namespace weft::accuracy
