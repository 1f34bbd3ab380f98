// The memory traffic of a loop nest through each cache level.
#pragma once

#include <vector>

#include <weft/dev/cost/nest.h>

namespace weft {

struct Traffic {
  double all = 0;        // lines that come in
  double scattered = 0;  // of these, lines that the prefetcher does not fetch
  double waiting = 0;    // waits until the prefetcher starts, in lines
};

// The prefetcher does not fetch runs of fewer bytes than this. Each of their lines is waited for,
// so many times as long as its transfer takes.
constexpr double scattered_run = 256, scattered_wait = 10;

class Footprints;

// Returns the traffic of each cache level of the machine.
std::vector<Traffic> traffic_of(const DeviceModel& machine, const Nest& nest, const NestPlan& plan,
                                const Footprints& footprints);

// Returns the cycles of all TLB misses.
double page_cycles(const DeviceModel& machine, const Nest& nest, const NestPlan& plan,
                   const Footprints& footprints);

}  // namespace weft
