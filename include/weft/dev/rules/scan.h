// Reductions over all iterations up to where another loop is: running sums, products and extremes.
// As written they take n^2 steps; a loop that hands on what it has come to takes n.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

struct Scan {
  // How `last` grows with a loop around the reduction.
  struct Step {
    const Node* range;
    std::int64_t factor;
  };

  const Node* range;        // the reduction's
  UOp value;                // what is combined in each of its iterations
  bool rises;               // over the iterations up to `last`; else over those from it on
  UOp last;                 // a sum of multiples of ranges
  std::vector<Step> steps;  // these
};

// What a REDUCE of one range is a scan of: by each condition that limits its range, since of a
// value that changes with few loops several may. Empty where it is none.
std::vector<Scan> scans_of(const Node* reduce);
// The first of them.
std::optional<Scan> scan_of(const Node* reduce);

// How many terms of the scan come before those that a loop adds to it, at most: of a slice, what lies before it.
double terms_before(const Scan& scan);
// What a loop that hands the scan on computes in each iteration: what is new in it, combined with
// what there is.
UOp new_in_iteration(const Node* reduce, const Scan& scan);
// The same of all scans below: as many operations as their loops take, though not their values.
UOp with_scans_carried(UOp root);

}  // namespace weft
