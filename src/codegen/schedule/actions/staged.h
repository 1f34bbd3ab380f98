// Descriptions of staged values: how they are computed, stored and read.
#pragma once

#include <vector>

#include <weft/dev/codegen/actions.h>

namespace weft {

// A value over its own ranges, and the indices at which it is stored.
struct Fill {
  UOp value;
  std::vector<UOp> ranges, at;
};

// A value with one dimension per range, and the condition and indices under which it is read.
struct Staged {
  UOp value;
  std::vector<UOp> ranges;
  UOp valid = const_bool(true);
  std::vector<UOp> at = {};
  UOp otherwise = {};  // value where it is not valid; null: 0
};

// Returns a STAGE with the dimensions of the param: the bounding box of the indices that the loops
// inside reach.
Staged staged_by_region(const Action& action, const Node* value,
                        const std::vector<const Node*>& inside);

// Whether each run of the kernel accesses the same elements: the indices depend neither on memory
// nor on variables.
bool is_same_in_each_run(const Node* place);

}  // namespace weft
