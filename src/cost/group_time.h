// The time of a nest that the work-groups of a GPU run.
#pragma once

#include <weft/dev/cost/nest.h>

namespace weft {

// How much of a multiprocessor a work-group takes.
struct Occupancy {
  double items = 1;      // work-items of a group
  double registers = 0;  // of an item
  double shared = 0;     // bytes
  double resident = 0;   // groups that a multiprocessor runs at the same time; 0: not even one
};

Occupancy occupancy_of(const DeviceModel& model, const Nest& nest, const NestPlan& plan);

NestTime group_time(const DeviceModel& model, const Nest& nest, const NestPlan& plan);

}  // namespace weft
