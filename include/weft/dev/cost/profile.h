// What a device can do, in numbers, and how long work takes by them. Schedules are chosen by this
// arithmetic alone.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/dev/device/mma.h>

namespace weft {

struct Profile {
  double flops = 30e9;      // per second and worker
  double bandwidth = 10e9;  // bytes per second between memory and all workers together
  double launch = 2e-6;     // seconds
  std::int64_t workers = 2;
  std::int64_t threads = 1;          // that a call of a kernel has, on the machine at hand
  bool fuses = true;                 // a product is added in one operation
  std::int64_t scratch = 512 << 10;  // bytes that a worker has for itself
  // Limits of one kernel: how much code generation is worth its time, and what a launch can carry.
  std::int64_t most_ops = 2000;
  std::int64_t most_params = 40;
  std::int64_t most_sums = 32;  // each has tiles of registers of its own
  std::vector<MmaShape> mma =
      {};  // products of matrices that are one instruction: sums take their factors as they are
};

// What a kernel does, all its iterations together.
struct Work {
  double flops = 0, bytes = 0;
  double parallel = 1;  // how many workers could share it
};

double seconds(const Profile& profile, const Work& work);

}  // namespace weft
