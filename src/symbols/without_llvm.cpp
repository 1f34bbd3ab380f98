// Builds without LLVM know the functions that modules offer to others, and no lines.

#include <dlfcn.h>

#include "symbols.h"

namespace weft {

std::vector<Frame> symbolized(const void* code, const Frame& at) {
  Dl_info info;
  if (dladdr(code, &info) == 0 || info.dli_sname == nullptr) return {};
  Frame frame = at;
  frame.function = info.dli_sname;
  frame.offset = static_cast<std::uint64_t>(static_cast<const char*>(code) -
                                            static_cast<const char*>(info.dli_saddr));
  return {frame};
}

}  // namespace weft
