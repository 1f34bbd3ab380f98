// Which loops may fill memory for several of their trips at once.
#pragma once

#include <vector>

#include <weft/dev/codegen/actions.h>

namespace weft {

// The beginnings of schedules, where sums of several trips read the same: as many rows of an attention's scores
// go through the keys together.
std::vector<Schedule> batches(const Node* kernel);

}  // namespace weft
