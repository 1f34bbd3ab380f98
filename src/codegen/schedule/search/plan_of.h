// Translates a schedule into a plan of the cost model.
#pragma once

#include <weft/dev/codegen/actions.h>
#include <weft/dev/cost/nest.h>

namespace weft {

// Returns the plan that the actions make of a nest. It is exact enough for the cost model only:
// tails count as whole tiles, and the size of a region follows from the loops that read it.
NestPlan plan_of(const Nest& nest, const Schedule& schedule);

}  // namespace weft
