// Schedules that decode a panel of a factor before the products that it is multiplied in.
#pragma once

#include <optional>

#include "mma_schedule.h"

namespace weft {

// Of a kernel with one sum, of products of which one factor is decoded of bytes, as quantised weights are: with many rows each of
// its numbers is computed once for all of them, in memory of the kernel's own, and not once for those that stand in registers.
// `in_place` is the best schedule that decodes where it multiplies. Nothing where no such schedule is known.
std::optional<MmaSchedule> dequantized_schedule(const Node* kernel, const Schedule& in_place,
                                                const Target& target);

}  // namespace weft
