// What ranges of values are worth their bits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <weft/onnx_quantize.h>

namespace weft::onnx {

struct Bounds {
  double least = 0, most = 0;  // 0 lies between
};

// The values of a tensor: first all calls for their bounds, then all again for how they are spread between.
class Observed {
 public:
  void add_to_bounds(std::span<const float> values);
  void add_magnitudes(std::span<const float> values);
  Bounds bounds(const QuantizeOptions& options) const;

 private:
  double magnitude() const { return std::max(-all_.least, all_.most); }
  std::size_t end_of_percentile(double percentile) const;
  std::size_t end_of_entropy() const;

  Bounds all_;
  double zeros_ = 0;
  std::vector<double> counts_;  // of other magnitudes, in bins of one width from 0 to the largest
};

// A number is (step - zero) * scale.
struct Steps {
  float scale;
  std::uint8_t zero;
};
Steps steps_of(const Bounds& bounds);

// The end of the first bins of magnitudes, which hold this share of all.
std::size_t end_of_share(std::span<const double> counts, double share);

// The end of the first bins that, all others moved into the last of them, are most like what so many levels can tell of
// them: by the least divergence of Kullback and Leibler.
std::size_t end_of_least_divergence(std::span<const double> counts, std::size_t levels);

}  // namespace weft::onnx
