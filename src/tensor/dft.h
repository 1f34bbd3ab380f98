// The transform that all of fft.h are made of.
#pragma once

#include <weft/fft.h>

namespace weft::fft {

// Sums of x_j exp(sign 2 pi i j k / n) along the axis before the parts: (..., n, 1) of real values or
// (..., n, 2) of complex ones, to (..., n, 2).
Tensor transform(const Tensor& x, int sign);

// The product of complex values.
Tensor times(const Tensor& x, const Tensor& y);

}  // namespace weft::fft
