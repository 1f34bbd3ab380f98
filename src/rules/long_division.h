// Division by sizes that are no constants.
#pragma once

#include "assume.h"

namespace weft {

// x // n or x % n, of an n that is no constant: where it is shown between which multiples of n x lies.
// Null elsewhere.
UOp long_division(const Node* root, const Assumptions* assumptions);

}  // namespace weft
