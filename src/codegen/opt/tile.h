#pragma once

#include <weft/dev/ir/node.h>

namespace weft {

// Whether nobody sees that an element which the loops store is computed twice.
bool may_store_twice(const Node* end);

}  // namespace weft
