// A device as data: what it runs in parallel, its memories, and what its instructions cost. The
// search for schedules reads these numbers and nothing else, so that it can choose for a device which
// is not there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <weft/dev/ir/args.h>

namespace weft {

// One level of the hierarchy of workers, such as the threads of a CPU, or the work-groups and the
// work-items of a GPU.
struct ParallelLevel {
  LoopKind kind = LoopKind::Thread;  // of the loops whose iterations the workers take
  std::int64_t units = 1;  // workers that run at the same time, in one unit of the level around
  std::int64_t most = 0;   // iterations of all such loops together; 0: any number
  double start = 0;        // seconds until all have started, and the last one has been joined
};

// A cache, and the way to it from the level behind it. Behind the last one is memory.
struct MemorySpace {
  double bytes = 0;  // capacity
  double ways = 8;
  double bandwidth = 0;    // bytes per second that fill it, for one worker or for all that share it
  bool is_shared = false;  // by all workers of the device
};

// What the groups of a GPU share a multiprocessor by.
struct GroupLimits {
  std::int64_t lanes = 0;            // work-items of a warp, which run in lockstep; 0: no GPU
  std::int64_t resident_items = 0;   // work-items of a multiprocessor at the same time
  std::int64_t resident_groups = 0;  // work-groups, the same
  double registers = 0;              // of 32 bits, of a multiprocessor
  double registers_of_item = 255;
  double shared_bytes = 0;        // of a multiprocessor, for all of its work-groups
  double shared_of_group = 0;     // of one work-group
  double shared_bandwidth = 128;  // bytes per cycle and multiprocessor
  std::int64_t banks = 32;        // of 4 bytes
  double latency = 0;             // cycles until a load from memory arrives
  double sector = 32;             // bytes that a warp's load moves at least
};

struct DeviceModel {
  std::string name = {};
  double hertz = 3.7e9;
  std::vector<ParallelLevel> parallel = {{.start = 2e-6}};  // outermost first
  std::vector<MemorySpace> memory = {};                     // nearest first
  GroupLimits groups = {};

  int vector_bytes = 64;
  int registers = 32;      // vector registers
  double fma_ports = 1;    // vector operations that start in one cycle
  double fma_latency = 4;  // cycles until a dependent one can start
  double load_ports = 1;   // vector loads in one cycle
  double halves = 2;       // times as many of both, of vectors of half a register or less
  double issue = 5;        // instructions per cycle, of all kinds
  double line = 64;        // bytes that caches move
  double page = 4096;
  double pages = 64;           // that the TLB holds
  double page_miss = 8;        // cycles
  double line_miss = 12;       // cycles for a line that was not prefetched, with others in flight
  double streams = 16;         // rows that the hardware prefetches at the same time
  bool constants_stay = true;  // in the last cache, from one call to the next
  bool repeats = false;  // a kernel finds in the caches what its previous iteration left there

  // Whether it runs work-groups, whose work-items share memory.
  bool has_groups() const { return groups.lanes > 0; }

  int workers() const { return static_cast<int>(parallel[0].units); }
  double launch() const { return parallel[0].start; }
  double& launch() { return parallel[0].start; }
  void set_workers(std::int64_t count) { parallel[0].units = count; }
};

// The devices whose descriptions ship with weft: "h100", "orin-nx", ...
std::vector<std::string> known_models();
// Throws, naming those that there are, where it is none of these.
DeviceModel find_model(std::string_view name);

}  // namespace weft
