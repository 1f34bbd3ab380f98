// What reading a program's symbols takes.
#pragma once

#include <weft/dev/symbols/frames.h>

namespace weft {

// Function, file and line of the frames at an address, of which module and address are known already.
// Nothing where nothing is known.
std::vector<Frame> symbolized(const void* code, const Frame& at);

}  // namespace weft
