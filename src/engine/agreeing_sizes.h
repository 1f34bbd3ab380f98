// Whether a graph with open sizes means something for all of their values.
#pragma once

#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

// Sizes that an op wants to be equal are one expression once they are simplified, and a RESHAPE keeps the number of elements.
bool sizes_agree(const std::vector<UOp>& roots);
// What may be negative for some of the values and must not: what a PAD adds, and what a SHRINK leaves out before and behind.
std::vector<UOp> sizes_below_zero(const std::vector<UOp>& roots);

}  // namespace weft
