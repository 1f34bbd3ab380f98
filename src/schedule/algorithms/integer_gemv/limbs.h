// Int8 limb decomposition: a form of a vector times a quantised matrix that multiplies bytes.
#pragma once

#include <vector>

#include "algorithms/kernel_form.h"

namespace weft {

// Returns one form for such kernels, none for others.
std::vector<KernelForm> limb_forms(const UOp& kernel);

}  // namespace weft
