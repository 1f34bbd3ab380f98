// What a kernel fills memory of its own with, as a kernel of its own where that takes less time.
#pragma once

#include <weft/dev/schedule/plan.h>

namespace weft {

// By what the kernels are expected to take in the orders that suit them.
void split_stages_off(Plan& plan, const KernelSeconds& seconds, const Profile& profile);

}  // namespace weft
