// Which points get memory, and which kernel computes each of the others, and where in it.
#pragma once

#include <vector>

#include "iteration_domain.h"

namespace weft {

struct Placement {
  enum Where { Memory, Inline, Stage };
  Where where = Memory;
  // Of a STAGE: the dimensions whose index is a loop around it; the others have a place each in it.
  std::vector<bool> outside;
};

struct FusedKernel {
  std::vector<std::size_t> outputs, reads;  // points in memory
  Work work;
  double seconds;
};

struct Fusion {
  std::vector<Placement> placements;  // by point
  std::vector<FusedKernel> kernels;   // each after those that it reads from; copies are kernels too
};

Fusion fuse(const Partition& partition, const std::vector<IterationDomain>& domains,
            const Profile& profile);

}  // namespace weft
