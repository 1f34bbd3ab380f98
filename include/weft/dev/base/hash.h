// Hashing: a 64-bit state that values are mixed into. Results are the same in every run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
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

// Of many bytes, eight at a time.
inline std::uint64_t hash_bytes(std::string_view bytes) {
  std::uint64_t state = bytes.size();
  while (!bytes.empty()) {
    std::uint64_t next = 0;
    const std::size_t count = std::min(bytes.size(), sizeof next);
    std::memcpy(&next, bytes.data(), count);
    state = hash_mix(state, next);
    bytes.remove_prefix(count);
  }
  return state;
}

}  // namespace weft
