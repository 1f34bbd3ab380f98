// Chooses the Winograd matrices of a convolution, if they are exact enough.
#pragma once

#include <cstdint>
#include <optional>

#include "convolution.h"
#include "spatial_blocking.h"
#include "transforms.h"
#include "winograd.h"

namespace weft {

// Returns the matrices if the error expected for floats is within the limits, or if i16 holds
// transformed bytes exactly.
std::optional<WinogradTransform> matrices_of(const Convolution& of, const Tile& tile,
                                             const FormLimits& limits);

// Returns the expected rounding error, in units of 2^-24 of the outputs' root mean square, for
// random numbers. `outputs` and `taps` are those of each axis. Direct summation of n products has
// an error of about sqrt(n) / 3.
double expected_error(std::int64_t outputs, std::int64_t taps, std::size_t axes, double channels);

}  // namespace weft
