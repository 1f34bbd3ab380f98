// Fusion: decides which partition points are materialised, and in which kernels and at which
// compute sites the others are computed.
#pragma once

#include <vector>

#include "iteration_domain.h"

namespace weft {

struct Placement {
  enum Where { Memory, Inline, Stage };
  Where where = Memory;
  // For a stage: by dimension, whether a loop around the stage indexes it. The stage stores the
  // others.
  std::vector<bool> outside;
};

struct FusedKernel {
  std::vector<std::size_t> outputs, reads;  // materialised points
  Work work;
  double seconds;
};

struct Fusion {
  std::vector<Placement> placements;  // by point
  std::vector<FusedKernel> kernels;   // in execution order; copies are kernels too
};

Fusion fuse(const Partition& partition, const std::vector<IterationDomain>& domains,
            const Target& target);

}  // namespace weft
