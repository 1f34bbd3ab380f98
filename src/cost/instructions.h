// The time that a loop nest takes to execute its instructions.
#pragma once

#include <weft/dev/cost/nest.h>

namespace weft {

// Returns the cycles of all iterations on one worker, without waits for memory except those for the
// lines of strided accesses.
double compute_cycles(const DeviceModel& machine, const Nest& nest, const NestPlan& plan);

}  // namespace weft
