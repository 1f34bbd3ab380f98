// Finds loops that may run block by block with a running maximum (ONLINE).
#pragma once

#include <vector>

#include "schedule/actions/kernel_loops.h"

namespace weft {

// Returns ONLINE actions with blocks of several sizes for a loop where that saves memory. For
// example, attention scores are then computed for one block of keys at a time.
std::vector<Action> online_blocks(const KernelLoops& loops);

// Whether the kernel permits such an action.
bool may_be_online(const KernelLoops& loops, const Action& action);

}  // namespace weft
