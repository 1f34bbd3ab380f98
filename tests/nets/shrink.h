// A failing program made smaller, for as long as it fails.
#pragma once

#include <functional>

#include "program.h"

namespace nets {

Program shrink(const Program& program, const std::function<bool(const Program&)>& fails);

}  // namespace nets
