// A coarse model of a device, by which the scheduler estimates kernels when it decides what to
// fuse.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/dev/device/mma.h>

namespace weft {

struct Profile {
  double flops = 30e9;      // operations per second and worker
  double bandwidth = 10e9;  // bytes per second between memory and all workers together
  double launch = 2e-6;     // seconds
  std::int64_t workers = 2;
  std::int64_t threads = 1;          // threads of a kernel on the actual machine
  bool fuses = true;                 // whether all devices have a fused multiply-add
  std::int64_t scratch = 512 << 10;  // bytes of scratch memory per worker
  // Limits of one kernel, so that code generation takes acceptable time and a launch can pass it.
  std::int64_t most_ops = 2000;
  std::int64_t most_params = 40;
  std::int64_t most_sums = 32;  // each has its own register tiles
  // Matrix instructions. Their factors stay in the types that they take.
  std::vector<MmaShape> mma = {};
};

// The work of all iterations of a kernel.
struct Work {
  double flops = 0, bytes = 0;
  double parallel = 1;  // how many workers can share it
};

double seconds(const Profile& profile, const Work& work);

}  // namespace weft
