// Recognises convolutions by the accesses of a kernel.
#pragma once

#include <optional>
#include <vector>

#include <weft/dev/ir/uop.h>

#include "algorithms/only_sum.h"

namespace weft {

// An axis of the window. The input is read at the sum of an output loop and a loop of the reduction
// (the tap), and the filter at the tap.
struct Axis {
  const Node *out, *tap;
  std::int64_t outputs() const { return out->src(0)->lo(); }
  std::int64_t taps() const { return tap->src(0)->lo(); }
};

// The parts of such a kernel.
struct Convolution {
  const Node *end, *store, *sum, *input,
      *filter;  // input and filter are LOADs, which integer sums cast
  std::vector<Axis> axes;

  Ranges loops() const;                         // over the outputs
  Ranges channels() const;                      // loops of the sum that are not taps
  const Axis* axis_of(const Node* loop) const;  // null if it is of none
};

// Recognises convolutions of stride 1 in one or two dimensions, of f32 or of bytes summed in i32.
// Returns nothing for other kernels.
std::optional<Convolution> convolution_in(const UOp& kernel);

}  // namespace weft
