// The inputs of all peers: the same numbers everywhere, by a hash of the place. values.py has the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::bench {

// So many from -1 to 1; each `number` gives others.
inline std::vector<float> input_values(std::size_t count, std::uint32_t number) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t bits = static_cast<std::uint32_t>(i) + number * 0x9e3779b9;
    bits = (bits ^ (bits >> 16)) * 0x7feb352d;
    bits = (bits ^ (bits >> 15)) * 0x846ca68b;
    values[i] = static_cast<float>((bits ^ (bits >> 16)) >> 8) * 0x1p-23F - 1;
  }
  return values;
}

}  // namespace weft::bench
