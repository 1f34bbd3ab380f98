// What may be done to the loops around stores.
#pragma once

#include <weft/dev/ir/node.h>

namespace weft {

// What an END repeats.
NodeList stores_of(const Node* end);

// Whether each element is put where indices say, and nothing that was read: in any order, then.
bool has_place_of_its_own(const Node* store);

// Whether nobody sees that an element which the loops store is computed twice.
bool may_store_twice(const Node* end);

// Whether the iterations of a loop write to places of their own: threads may share them.
bool may_share(const Node* end, const Node* range);

}  // namespace weft
