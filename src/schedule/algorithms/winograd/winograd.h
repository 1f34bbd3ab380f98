// Winograd convolution: a form of a convolution that multiplies transformed tiles.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/kernel_form.h"

namespace weft {

struct FormLimits {
  std::int64_t outputs, error;   // most outputs of a tile along an axis; expected_error()
  double block_bytes;            // about the most that intermediate buffers of a block take
  std::int64_t threads;          // that share the rows of a block
  bool fuses, multiplies_words;  // has multiply-add; has an instruction that sums products of i16
};

// Returns all forms of a convolution within the limits; none for other kernels.
std::vector<KernelForm> winograd_forms(const UOp& kernel, const FormLimits& limits);

}  // namespace weft
