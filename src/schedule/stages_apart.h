// What a kernel fills memory of its own with, as a kernel of its own where that takes less time.
#pragma once

#include <optional>

#include <weft/dev/schedule/plan.h>

namespace weft {

// By what the kernels are expected to take, each `launch` seconds besides. Choices that are known are those of an equal
// graph; what is chosen is in the plan's.
void move_stages_apart(Plan& plan, const KernelSeconds& seconds, double launch,
                       const std::optional<Choices>& known);

}  // namespace weft
