// The cost of staging and prepacking what a nest reads.
#pragma once

#include <weft/dev/cost/nest.h>

namespace weft {

class Footprints;

// Returns the cycles that one worker needs to fill all STAGEs.
double copy_cycles(const DeviceModel& machine, const Nest& nest, const NestPlan& plan,
                   const Footprints& footprints);

// Returns the seconds that are charged for prepacked data, because the memory that they take must
// pay off in time.
double prepack_cost(const DeviceModel& machine, const Nest& nest, const NestPlan& plan);

}  // namespace weft
