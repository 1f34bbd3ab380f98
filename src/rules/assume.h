// What a condition says about sums, and bounds that use it.
#pragma once

#include "sum.h"

namespace weft {

// `sum < limit`, or `sum >= limit`: how rules read comparisons of integers. The sum has no
// constant.
struct Comparison {
  Sum sum;
  std::int64_t limit;
  bool upper;  // sum < limit

  // Of CMPLT with a constant on one side, and of its negation.
  static std::optional<Comparison> of(const Node* condition);
  // Of any CMPLT between sums: everything is brought to one side.
  static std::optional<Comparison> of_difference(const Node* condition);
  UOp build(DType dtype) const;  // null where the sum could wrap
};

// The conditions that hold together where an expression is used: the context of a rewrite.
struct Assumptions {
  struct Fact {
    Sum sum;  // without constant
    Interval interval;
  };
  std::vector<Fact> facts;

  explicit Assumptions(const std::vector<const Node*>& conditions);

  // Replaces terms that together can only have one value by that value. Whether there were any.
  bool pin(Sum& sum) const;
};

// The values the sum can take, given what is assumed (may be null).
Interval bounds_of(const Sum& sum, const Assumptions* assumptions);

}  // namespace weft
