// Kernels, and the memory that they share, from what was decided.
#pragma once

#include "fusion/fusion.h"

namespace weft {

// In the current interner; the plan's arena is not filled yet.
void emit(const Partition& partition, const Fusion& fusion, Plan& plan);

}  // namespace weft
