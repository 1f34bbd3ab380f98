// Symbols and debug information by LLVM.

#include <llvm/DebugInfo/Symbolize/Symbolize.h>

#include "symbols.h"

namespace weft {
std::vector<Frame> symbolized(const void*, const Frame& at) {
  using llvm::symbolize::LLVMSymbolizer;
  static auto& symbolizer = *new LLVMSymbolizer([] {  // leaked on purpose
    LLVMSymbolizer::Options options;
    options.Demangle = false;
    return options;
  }());
  auto found = symbolizer.symbolizeInlinedCode(
      at.module, {at.address, llvm::object::SectionedAddress::UndefSection});
  std::vector<Frame> frames;
  if (!found) {
    llvm::consumeError(found.takeError());
    return frames;
  }
  for (std::uint32_t i = 0; i < found->getNumberOfFrames(); ++i) {
    const llvm::DILineInfo& info = found->getFrame(i);
    Frame& frame = frames.emplace_back(at);
    if (info.FunctionName != llvm::DILineInfo::BadString) frame.function = info.FunctionName;
    frame.offset = at.address - info.StartAddress.value_or(at.address);
    if (info.Line == 0) continue;  // without debug information the file has no path
    frame.file = info.FileName;
    frame.line = info.Line;
  }
  return frames;
}

}  // namespace weft
