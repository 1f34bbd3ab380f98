// Loops that are one for an instruction which multiplies matrices.
#pragma once

#include <vector>

#include "schedule/actions/kernel_loops.h"

namespace weft {

// All ways to merge loops of few iterations that follow one another along memory, as those of the places of an image, whose rows
// fill no tile.
std::vector<Schedule> merges_that_fill(const KernelLoops& loops);

}  // namespace weft
