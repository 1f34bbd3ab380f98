// How a long sum is added up: in blocks, and then their sums.
#pragma once

#include <utility>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

struct Cascade {
  std::vector<UOp> outer, inner;  // the loops around blocks and those within, outermost first
  std::vector<UOp> iterations;    // what stands for each of the ranges
  // The loops of what no block has, and what stands in a copy for each of those above.
  std::vector<UOp> rest;
  std::vector<std::pair<UOp, UOp>> places;
};

// Of a reduction over the ranges, outermost first. Without loops where it is short enough as it is.
Cascade cascade_of(NodeList ranges);

// The body of the blocks for the rest.
UOp rest_of(const UOp& body, const Cascade& cascade);

}  // namespace weft
