// Builds without LLVM: clang is the only compiler.

#include <weft/error.h>

#include "compiler.h"

namespace weft::cpu {

bool has_llvm() { return false; }

const Compiler& llvm_compiler(const Processor&) { internal_error("this build has no LLVM"); }

}  // namespace weft::cpu
