// Blocks of a maximum's trips that a comparison of places hides.
#pragma once

#include <weft/dev/ir/uop.h>

namespace weft {

// How many trips of a loop over blocks come before those in which all that the maximum is found of is minus infinity, in terms
// of the loops around it: at least one, at most all. Null where no comparison says so.
//
//   WHERE(i < 64 * block + j, -inf, x)   ->   (the most that i is) / 64 + 1
UOp trips_before_hidden(const Node* maximum, const Node* blocks, NodeList around);

}  // namespace weft
