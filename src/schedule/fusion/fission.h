// Fission: moves a stage, or one of several products of an output, into a kernel of its own where
// that saves time.
#pragma once

#include <weft/dev/schedule/plan.h>

#include "layout/kernel_forms.h"

namespace weft {

// Compares the predicted times of the kernels, each with the buffer layouts that suit it best.
void split_kernels(Plan& plan, const KernelSeconds& seconds, const Target& target,
                   KernelForms& forms);

}  // namespace weft
