// Makes a failing program small: the one that a person then reads.
#pragma once

#include <functional>

#include "program.h"

namespace weft {

// Takes away instructions, outputs, sizes and digits for as long as `fails` still holds, and patience
// does. Of programs that cannot be built `fails` may throw.
Script shrink(Script program, const std::function<bool(const Script&)>& fails, int tries = 2000);

}  // namespace weft
