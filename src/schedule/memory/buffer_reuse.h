// Memory that is written where what it held is read for the last time.
#pragma once

#include <cstdint>

#include <weft/dev/schedule/plan.h>

namespace weft {

enum class InPlace : std::uint8_t { Never, Useful, Wherever };
InPlace in_place_in_force();  // the setting IN_PLACE

// Of the plan's own memory: what a kernel stores takes the place of what nobody reads after it, where the kernel
// reads each element only to store that of the same index. Useful does so as long as it makes the most that
// is needed at one time less, as every kernel that it changes is one more to compile, and then where a kernel that moves
// much is no slower by it.
void reuse_inputs(Plan& plan, const KernelSeconds& seconds, InPlace where);

}  // namespace weft
