// Compiles kernels that differ only in their constants once.
#pragma once

#include <weft/dev/schedule/plan.h>

namespace weft {

// Replaces such kernels by one kernel with variables, whose values each step passes (Step::values).
void share_kernels(Plan& plan);

}  // namespace weft
