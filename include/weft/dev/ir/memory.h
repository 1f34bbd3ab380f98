// What a chain of AFTER and GETTUPLE hands on.
#pragma once

#include <weft/dev/ir/node.h>

namespace weft {

// The member that the GETTUPLE takes; null where it takes from something other than a TUPLE.
inline const Node* member_of(const Node* get) {
  const Node* list = get->src(0);
  const auto at = static_cast<std::size_t>(get->arg<PositionArg>().at);
  return list->op() == Op::Tuple && at < list->size() ? list->src(at) : nullptr;
}

// What has the memory that a place is in.
inline const Node* storage_of(const Node* place) {
  for (;;) {
    if (place->op() == Op::After) {
      place = place->src(0);
    } else if (place->op() == Op::GetTuple) {
      const Node* member = member_of(place);
      place = member != nullptr ? member : place->src(0);
    } else {
      return place;
    }
  }
}

}  // namespace weft
