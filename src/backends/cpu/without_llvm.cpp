// Builds without LLVM: clang is the only compiler.

#include <weft/error.h>

#include "compiler.h"

namespace weft::cpu {

bool has_llvm() { return false; }

const Compiler& llvm_compiler() { internal_error("this build has no LLVM"); }

std::unique_ptr<Code> load_object_file(std::string_view) {
  user_error("CPU: this code was made by LLVM, which this build was configured without");
}

}  // namespace weft::cpu
