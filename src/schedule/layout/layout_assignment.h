// Chooses which dimension of each internal buffer of a plan is contiguous.
#pragma once

#include <optional>

#include <weft/dev/schedule/plan.h>

#include "kernel_forms.h"

namespace weft {

// Chooses the layouts of buffers that only the plan's kernels access, and the forms of these
// kernels, so that their modelled total time is least.
void assign_layouts(Plan& plan, KernelForms& forms);

// Returns the modelled time of all kernels of the plan in the layouts that suit them best; nothing
// if the time of one is not known.
std::optional<double> best_layout_seconds(Plan& plan, KernelForms& forms);

}  // namespace weft
