// What tells this build of the library from others.
#pragma once

#include <string>

namespace weft {

// The id that the linker gave the program, or the library that this is in, by all of its code: what one build has kept is
// for itself. Empty where there is none.
const std::string& build_id();

}  // namespace weft
