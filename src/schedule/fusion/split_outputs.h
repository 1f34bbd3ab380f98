// Horizontal fission: a kernel that was merged from several, each with an output of its own.
#pragma once

#include <weft/dev/schedule/plan.h>

namespace weft {

// Splits such a kernel into one kernel per output where the model expects that to take less time. A
// merge saves reads that the kernels have in common, but their sums share the registers of one tile.
void split_outputs(Plan& plan, const KernelSeconds& seconds, const Target& target);

}  // namespace weft
