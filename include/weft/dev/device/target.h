// Target: what a device can do, as data. Passes that lower a kernel read it.
#pragma once

#include <cstddef>
#include <vector>

#include <weft/dev/device/device_model.h>
#include <weft/dev/device/mma.h>
#include <weft/dev/ir/kind_set.h>
#include <weft/dev/ir/op.h>

namespace weft {

struct Target {
  // Kernels become programs first: loops in order, flat indices, chosen widths. Otherwise the device
  // takes them as they were scheduled, like the reference.
  bool lowered = false;
  OpSet ops = {};         // the elementwise ops it has
  KindSet kinds = {};     // the scalars it computes in; others only lie in memory
  KindSet converts = {};  // and of those, what is cast from and to f32 by an instruction
  // What f32 is rounded to by an instruction that takes denormals as zero: beside products of it that do so too.
  KindSet rounds = {};
  int vector_bytes = 0;            // of a vector register; 0 where values are scalars
  std::vector<MmaShape> mma = {};  // products of matrices that are one instruction
  std::size_t scratch_bytes = std::size_t{1} << 20;  // memory of its own that a kernel may have
  int workers = 1;                                   // how many run at the same time
  DeviceModel machine = {};                          // where schedules are chosen: by these numbers
};

}  // namespace weft
