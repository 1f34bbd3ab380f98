// Schedules for dot-product instructions, which add up a group of products in each lane.
#pragma once

#include <optional>

#include "mma_schedule.h"

namespace weft {

// Returns a schedule and its expected time for a kernel with sums of byte products, one factor of
// which is laid out in the groups that lanes of an instruction of the target read; nothing for
// other kernels.
std::optional<MmaSchedule> dot_schedule(const Node* kernel, const Target& target);

}  // namespace weft
