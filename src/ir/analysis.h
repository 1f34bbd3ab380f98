// What is computed once for every new node: bounds and shape. (Hash and ranges: analysis.cpp.)
#pragma once

#include "node_table.h"

namespace weft {

struct BoundsResult {
  Interval interval;
  bool exact;  // the op's mathematical result always lies in the dtype
};

inline bool has_bounds(DType dtype) { return dtype.is_int() || dtype.is_bool(); }
BoundsResult compute_bounds(const NodeFields& fields);

// The shape of the node to be; null for a scalar. Counted interners: the caller owns one count.
const Node* compute_shape(const NodeFields& fields, Interner& interner);

}  // namespace weft
