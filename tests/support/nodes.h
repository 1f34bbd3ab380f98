// Lists of borrowed nodes, written in place.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

inline std::vector<const Node*> nodes_of(std::initializer_list<UOp> uops) {
  return nodes_of(std::span(uops.begin(), uops.size()));
}

}  // namespace weft
