// Schedules by instructions that multiply groups of neighbours and add them up in lanes.
#pragma once

#include <optional>

#include "mma_schedule.h"

namespace weft {

// Of a kernel with sums of products of bytes, one factor of which lies in groups as the lanes of an instruction of the
// target read it, and what the schedule takes; nothing for others.
std::optional<MmaSchedule> dot_schedule(const Node* kernel, const Target& target);

}  // namespace weft
