// Enumerates register tiles: vectors of one loop, and unrolled iterations of others beside them.
#pragma once

#include <vector>

#include <weft/dev/device/target.h>

#include "option.h"

namespace weft {

// Returns the most promising register tiles, fastest first. The time of a tile is the least of
// those without staging and with staging, whose cost is not counted.
std::vector<Option> register_tiles(const Nest& nest, const Target& target, bool is_ordered,
                                   Tail uneven);

}  // namespace weft
