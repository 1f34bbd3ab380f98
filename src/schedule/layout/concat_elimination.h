// Stores the parts of a concat directly at their places in its buffer, where that saves a copy.
#pragma once

#include <weft/dev/schedule/plan.h>

namespace weft {

void eliminate_concats(Plan& plan);

}  // namespace weft
