// The plans that were made, by what they depend on.
#pragma once

#include <memory>

#include <weft/dev/compile/extra_rules.h>

#include "resolve.h"
#include "run.h"

namespace weft {

// A look is at the plan for the graph's own sizes, and compiles nothing.
enum class Purpose : bool { Run, Look };

// The plan of the graph, which has variables in place of numbers and lengths from then on where the plan has. What it computes
// is what the graph computes.
std::shared_ptr<RunnablePlan> plan_for(Resolved& resolved,
                                       const std::shared_ptr<const ExtraRuleList>& extra,
                                       Purpose purpose);

}  // namespace weft
