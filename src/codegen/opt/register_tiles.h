#pragma once

#include <vector>

#include <weft/dev/device/target.h>

#include "option.h"

namespace weft {

// What stands in registers at once: those that seem best, the fastest first, by their times with what
// is not read lane by lane staged for nothing.
std::vector<Option> register_tiles(const Nest& nest, const Target& target);

}  // namespace weft
