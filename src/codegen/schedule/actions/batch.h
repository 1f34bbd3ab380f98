// Which loops fill memory, and which may do so for several of their iterations at once.
#pragma once

#include <vector>

#include <weft/dev/codegen/actions.h>

namespace weft {

// Puts the loops in whose iterations memory is filled, or sums are made, around all others, in whose iterations that would be done again.
// Nothing where they stand there already.
Schedule filled_loops_outermost(const Node* kernel);

// The beginnings of schedules, where sums of several iterations read the same: as many rows of an attention's scores
// go through the keys together.
std::vector<Schedule> batches(const Node* kernel);

}  // namespace weft
