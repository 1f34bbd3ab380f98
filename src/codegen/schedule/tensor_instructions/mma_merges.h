// Finds loops to merge so that they fill the tiles of a matrix instruction.
#pragma once

#include <vector>

#include "schedule/actions/kernel_loops.h"

namespace weft {

// Returns all ways to merge short loops that follow one another in memory, such as the two spatial
// loops of an image whose rows fill no tile.
std::vector<Schedule> tile_filling_merges(const KernelLoops& loops);

}  // namespace weft
