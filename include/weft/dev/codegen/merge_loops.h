// Merges adjacent loops that together access memory contiguously.
#pragma once

#include <weft/dev/ir/uop.h>

namespace weft {

// Merges adjacent loops that index adjacent dimensions in all their accesses, of which the inner
// loop covers the second completely. The dimensions of params and STAGEs are merged as well, and so
// are the loops that fill these STAGEs.
UOp merge_loops(const UOp& kernel);

}  // namespace weft
