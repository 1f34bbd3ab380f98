// Whether a graph with open sizes means something for all of their values.
#pragma once

#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

// Sizes that an op wants to be equal are one expression once they are simplified, a RESHAPE keeps the number of elements,
// and a SHRINK stays inside of what it is of.
bool sizes_agree(const std::vector<UOp>& roots);

}  // namespace weft
