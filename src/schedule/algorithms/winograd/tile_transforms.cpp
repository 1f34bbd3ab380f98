#include "tile_transforms.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace weft {
namespace {

WinogradTransform transform_for(const Tile& tile) {
  const auto outputs = static_cast<std::size_t>(tile.outputs),
             taps = static_cast<std::size_t>(tile.taps);
  return winograd_transform(outputs, taps, points_for(outputs + taps - 1));
}

double channels_of(const Convolution& of) {
  return static_cast<double>(iterations_of(of.channels()));
}

double largest(DType bytes) { return bytes == dtypes::u8 ? 255 : 128; }

// Returns the largest factor by which a transform can increase magnitudes along one axis.
double growth_along_axis(const Matrix& matrix) {
  double most = 0;
  for (const std::vector<double>& row : matrix)
    most = std::max(most, std::transform_reduce(row.begin(), row.end(), 0.0, std::plus(),
                                                [](double factor) { return std::abs(factor); }));
  return most;
}

// Returns whether transformed values fit into i16 and scaled sums into i32; partial sums may wrap.
bool fits_in_words(const Convolution& of, const WinogradTransform& transform) {
  const auto axes = static_cast<double>(of.axes.size());
  const double input = largest(of.input->dtype()), filter = largest(of.filter->dtype());
  double products = channels_of(of) * std::pow(transform.scale, axes);
  for (const Axis& axis : of.axes) products *= static_cast<double>(axis.taps());
  return input * std::pow(growth_along_axis(transform.input), axes) < 1 << 15 &&
         filter * std::pow(growth_along_axis(transform.filter), axes) < 1 << 15 &&
         input * filter * products < std::pow(2, 31);
}

}  // namespace

double expected_error(std::int64_t outputs, std::int64_t taps, std::size_t axes, double channels) {
  // What the transforms and each channel add to the mean square, measured with random numbers.
  constexpr double of_transforms = 3, of_channel = 0.09;
  const double growth = growth_of(transform_for({taps, outputs}));
  return std::pow(growth, static_cast<double>(axes) / 2) *
         std::sqrt(of_transforms + of_channel * channels);
}

std::optional<WinogradTransform> matrices_of(const Convolution& of, const Tile& tile,
                                             const FormLimits& limits) {
  WinogradTransform transform = transform_for(tile);
  if (of.sum->dtype().is_int()) {
    auto whole = in_whole_numbers(std::move(transform));
    return limits.multiplies_words && whole && fits_in_words(of, *whole) ? whole : std::nullopt;
  }
  const double error = expected_error(tile.outputs, tile.taps, of.axes.size(), channels_of(of));
  return error <= static_cast<double>(limits.error) ? std::optional(std::move(transform))
                                                    : std::nullopt;
}

}  // namespace weft
