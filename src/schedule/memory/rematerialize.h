// A partition that computes values again which it would have kept.
#pragma once

#include "lifetimes.h"

namespace weft {

// The partition with copies of those points, which the kernels after the step read: made when these run, of what is there
// then.
Partition with_copies(const Partition& partition, const Fusion& fusion, const Flow& flow,
                      const Rematerialized& again);

}  // namespace weft
