// Division by a number that is known when kernels are made.
#pragma once

#include <weft/tensor.h>

namespace weft {

// x / divisor without a division, of floats: rounded once, where the result is no smaller than 2^-100.
Tensor quotient(const Tensor& x, double divisor);

}  // namespace weft
