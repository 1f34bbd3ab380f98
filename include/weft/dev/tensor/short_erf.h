// The error function, where what is made of it is rounded to a few bits.
#pragma once

#include <weft/tensor.h>

namespace weft {

// Of f32, or less: within 2^-14, and within 2^-11 of what it should be. Half as many operations as erf.
Tensor short_erf(const Tensor& x);

}  // namespace weft
