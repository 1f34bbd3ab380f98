// A kernel that sums products along windows, by what it reads.
#pragma once

#include <optional>
#include <vector>

#include <weft/dev/ir/uop.h>

#include "algorithms/only_sum.h"

namespace weft {

// A loop of the outputs and one of the sum: what is convolved is read at their sum, and the filter at the latter.
struct Axis {
  const Node *out, *tap;
  std::int64_t outputs() const { return out->src(0)->lo(); }
  std::int64_t taps() const { return tap->src(0)->lo(); }
};

// The kernel, as far as this needs to know it.
struct Convolution {
  const Node *end, *store, *sum, *input,
      *filter;  // the latter are LOADs, which sums of integers convert
  std::vector<Axis> axes;

  Ranges loops() const;                         // of the outputs
  Ranges channels() const;                      // what is summed besides the windows
  const Axis* axis_of(const Node* loop) const;  // null where it is of none
};

// In one or two dimensions, of f32, or of bytes with sums of i32, whose neighbours lie beside each other; nothing for
// other kernels.
std::optional<Convolution> convolution_in(const UOp& kernel);

}  // namespace weft
