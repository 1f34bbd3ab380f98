// Functions of two and three elements beyond the operators.
#pragma once

#include <string_view>

#include "array.h"

namespace nets {

// "atan2", "hypot", "logaddexp", "gcd", "fmax", "heaviside" ...
Array pair_function(std::string_view name, const Array& x, const Array& y);
bool is_pair_function(std::string_view name);

Array isclose(const Array& x, const Array& y, double rtol, double atol, bool equal_nan);
// x + (end - x) * weight, x + a * b * value, x + a / b * value: "lerp", "addcmul", "addcdiv".
Array triple_function(std::string_view name, const Array& x, const Array& a, const Array& b,
                      double value);
Array nan_to_num(const Array& x, double nan);
Array isin(const Array& x, const Array& elements);
// Of floats and integers; a NaN among the limits is the result.
Array clamped(const Array& x, const Array* least, const Array* most);

}  // namespace nets
