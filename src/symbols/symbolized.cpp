#include <dlfcn.h>

#include <weft/dev/llvm/llvm.h>
#include <weft/error.h>

#include "symbols.h"

namespace weft {
namespace {

std::vector<Frame> by_llvm(const Frame& at) {
  std::vector<Frame> frames;
  for (LlvmFrame& found : llvm_frames(at.module, at.address)) {
    Frame& frame = frames.emplace_back(at);
    frame.function = std::move(found.function);
    frame.offset = found.offset;
    frame.file = std::move(found.file);
    frame.line = found.line;
  }
  return frames;
}

// The functions that modules offer to others, and no lines.
std::vector<Frame> by_linker(const void* code, const Frame& at) {
  Dl_info info;
  if (dladdr(code, &info) == 0 || info.dli_sname == nullptr) return {};
  Frame frame = at;
  frame.function = info.dli_sname;
  frame.offset = static_cast<std::uint64_t>(static_cast<const char*>(code) -
                                            static_cast<const char*>(info.dli_saddr));
  return {frame};
}

}  // namespace

std::vector<Frame> symbolized(const void* code, const Frame& at) {
  if (!has_llvm()) return by_linker(code, at);
  try {
    return by_llvm(at);
  } catch (const Error&) {  // it is not installed; who only wants to see where it is can do without
    return by_linker(code, at);
  }
}

}  // namespace weft
