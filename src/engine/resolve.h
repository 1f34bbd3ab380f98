// The graph of what is wanted, as scheduling wants it: values that are known already are the BUFFERs
// they were computed into, variables are free, and what the program adds to the compiler is done.
#pragma once

#include <optional>
#include <set>
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
  // The ids of variables that the program does not know: its tensors have their values as sizes.
  std::set<std::uint64_t> lengths;
};

// One of the shared graph.
struct BoundVariable {
  UOp variable;
  std::int64_t value;
};
// Once the roots have these as well: all variables below them anew, in the order in which they are met.
void list_variables(Resolved& resolved, const std::vector<BoundVariable>& added);

Resolved resolve(const std::vector<Wanted>& wanted, const PassOptions& options);

}  // namespace weft
