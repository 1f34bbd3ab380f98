// Where in one block of memory several parts lie that are needed at different times.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace weft {

// So many bytes, from the beginning of one step to the end of another.
struct Lifetime {
  std::size_t bytes, first, last;
};

struct MemoryLayout {
  std::vector<std::size_t> offsets;  // of each part
  std::size_t bytes = 0;             // of the block
  std::size_t least = 0;             // that are needed at one time: no block is smaller
};

// The most bytes that are needed at one time.
std::size_t most_at_once(std::span<const Lifetime> parts);

// Parts whose lifetimes have a step in common do not overlap; each begins with a line of a cache.
MemoryLayout lay_out(std::span<const Lifetime> parts);

}  // namespace weft
