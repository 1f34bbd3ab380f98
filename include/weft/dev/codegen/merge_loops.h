#pragma once

#include <weft/dev/ir/uop.h>

namespace weft {

// Neighbouring loops that together walk along memory, in all that is read and written with them, as one
// loop. The dimensions of params that they walk along become one as well.
UOp merge_loops(const UOp& kernel);

}  // namespace weft
