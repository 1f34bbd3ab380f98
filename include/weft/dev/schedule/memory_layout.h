// Lays out parts with different lifetimes in one block of memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace weft {

// The size of a part, and the first and the last step that need it.
struct Lifetime {
  std::size_t bytes, first, last;
};

struct MemoryLayout {
  std::vector<std::size_t> offsets;  // of each part
  std::size_t bytes = 0;             // size of the block
  std::size_t least = 0;             // peak of live bytes, a lower bound of the block size
};

// Returns the peak of live bytes. Every part counts in whole cache lines.
std::size_t most_at_once(std::span<const Lifetime> parts);

// Parts whose lifetimes share a step do not overlap. Each part begins at a cache line.
MemoryLayout lay_out(std::span<const Lifetime> parts);

}  // namespace weft
