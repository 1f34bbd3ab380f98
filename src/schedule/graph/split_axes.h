// Splits the axes of sums that a RESHAPE merged from several axes.
#pragma once

#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

// Returns tensors with equal values, up to the order of sums. A sum along an axis that a RESHAPE
// merged from several becomes a sum along each of them, if an operand is repeated along one of
// them, such as the scale of a block of weights. The operand is then indexed by a loop of its own
// and not by a quotient. Only sums of values decoded from bytes are split; others keep their order.
// This is not a rewrite rule, because the RESHAPE may be anywhere below the sum.
std::vector<UOp> with_axes_split(const std::vector<UOp>& tensors);

}  // namespace weft
