// A graph that computes values again which it would have kept.
#pragma once

#include "kept.h"

namespace weft {

// The graph with copies of those cuts, which the kernels after the step read: made when these run, of what is there
// then.
CutGraph with_copies(const CutGraph& graph, const Fusion& fusion, const Flow& flow,
                     const Again& again);

}  // namespace weft
