// Loops of a few instructions each, as LLVM IR: what an iteration takes shows how fast a processor
// is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <weft/dev/device/device_model.h>

namespace weft::cpu {

// What each of them is. Only reads use the mask: they begin again where an offset would have more
// bits.
using SpeedLoop = void (*)(std::byte* memory, std::int64_t mask, std::int64_t iterations);

// Chains of instructions, each of which waits for the one before: an iteration does so many steps
// of each.
struct Chains {
  const char* name;
  int count, steps;

  std::int64_t instructions() const { return std::int64_t{count} * steps; }
};
Chains clock_chain();    // of integers, a cycle each
Chains latency_chain();  // of multiply-adds; of additions where there are none
Chains port_chains(const DeviceModel& machine);  // the same, as many as there are registers for
Chains half_chains(const DeviceModel& machine);  // and of half the lanes

// "reads": of vectors that lie side by side, so many bytes in an iteration.
std::int64_t bytes_of_iteration(const DeviceModel& machine);

std::string speed_loops(const DeviceModel& machine, bool has_fma);

}  // namespace weft::cpu
