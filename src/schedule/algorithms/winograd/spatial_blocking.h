// The tiles of a convolution, and bands of them that are computed one after the other.
#pragma once

#include <cstdint>

#include "convolution.h"

namespace weft {

// Outputs of a tile along each axis, by the taps of the window.
struct Tile {
  std::int64_t taps, outputs;
};

// Of a loop of the convolution: tiles, along the axes.
std::int64_t iterations_of(const Node* loop, const Convolution& of, const Tile& tile);

// So many iterations of a loop at a time, of images or of rows of tiles.
struct SpatialBlocks {
  const Node* loop = nullptr;  // null: all at once
  std::int64_t iterations = 0, count = 1;
};

// As many at a time as come to no more than that many bytes of transformed inputs and of products, or than twice the filter, where
// all of them come to more: of rows as many for each thread, and few beyond the last.
SpatialBlocks spatial_blocks_of(const Convolution& of, const Tile& tile, double most_bytes,
                                std::int64_t threads);

}  // namespace weft
