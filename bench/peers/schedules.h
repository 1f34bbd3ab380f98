// By which schedules a tensor's kernels are compiled.
#pragma once

#include <string>
#include <vector>

#include <weft/tensor.h>

namespace weft::bench {

// One text for each kernel: what a search has found, or else what the model chooses.
std::vector<std::string> schedules_of(const Tensor& result);

}  // namespace weft::bench
