// The order of the dimensions of a plan's own memory: which of them lies along it.
#pragma once

#include <weft/dev/schedule/plan.h>

namespace weft {

// Chooses it for what only the plan's kernels touch, and the forms of these, so that they take the least time together;
// or as it is known.
void choose_orders(Plan& plan, const KernelSeconds& seconds, const std::optional<Choices>& known);

}  // namespace weft
