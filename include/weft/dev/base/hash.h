// Hashing: a 64-bit state that values are mixed into. Results are the same in every run.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft {

constexpr std::uint64_t hash_mix(std::uint64_t state, std::uint64_t value) {
  state = (state ^ value) * 0x9E3779B97F4A7C15u;
  return state ^ (state >> 29);
}

constexpr std::uint64_t hash_text(std::string_view text) {
  std::uint64_t state = text.size();
  for (char c : text) state = hash_mix(state, static_cast<unsigned char>(c));
  return state;
}

}  // namespace weft
