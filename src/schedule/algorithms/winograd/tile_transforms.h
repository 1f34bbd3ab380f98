// The matrices of a convolution's tiles, where sums by fewer products are exact enough.
#pragma once

#include <cstdint>
#include <optional>

#include "convolution.h"
#include "spatial_blocking.h"
#include "transforms.h"
#include "winograd.h"

namespace weft {

// Of floats, whose error is expected to be within the limits, or of bytes, exact in words.
std::optional<WinogradTransform> matrices_of(const Convolution& of, const Tile& tile,
                                             const FormLimits& limits);

// Of tiles of so many outputs along each of the axes: in 2^-24 of the outputs' root mean square, for random numbers. The
// sums themselves, product by product, are off by about a third of the root of how many there are.
double expected_error(std::int64_t outputs, std::int64_t taps, std::size_t axes, double channels);

}  // namespace weft
