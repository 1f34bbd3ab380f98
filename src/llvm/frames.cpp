// Symbols and debug information. A part of the module.

#include <string>

#include <llvm/DebugInfo/Symbolize/Symbolize.h>

#include "module.h"

namespace weft::module {
namespace {

using llvm::symbolize::LLVMSymbolizer;

LLVMSymbolizer& symbolizer() {
  static auto& one = *new LLVMSymbolizer([] {  // leaked on purpose
    LLVMSymbolizer::Options options;
    options.Demangle = false;
    return options;
  }());
  return one;
}

}  // namespace

void frames(const char* file, std::uint64_t address, WeftTakeFrame take, void* to) {
  auto found = symbolizer().symbolizeInlinedCode(
      std::string(file), {address, llvm::object::SectionedAddress::UndefSection});
  if (!found) {
    llvm::consumeError(found.takeError());
    return;
  }
  for (std::uint32_t i = 0; i < found->getNumberOfFrames(); ++i) {
    const llvm::DILineInfo& info = found->getFrame(i);
    const bool is_named = info.FunctionName != llvm::DILineInfo::BadString;
    const bool has_line = info.Line != 0;  // without debug information the file has no path
    const WeftLlvmFrame frame{.function = is_named ? info.FunctionName.c_str() : "",
                              .file = has_line ? info.FileName.c_str() : "",
                              .line = info.Line,
                              .offset = address - info.StartAddress.value_or(address)};
    take(to, &frame);
  }
}

}  // namespace weft::module
