#include "calibration.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <weft/error.h>

namespace weft::onnx {
namespace {

constexpr std::size_t bin_count = 2048;
constexpr std::size_t levels_of_sign = 128, levels_of_byte = 256;
constexpr double nearly_none =
    1e-9;  // of a distribution: where it has nothing, the divergence is not infinite

// What levels of `width` bins each can tell of the bins: their mean, wherever there is something.
std::vector<double> as_levels_tell(std::span<const double> counts, std::size_t levels) {
  std::vector<double> told(counts.size());
  for (std::size_t level = 0; level < levels; ++level) {
    const std::size_t begin = level * counts.size() / levels,
                      end = (level + 1) * counts.size() / levels;
    double sum = 0, filled = 0;
    for (std::size_t i = begin; i < end; ++i) sum += counts[i], filled += counts[i] > 0 ? 1 : 0;
    for (std::size_t i = begin; i < end; ++i) told[i] = counts[i] > 0 ? sum / filled : 0;
  }
  return told;
}

double divergence(std::span<const double> from, std::span<const double> of) {
  const double sum_from = std::reduce(from.begin(), from.end()),
               sum_of = std::reduce(of.begin(), of.end());
  if (sum_from == 0 || sum_of == 0) return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i] > 0) {
      const double p = from[i] / sum_from, q = std::max(of[i] / sum_of, nearly_none);
      sum += p * std::log(p / q);
    }
  return sum;
}

}  // namespace

std::size_t end_of_share(std::span<const double> counts, double share) {
  const double wanted = share * std::reduce(counts.begin(), counts.end());
  double sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (sum += counts[i]; sum >= wanted) return i + 1;
  return counts.size();
}

std::size_t end_of_least_divergence(std::span<const double> counts, std::size_t levels) {
  std::size_t best = counts.size();
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t end = std::min(levels, counts.size()); end <= counts.size(); ++end) {
    std::vector<double> clipped(counts.begin(), counts.begin() + std::ptrdiff_t(end));
    const std::vector<double> told = as_levels_tell(clipped, levels);
    clipped.back() += std::reduce(counts.begin() + std::ptrdiff_t(end), counts.end());
    if (const double found = divergence(clipped, told); found < least) least = found, best = end;
  }
  return best;
}

void Observed::add_to_bounds(std::span<const float> values) {
  for (const float value : values) {
    if (!std::isfinite(value)) user_error("quantize: a call computes values that are not finite");
    all_.least = std::min(all_.least, double(value));
    all_.most = std::max(all_.most, double(value));
  }
}

void Observed::add_magnitudes(std::span<const float> values) {
  counts_.resize(bin_count);
  const double bins = magnitude() > 0 ? double(bin_count) / magnitude() : 0;
  for (const float value : values) {
    if (value == 0) {
      zeros_ += 1;
      continue;
    }
    const auto bin = static_cast<std::size_t>(std::abs(double(value)) * bins);
    counts_[std::min(bin, bin_count - 1)] += 1;
  }
}

std::size_t Observed::end_of_percentile(double percentile) const {
  std::vector<double> counts = counts_;
  counts[0] += zeros_;
  return end_of_share(counts, percentile / 100);
}

// Steps of any width have 0, so that divergence is of all others.
std::size_t Observed::end_of_entropy() const {
  const bool has_both_signs = all_.least < 0 && all_.most > 0;
  return end_of_least_divergence(counts_, has_both_signs ? levels_of_sign : levels_of_byte);
}

Bounds Observed::bounds(const QuantizeOptions& options) const {
  if (options.method == RangeMethod::MinMax) return all_;
  const std::size_t end = options.method == RangeMethod::Percentile
                              ? end_of_percentile(options.percentile)
                              : end_of_entropy();
  const double most = magnitude() * double(end) / double(bin_count);
  return {std::max(all_.least, -most), std::min(all_.most, most)};
}

Steps steps_of(const Bounds& bounds) {
  constexpr double steps = 255;
  const auto scale = static_cast<float>((bounds.most - bounds.least) / steps);
  if (!(scale >= std::numeric_limits<float>::min())) return {1, 0};
  const double zero = std::nearbyint(-bounds.least / double(scale));
  return {scale, static_cast<std::uint8_t>(std::clamp(zero, 0.0, steps))};
}

}  // namespace weft::onnx
