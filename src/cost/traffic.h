// What a nest of loops moves through each cache.
#pragma once

#include <vector>

#include <weft/dev/cost/nest.h>

namespace weft {

struct Traffic {
  double all = 0;        // lines
  double scattered = 0;  // of these: nothing reads them ahead
  double waiting = 0;    // that might have come until others are read ahead
};

// Nothing fetches runs as short as this ahead: a line of them is waited for, so many times as long as it
// takes to come.
constexpr double scattered_run = 256, scattered_wait = 10;

class Footprints;

// By level of the machine's caches.
std::vector<Traffic> traffic_of(const Machine& machine, const Nest& nest, const NestPlan& plan,
                                const Footprints& footprints);

// Until the addresses of pages are there.
double page_cycles(const Machine& machine, const Nest& nest, const NestPlan& plan,
                   const Footprints& footprints);

}  // namespace weft
