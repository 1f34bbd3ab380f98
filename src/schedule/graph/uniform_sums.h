// Sums that are the same all along an axis of their results.
#pragma once

#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

// The same tensors, but such sums are computed once and expanded: a convolution whose weights are one number for all output
// channels, say. Only where that saves more than another kernel may cost. No rule: along which axes a tensor is the same is found
// once for the whole graph.
std::vector<UOp> without_repeats(const std::vector<UOp>& tensors);

}  // namespace weft
