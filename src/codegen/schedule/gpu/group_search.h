// Schedules for devices that run work-groups.
#pragma once

#include <optional>
#include <vector>

#include <weft/dev/codegen/actions.h>
#include <weft/dev/device/target.h>

namespace weft {

struct GroupSchedule {
  Schedule schedule;
  std::optional<double> seconds;  // nothing where the model does not know the kernel's form
};

// Up to `most` schedules whose outermost loops are work-groups, fastest first.
std::vector<GroupSchedule> group_schedules(const Node* kernel, const Target& target,
                                           std::size_t most);

}  // namespace weft
