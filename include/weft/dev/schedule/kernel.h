// Builds kernels from tensors. A kernel is one launch.
#pragma once

#include <string_view>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

// A value and the storage that it is stored to. The value has the same shape, or is a scalar that
// is stored to every element.
struct Output {
  UOp storage, value;
};

// Builds a kernel (a SINK) that stores each value in loops over all its elements. Outputs of equal
// shape share their loops. The values are still tensors; ranges_rules() push the indices into them.
UOp make_kernel(std::string_view name, const std::vector<Output>& outputs);

}  // namespace weft
