// Restricts reductions to the region that their users need.
#pragma once

#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

// Returns equal tensors. If all users of a reduction together need only a part of it, as with a
// SHRINK of the rows that a chain of layers computes, it is computed for their bounding box alone.
// This is not a rewrite rule, because a rule that sees one user does not know what the others need.
std::vector<UOp> with_needed_regions(const std::vector<UOp>& tensors);

}  // namespace weft
