// LDEXP in LLVM's words.
#pragma once

#include <string>

#include "llvm_tiles.h"

namespace weft {

// By the instruction of AVX-512, which f32 has; in any number of lanes.
std::string llvm_scaled(DType dtype, const std::string& value, const std::string& exponent,
                        const WriteLine& write);

}  // namespace weft
