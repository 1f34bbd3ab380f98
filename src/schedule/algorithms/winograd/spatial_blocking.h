// Divides the tiles of a convolution into blocks that are computed one after the other.
#pragma once

#include <cstdint>

#include "convolution.h"

namespace weft {

// The taps of a window and the outputs of a tile, along each axis.
struct Tile {
  std::int64_t taps, outputs;
};

// Returns the iterations of a loop of the convolution; along the axes these are tiles.
std::int64_t iterations_of(const Node* loop, const Convolution& of, const Tile& tile);

// `count` blocks, each of `iterations` of one loop: images, or rows of tiles.
struct SpatialBlocks {
  const Node* loop = nullptr;  // null: one block
  std::int64_t iterations = 0, count = 1;
};

// Chooses blocks whose transformed inputs and products take at most `most_bytes`, or twice the
// transformed filter if that is more. Blocks of rows have a multiple of `threads` rows, and exceed
// the loop as little as possible. Returns one block if everything fits.
SpatialBlocks spatial_blocks_of(const Convolution& of, const Tile& tile, double most_bytes,
                                std::int64_t threads);

}  // namespace weft
