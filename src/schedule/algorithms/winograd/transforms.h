// Winograd transforms by the Toom-Cook construction: m outputs of a filter of r taps take m + r - 1
// products of a transformed input and a transformed filter.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

using Matrix = std::vector<std::vector<double>>;  // rows

// outputs * scale = result * ((filter * f) . (input * x)), where `.` is the elementwise product.
struct WinogradTransform {
  Matrix input, filter, result;
  std::int64_t scale = 1;
};

// Builds the matrices from interpolation points: outputs + taps - 2 given ones, which are 0 and
// pairs of a number and its negative, and infinity.
WinogradTransform winograd_transform(std::size_t outputs, std::size_t taps,
                                     const std::vector<double>& points);

// Returns the transform with the filter matrix times two, if all matrices are integer then.
std::optional<WinogradTransform> in_whole_numbers(WinogradTransform transform);

// Returns the factor by which the transforms increase the mean square of rounding errors along one
// axis, for random inputs and filters.
double growth_of(const WinogradTransform& transform);

// Returns the interpolation points with the least rounding errors, for a number of products.
std::vector<double> points_for(std::size_t products);

// Returns the matrix times a vector, in few operations: rows that differ only in the sign of every
// other term share the sums of even and of odd terms. With `fuses`, MULACC adds unrounded products.
std::vector<UOp> times(const Matrix& matrix, const std::vector<UOp>& values, bool fuses);
// The same for the result matrix: columns of a number and its negative share sums and differences.
std::vector<UOp> times_result(const Matrix& matrix, const std::vector<UOp>& values, bool fuses);

}  // namespace weft
