#include <weft/dev/cost/work.h>

#include <algorithm>

namespace weft {
namespace {

constexpr double bytes_of_operand = 4;
// Of a device that says nothing of its memory.
constexpr double assumed_bandwidth = 10e9, assumed_bytes = 512 << 10;

}  // namespace

double operations_per_second(const DeviceModel& machine) {
  const double lanes = machine.has_groups()
                           ? static_cast<double>(machine.groups.lanes)
                           : std::max(1.0, machine.vector_bytes / bytes_of_operand);
  return machine.hertz * machine.fma_ports * lanes;
}

double memory_bytes_per_second(const DeviceModel& machine) {
  if (machine.memory.empty()) return assumed_bandwidth;
  const MemorySpace& last = machine.memory.back();
  return last.bandwidth * (last.is_shared ? 1 : machine.workers());
}

double bytes_of_worker(const DeviceModel& machine) {
  if (machine.memory.empty()) return assumed_bytes;
  const MemorySpace& level = machine.memory[std::min<std::size_t>(1, machine.memory.size() - 1)];
  return level.bytes / (level.is_shared ? machine.workers() : 1);
}

double seconds_of(const DeviceModel& machine, const Work& work) {
  const double workers = std::clamp(work.parallel, 1.0, static_cast<double>(machine.workers()));
  const double computing = work.flops / (operations_per_second(machine) * workers);
  return machine.launch() + std::max(computing, work.bytes / memory_bytes_per_second(machine));
}

}  // namespace weft
