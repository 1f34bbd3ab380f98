// The texts of a library: its header, and the function that calls its kernels in two languages.
#pragma once

#include <string>
#include <string_view>

#include "library.h"

namespace weft::exported {

std::string upper(std::string_view name);

// NAME.h, the same for all targets.
std::string header_text(const Library& library);

// What NAME.h declares, in C99 below the kernels, and in LLVM IR, for which kernels are functions of other modules.
std::string c_glue(const Library& library);
std::string llvm_glue(const Library& library);

// What it says of itself (weft_library.h), in the same languages, to stand below that.
std::string c_description(const Library& library);
std::string llvm_description(const Library& library);

}  // namespace weft::exported
