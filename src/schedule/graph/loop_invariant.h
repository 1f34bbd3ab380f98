// Hoists loop-invariant factors and divisors out of sums.
#pragma once

#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

// Rewrites sum((x * f) * y) to sum(x * y) * f, and sum((x / d) * y) to sum(x * y) / d, if f or d
// does not change along the summed axes. The probabilities of a softmax times values are an
// example. Constants are invariant along every axis. Values change only by rounding, or if the sum
// without the factor overflows: what may be zero or infinite where the terms are not stays (factor_values.h).
// This is not a rewrite rule, because a rule does not see the product's other users, for which it
// would be computed again.
std::vector<UOp> with_invariants_hoisted(const std::vector<UOp>& tensors);

}  // namespace weft
