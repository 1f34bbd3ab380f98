// STAGE by region, which has the dimensions of the param.
#pragma once

#include <vector>

#include <weft/dev/codegen/actions.h>

#include "staged.h"

namespace weft {

// Returns the bounding box of the indices that the loops inside reach.
Staged staged_by_region(const Action& action, const Node* value,
                        const std::vector<const Node*>& inside);

}  // namespace weft
