// Factors and divisors that are the same in all iterations of a sum stand outside of it.
#pragma once

#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

// The same values of the same tensors, but for rounding, and where sums without the factor are larger than floats can be. A
// product of which one factor does not change along the axes that it is summed over, as the shares of a softmax times values, is
// summed without that factor; so is a quotient without its divisor. A number is the same everywhere. A rule cannot say that:
// where others need the product as well, it would be computed twice.
std::vector<UOp> with_invariants_hoisted(const std::vector<UOp>& tensors);

}  // namespace weft
