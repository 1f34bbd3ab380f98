// A STAGE with the dimensions of a param.
#pragma once

#include <vector>

#include <weft/dev/codegen/actions.h>

#include "staged.h"

namespace weft {

// From the least to the greatest index that the loops inside reach in each dimension.
Staged staged_by_region(const Action& action, const Node* value,
                        const std::vector<const Node*>& inside);

}  // namespace weft
