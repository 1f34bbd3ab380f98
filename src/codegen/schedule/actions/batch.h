// Schedules that fill memory for several iterations of a loop at once (BATCH).
#pragma once

#include <vector>

#include <weft/dev/codegen/actions.h>

namespace weft {

// Returns an ORDER that moves the loops in which memory is filled or sums are computed outside of
// all other output loops, which would repeat that work. Empty if they are outermost already.
Schedule order_filling_loops_outermost(const Node* kernel);

// Returns schedule prefixes, one per batch size, that batch a loop whose iterations share reads in
// a sum, as rows of attention scores share the keys. Empty if no loop qualifies.
std::vector<Schedule> batch_schedules(const Node* kernel);

}  // namespace weft
