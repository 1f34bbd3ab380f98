// A processor in numbers: what the model of kernels reads instead of asking the hardware.
#pragma once

#include <cstdint>
#include <vector>

namespace weft {

// A cache and the way to it from the level behind it. The last level is the memory.
struct CacheLevel {
  double bytes = 0;  // that it holds; the memory holds everything
  double ways = 8;
  double bandwidth = 0;    // bytes per second between it and one worker's registers or next level
  bool is_shared = false;  // by all workers: so is its bandwidth
};

struct Machine {
  double hertz = 3.7e9;
  int workers = 1;
  int vector_bytes = 64;
  int registers = 32;      // of vectors
  double fma_ports = 1;    // vector operations that begin in one cycle
  double fma_latency = 4;  // cycles until the next in a chain begins
  double load_ports = 1;   // vector reads in one cycle
  double halves = 2;       // times as many of both where they take half a register or less
  double issue = 5;        // instructions per cycle, of all kinds
  double line = 64;        // bytes that caches move
  double page = 4096;
  double pages = 64;      // whose addresses are at hand
  double page_miss = 8;   // cycles for another
  double line_miss = 12;  // cycles for a line that nothing announced, others on the way beside it
  double streams = 16;    // rows side by side, whose next lines are announced by those before
  double launch = 2e-6;   // seconds until all workers are at it
  bool constants_stay = true;  // in the last cache, from one call to the next
  bool repeats =
      false;  // a kernel finds in the caches what it has left there in the iteration before
  std::vector<CacheLevel> levels;
};

}  // namespace weft
