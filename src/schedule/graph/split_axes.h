// Sums along what was joined of several axes.
#pragma once

#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

// The same values of the same tensors, but for the order of sums. A sum along an axis that a RESHAPE joined of several, of
// which something repeats along one, as the scale of a block of weights does, is a sum along each of them: what repeats
// is then found by the loop that it changes with, and not by quotients. Only sums of what is decoded of bytes are worth that;
// others keep their order. A rule cannot say that: the RESHAPE stands
// anywhere below the sum.
std::vector<UOp> with_axes_split(const std::vector<UOp>& tensors);

}  // namespace weft
