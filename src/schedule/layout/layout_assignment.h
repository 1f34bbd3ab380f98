// The order of the dimensions of a plan's own memory: which of them lies along it.
#pragma once

#include <optional>

#include <weft/dev/schedule/plan.h>

namespace weft {

// Chooses it for what only the plan's kernels touch, and the forms of these, so that they take the least time together.
void assign_layouts(Plan& plan, const KernelSeconds& seconds, const Profile& profile);

// What some kernels of a plan, which are all that this one has, take in the orders that suit them; nothing where one is not
// known.
std::optional<double> seconds_alone(Plan& plan, const KernelSeconds& seconds,
                                    const Profile& profile);

}  // namespace weft
