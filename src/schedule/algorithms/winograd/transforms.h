// Short convolutions by fewer products (WinogradTransform and Cook, Winograd): m sums of r products of neighbours each take
// m + r - 1 products, of sums of what is convolved and sums of the filter.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

using Matrix = std::vector<std::vector<double>>;  // rows

// outputs * scale = result * ((filter * f) . (input * x)), elementwise in the middle.
struct WinogradTransform {
  Matrix input, filter, result;
  std::int64_t scale = 1;
};

// Evaluates polynomials at these points, which are 0 and pairs of a number and its negative, and at infinity: there
// are outputs + taps - 2 of them.
WinogradTransform winograd_transform(std::size_t outputs, std::size_t taps,
                                     const std::vector<double>& points);

// The same with whole numbers in all matrices, times a scale, if twice the filter has none but such.
std::optional<WinogradTransform> in_whole_numbers(WinogradTransform winograd_transform);

// By how much rounding errors grow along one axis: of random inputs and filters, in the mean square of the outputs.
double growth_of(const WinogradTransform& winograd_transform);

// The points for so many products: those of which sums and products round least.
std::vector<double> points_for(std::size_t products);

// The matrix times a list of values, in few operations: rows that differ in the signs of every other term share the
// sums of both kinds of terms. Where that is one operation, products are added as they are, unrounded.
std::vector<UOp> times(const Matrix& matrix, const std::vector<UOp>& values, bool fuses);
// The same for the result, of whose columns those of a number and its negative share sums and differences.
std::vector<UOp> times_result(const Matrix& matrix, const std::vector<UOp>& values, bool fuses);

}  // namespace weft
