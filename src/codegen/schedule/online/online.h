// Which loops may run block by block with a running maximum.
#pragma once

#include <vector>

#include "schedule/actions/kernel_loops.h"

namespace weft {

// ONLINE in blocks of several sizes, where that saves memory: the scores of an attention, a block of the keys at a time.
std::vector<Action> online_blocks(const KernelLoops& loops);

// Whether such an action is not refused.
bool may_be_online(const KernelLoops& loops, const Action& action);

}  // namespace weft
