// Blocked summation of long float sums: blocks are summed separately, then their sums are added.
#pragma once

#include <utility>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

struct BlockedSum {
  std::vector<UOp> outer, inner;  // loops over blocks and within one, outermost first
  std::vector<UOp> iterations;    // what replaces each of the ranges
  // The remainder, which fills no whole block: its loops, and what replaces each of the loops above
  // in its copy of the body.
  std::vector<UOp> rest;
  std::vector<std::pair<UOp, UOp>> places;
};

// Returns the blocked form of a reduction over the ranges, outermost first. It has no loops if the
// reduction is short enough as it is.
BlockedSum blocked_sum_of(NodeList ranges);

// Returns a copy of the blocks' body for the remainder loops.
UOp remainder_body(const UOp& body, const BlockedSum& cascade);

}  // namespace weft
