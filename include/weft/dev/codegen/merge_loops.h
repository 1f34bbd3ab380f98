#pragma once

#include <weft/dev/ir/uop.h>

namespace weft {

// Neighbouring loops that together walk along memory, in all that is read and written with them, as one
// loop. The dimensions of params and of STAGEs that they walk along become one as well, and so do the loops that fill the latter.
UOp merge_loops(const UOp& kernel);

}  // namespace weft
