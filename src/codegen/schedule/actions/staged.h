// What a STAGE keeps.
#pragma once

#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

// A value over ranges of its own, and where in memory it goes.
struct Fill {
  UOp value;
  std::vector<UOp> ranges, at;
};

// A value with a dimension for each of its ranges, and where a reader finds it.
struct Staged {
  UOp value;
  std::vector<UOp> ranges;
  UOp valid = const_bool(true);
  std::vector<UOp> at = {};
  UOp otherwise = {};  // where it is not valid; null: 0
};

// Whether the same elements are read in each run of the kernel: neither memory nor a variable says which.
bool is_same_in_each_run(const Node* place);

}  // namespace weft
