// Schedules kernels with scans.
#pragma once

#include <optional>

#include <weft/dev/codegen/actions.h>
#include <weft/dev/device/target.h>
#include <weft/dev/ir/node.h>

namespace weft {

struct ScanSchedule {
  Schedule schedule;
  std::optional<double> seconds;  // nothing if the model does not cover all loops
};

// Returns the schedule of a kernel with scans (rules/scan.h), or nothing for other kernels.
std::optional<ScanSchedule> scan_schedule(const Node* kernel, const Target& target);

// Returns a schedule by scan_schedule() with the lanes that `vectorize` makes of its blocks later, which the model
// counts; other schedules as they are.
Schedule with_lanes_of_blocks(const Node* kernel, const Schedule& schedule, const Target& target);

}  // namespace weft
