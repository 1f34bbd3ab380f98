// Rewrites a partition so that some values are recomputed instead of kept in memory.
#pragma once

#include "lifetimes.h"

namespace weft {

// Returns the partition with copies of the selected points, which the kernels after the step read.
// A copy is recomputed when these run, from what is then in memory.
Partition with_copies(const Partition& partition, const Fusion& fusion, const PointFlow& flow,
                      const Rematerialized& again);

}  // namespace weft
