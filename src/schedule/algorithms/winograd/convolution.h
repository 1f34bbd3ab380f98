// Recognises convolutions by the accesses of a kernel.
#pragma once

#include <optional>
#include <vector>

#include "algorithms/sum_kernel.h"

namespace weft {

// An axis of the window. The input is read at the sum of an output loop and a loop of the reduction
// (the tap), and the filter at the tap.
struct Axis {
  const Node *out, *tap;
  std::int64_t outputs() const { return iterations_of(out); }
  std::int64_t taps() const { return iterations_of(tap); }
};

// The parts of such a kernel.
struct Convolution : SumKernel {
  const Node *input, *filter;  // LOADs, which integer sums cast
  std::vector<Axis> axes;

  Ranges loops() const;                         // over the outputs
  Ranges channels() const;                      // loops of the sum that are not taps
  const Axis* axis_of(const Node* loop) const;  // null if it is of none
};

// Recognises convolutions of stride 1 in one or two dimensions, of f32 or of bytes summed in i32.
// Returns nothing for other kernels.
std::optional<Convolution> convolution_in(const UOp& kernel);

}  // namespace weft
