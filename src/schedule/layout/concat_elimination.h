// What is joined of several values along an axis: each of them is stored at its place, where that saves a copy.
#pragma once

#include <weft/dev/schedule/plan.h>

namespace weft {

void eliminate_concats(Plan& plan);

}  // namespace weft
