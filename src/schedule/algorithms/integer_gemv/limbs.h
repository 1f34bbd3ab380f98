// A vector times a matrix of codes, as sums of products of bytes: a form of a kernel, in several kernels.
#pragma once

#include <vector>

#include "algorithms/kernel_form.h"

namespace weft {

// One, for kernels of this kind; none for others.
std::vector<KernelForm> limb_forms(const UOp& kernel);

}  // namespace weft
