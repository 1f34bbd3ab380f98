// Who made what the steps of a plan store.
#pragma once

#include <string>
#include <vector>

#include <weft/dev/schedule/plan.h>

#include "resolve.h"

namespace weft {

// By step: the lines of the program, or the names it has, "conv1 ... relu1" where what the step computes was made under
// several. The graph is the one that is about to run: its plan may have been made of another. Empty where callers are
// not noted.
std::vector<std::string> step_callers(const Plan& plan, const Resolved& resolved);

}  // namespace weft
