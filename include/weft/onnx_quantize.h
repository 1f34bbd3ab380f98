// Models of floats made into models whose products are of 8-bit integers.
//
//   onnx::quantize("net.onnx", "net.int8.onnx", {{{"image", one}}, {{"image", other}}});
//
// Weights become i8 around 0. What products read and hand on becomes u8 by a scale and a zero point, which the values
// that the model computes in some calls decide. The files are in the form that all tools read: operators of floats
// between DequantizeLinear and QuantizeLinear.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <weft/onnx.h>

namespace weft::onnx {

// What of the values of a tensor its 8 bits hold; what is outside becomes the nearest.
enum class RangeMethod : std::uint8_t {
  MinMax,      // all of them
  Percentile,  // magnitudes up to one that so many of them stay below
  Entropy,     // up to the one by which their distribution changes least
};

struct QuantizeOptions {
  RangeMethod method = RangeMethod::MinMax;
  double percentile = 99.99;
  bool per_channel = false;  // a scale for each channel of the weights
  std::vector<std::string> exclude =
      {};  // nodes that stay as they are, by their names or those of their outputs
};

// How many.
struct Quantized {
  std::size_t products = 0, others = 0;  // convolutions and matrix products; those that stay floats
  std::size_t activations = 0;
};

Quantized quantize(const std::string& from, const std::string& to,
                   std::span<const NamedValues> calls, const QuantizeOptions& options = {});

// Without calls: scales of what products read are computed in each call, and what they hand on are floats.
Quantized quantize_dynamically(const std::string& from, const std::string& to,
                               const QuantizeOptions& options = {});

}  // namespace weft::onnx
