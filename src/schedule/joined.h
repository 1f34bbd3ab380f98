// What is joined of several values along an axis: each of them is stored at its place, where that saves a copy.
#pragma once

#include <weft/dev/schedule/plan.h>

namespace weft {

void store_joined_in_parts(Plan& plan);

}  // namespace weft
