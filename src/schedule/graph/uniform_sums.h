// Computes a reduction only once if it is uniform along an axis of its result.
#pragma once

#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

// Returns the tensors with such reductions computed once and expanded, if that saves more than an
// additional kernel may cost. A convolution with equal weights in all output channels is an
// example.
// This is not a rewrite rule, because uniform axes are found once for the whole graph.
std::vector<UOp> with_uniform_reductions_hoisted(const std::vector<UOp>& tensors);

}  // namespace weft
