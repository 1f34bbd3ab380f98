// Builds the kernels of a plan from the fusion decisions.
#pragma once

#include "fusion/fusion.h"

namespace weft {

// Appends steps, slots and roots to the plan. Nodes are made in the current interner.
void emit(const Partition& partition, const Fusion& fusion, Plan& plan);

}  // namespace weft
