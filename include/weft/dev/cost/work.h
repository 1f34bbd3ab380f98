// The work of a kernel as fusion counts it, and the least time that a device needs for it.
#pragma once

#include <weft/dev/device/device_model.h>

namespace weft {

// Of all iterations of a kernel.
struct Work {
  double flops = 0, bytes = 0;
  double parallel = 1;  // how many workers can share it
};

// By one worker that fills its vectors, or the lanes of its warps.
double operations_per_second(const DeviceModel& machine);
// Between memory and all workers together.
double memory_bytes_per_second(const DeviceModel& machine);
// What a worker keeps near itself while others do the same: its part of the second level of caches.
double bytes_of_worker(const DeviceModel& machine);

// A launch, and computing beside the traffic with memory: whatever takes longer.
double seconds_of(const DeviceModel& machine, const Work& work);

}  // namespace weft
