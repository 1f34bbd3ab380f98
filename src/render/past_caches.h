// Stores past the caches: what is larger than they are pushes out all else and is not there when it is
// read, and each of its lines would be read before it is written.
#pragma once

#include <weft/dev/ir/node.h>

namespace weft {

// Whether a store fills lines of memory, if its param begins with one, and the param is only written
// and larger than the caches.
bool goes_past_caches(const Node* store, std::size_t cache_bytes);

}  // namespace weft
