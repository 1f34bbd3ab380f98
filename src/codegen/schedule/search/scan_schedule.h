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

}  // namespace weft
