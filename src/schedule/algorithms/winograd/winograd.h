// A sum of products along windows, such as a convolution of 3 x 3, as sums of products of transformed tiles: a form of
// a kernel, in several kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/kernel_form.h"

namespace weft {

// Outputs of a tile along an axis, the rounding error of its sums (`expected_error`), and the bytes between the kernels of a form
// in bands, about, at most; threads that share the rows of a band; whether a product is added in one operation, and whether an
// instruction adds up products of i16: what is made of bytes fits into these.
struct FormLimits {
  std::int64_t outputs, error;
  double block_bytes;
  std::int64_t threads;
  bool fuses, multiplies_words;
};

// All there are within the limits, for kernels of this kind; none for others.
std::vector<KernelForm> winograd_forms(const UOp& kernel, const FormLimits& limits);

}  // namespace weft
