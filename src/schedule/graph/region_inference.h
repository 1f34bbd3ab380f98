// What nobody looks at is not computed.
#pragma once

#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

// The same values of the same tensors. Where all users of a reduction look at a part of it, as a SHRINK does of what
// a chain of layers gives for every row, the reduction is that of the part: the least box that holds what they
// look at. A rule cannot say that of one user without asking what the others need.
std::vector<UOp> with_needed_regions(const std::vector<UOp>& tensors);

}  // namespace weft
