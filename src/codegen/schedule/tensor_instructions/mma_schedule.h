// Schedules for matrix instructions.
#pragma once

#include <optional>

#include <weft/dev/codegen/actions.h>
#include <weft/dev/device/target.h>

namespace weft {

struct MmaSchedule {
  Schedule schedule;
  double seconds;
};

// Returns the schedule that the model expects to be fastest, for a kernel with one sum of products
// that an instruction of the target computes; nothing for other kernels.
std::optional<MmaSchedule> mma_schedule(const Node* kernel, const Target& target);

}  // namespace weft
