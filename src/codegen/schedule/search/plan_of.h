#pragma once

#include <weft/dev/codegen/actions.h>
#include <weft/dev/cost/nest.h>

namespace weft {

// What the actions make of the nest, for the model alone: tails count as whole tiles, and a region as
// the loops that read it.
NestPlan plan_of(const Nest& nest, const Schedule& schedule);

}  // namespace weft
