// Buffer reuse: a kernel stores its output over an input that is read for the last time.
#pragma once

#include <cstdint>

#include <weft/dev/schedule/plan.h>

namespace weft {

enum class InPlace : std::uint8_t { Never, Useful, Wherever };
InPlace in_place_in_force();  // the setting IN_PLACE

// Reuses only the plan's own buffers, in kernels that read each element of the input only to store
// the output element of the same index. `Useful` reuses buffers while that lowers peak memory,
// since each changed kernel is one more to compile, and then where the output is large and the
// kernel gets no slower.
void reuse_inputs(Plan& plan, const KernelSeconds& seconds, InPlace where);

}  // namespace weft
