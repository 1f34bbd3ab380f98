#pragma once

#include <vector>

#include <weft/dev/device/target.h>

#include "option.h"

namespace weft {

// What stands in registers at once: those that seem best, the fastest first, by their times as they are
// and with what sums read by lanes staged for nothing.
std::vector<Option> register_tiles(const Nest& nest, const Target& target, bool is_ordered,
                                   Tail uneven);

}  // namespace weft
