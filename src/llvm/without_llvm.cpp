// Builds without LLVM.

#include <weft/dev/llvm/llvm.h>
#include <weft/error.h>

namespace weft {
namespace {

[[noreturn]] void none() { internal_error("this build has no LLVM"); }

}  // namespace

bool has_llvm() { return false; }
std::string llvm_problem() { none(); }
std::string_view llvm_version() { none(); }
LlvmProcessor llvm_host() { none(); }
std::string llvm_object(const std::string&, const LlvmProcessor&) { none(); }
std::string llvm_library(const std::vector<LlvmPart>&, const LlvmProcessor&) { none(); }
std::string llvm_archive(const std::string&, const std::string&) { none(); }
std::vector<LlvmFrame> llvm_frames(const std::string&, std::uint64_t) { none(); }

}  // namespace weft
