// Schedules by work-groups for kernels of several nests, whatever their form.
#pragma once

#include <weft/dev/codegen/actions.h>

namespace weft {

// Work-groups take the loops that all nests stand in, as the rows of a softmax. The work-items of a
// group share each reduction, and then the last loop of what is stored.
Schedule shared_nests(const Node* kernel);

// Work-groups of one item each.
Schedule groups_alone(const Node* kernel);

}  // namespace weft
