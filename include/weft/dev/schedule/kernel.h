// Kernels: what runs as one launch.
#pragma once

#include <string_view>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

// A value and the storage that takes it: of the same shape, or a scalar for every element.
struct Output {
  UOp storage, value;
};

// A kernel (a SINK) that computes each value and stores it: loops over every element, those of equal
// shapes shared. The values are still tensors; ranges_rules() open them.
UOp make_kernel(std::string_view name, const std::vector<Output>& outputs);

}  // namespace weft
