// What realize() would run, to look at before anything does.
#pragma once

#include <string>
#include <vector>

#include <weft/dev/cost/profile.h>
#include <weft/dev/ir/uop.h>

namespace weft {

struct Wanted;

// A kernel with its arguments, or a copy between devices.
struct ScheduleItem {
  UOp kernel;  // over PARAMs; null for a copy
  std::string name;
  std::string device;
  std::vector<UOp> buffers;  // by the PARAMs, what is written first; new ones have no memory yet
  Work work;

  std::string str() const;  // one line
};

std::vector<ScheduleItem> schedule(const std::vector<Wanted>& wanted);

}  // namespace weft
