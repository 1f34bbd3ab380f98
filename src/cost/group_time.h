// The time of a nest that the work-groups of a GPU run.
#pragma once

#include <weft/dev/cost/nest.h>

namespace weft {

NestTime group_time(const DeviceModel& model, const Nest& nest, const NestPlan& plan);

}  // namespace weft
