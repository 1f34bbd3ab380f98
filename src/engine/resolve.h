// The graph of what is wanted, as scheduling wants it: values that are known already are the BUFFERs
// they were computed into, variables are free, and what the program adds to the compiler is done.
#pragma once

#include <optional>
#include <vector>

#include <weft/dev/compile/pipeline.h>
#include <weft/dev/engine/realize.h>
#include <weft/dev/schedule/plan.h>

namespace weft {

struct Resolved {
  std::vector<Root> roots;  // in the current arena
  // Of the shared graph, in the order in which toposort() meets them below the roots.
  std::vector<UOp> buffers, variables;
  std::vector<std::int64_t> values;  // of the variables
  // Where callers are noted, of each node below the roots, in that order. The roots' own nodes have the place in
  // this list as their origin: a plan is made of other graphs as well.
  std::vector<std::optional<Origin>> origins;
};

Resolved resolve(const std::vector<Wanted>& wanted, const PassOptions& options);

}  // namespace weft
