// The order of the dimensions of a plan's own memory: which of them lies along it.
#pragma once

#include <weft/dev/schedule/plan.h>

namespace weft {

// Chooses it for what only the plan's kernels touch, and the forms of these, so that they take the least time together.
void choose_orders(Plan& plan, const KernelSeconds& seconds, const Profile& profile);

// What some kernels of a plan take, which are all that this one has, in the orders that suit them; those that the model does not
// know aside.
double seconds_alone(Plan& plan, const KernelSeconds& seconds, const Profile& profile);

}  // namespace weft
