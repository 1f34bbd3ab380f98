// Schedules that dequantise a panel of a factor into scratch memory before it is multiplied.
#pragma once

#include <optional>

#include "mma_schedule.h"

namespace weft {

// Returns the fastest such schedule of a kernel with one sum of products, one factor of which is
// dequantised from bytes. With many rows, each element is then dequantised once for all of them
// instead of once per register tile. `in_place` is the best schedule that dequantises in registers.
// Returns nothing if there is no such schedule.
std::optional<MmaSchedule> dequantized_schedule(const Node* kernel, const Schedule& in_place,
                                                const Target& target);

}  // namespace weft
