// What realize() would run, to look at before anything does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/dev/cost/work.h>
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

// Memory between kernels whose dimensions lie in another order than the graph has them.
struct TurnedMemory {
  std::string kernel;               // that writes it
  std::vector<std::int64_t> sizes;  // as the graph has them
  std::vector<int> order;           // of the dimensions, outermost first
  double seconds, seconds_as_made;  // that the kernels which touch it take by the model
};

// What realize() would take, before anything runs.
struct RunCost {
  std::size_t kernels = 0;       // and copies
  double flops = 0, bytes = 0;   // computed; read and written
  std::size_t result_bytes = 0;  // of new memory that stays
  std::size_t own_bytes = 0;     // of memory for what lives between kernels
  std::size_t least_bytes = 0;   // of that what is needed at one time: it could not be less

  std::vector<TurnedMemory> turned = {};

  std::size_t peak_bytes() const { return result_bytes + own_bytes; }
};
RunCost cost(const std::vector<Wanted>& wanted);

}  // namespace weft
