#pragma once

#include <weft/dev/schedule/plan.h>

namespace weft {

// Kernels that differ in their numbers alone become one kernel, which each step gives its numbers (Step::values).
void share_kernels(Plan& plan);

}  // namespace weft
