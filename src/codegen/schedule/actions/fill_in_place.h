// Memory of a kernel's own that is filled from other such memory, element for element, may be that memory.
#pragma once

#include <weft/dev/ir/uop.h>

namespace weft {

// The exponentials of scores, where nothing else reads the scores: half the memory, and half of it to bring into a cache.
UOp filled_in_place(const UOp& kernel);

}  // namespace weft
