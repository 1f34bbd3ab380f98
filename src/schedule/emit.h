// Kernels, and the memory that they share, from what was decided.
#pragma once

#include "fuse.h"

namespace weft {

// In the current interner; the plan's arena is not filled yet.
void emit(const CutGraph& graph, const Fusion& fusion, Plan& plan);

}  // namespace weft
