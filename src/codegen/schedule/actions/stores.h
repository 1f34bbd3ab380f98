// Which transformations stores permit for the loops around them.
#pragma once

#include <weft/dev/ir/node.h>

namespace weft {

// The effects that an END repeats.
NodeList stores_of(const Node* end);

// Whether the indices are themselves loaded from memory.
bool has_loaded_indices(const Node* place);

// Whether the store does not accumulate and no index is loaded from memory. Such stores may run in
// any order.
bool is_plain_store(const Node* store);

// Whether the loops may compute and store an element twice without changing the result.
bool may_store_twice(const Node* end);

// Whether the iterations of a loop write to different elements, so that threads may share them.
bool writes_are_disjoint(const Node* end, const Node* range);

}  // namespace weft
