// Which frames are the program's.

#include <filesystem>
#include <string_view>

#include <fmt/core.h>
#include <weft/dev/symbols/frames.h>

namespace weft {
namespace {

bool is_source_of_library(const std::string& file) {
  const std::string path = std::filesystem::path(file).lexically_normal();
  return path.starts_with(WEFT_SOURCE_DIR "/src/") || path.find("/include/weft/") != path.npos;
}

// Whether a linker's name is that of something in the namespace, which is given as it is encoded.
bool is_in(std::string_view space, std::string_view function) {
  if (!function.starts_with("_Z")) return false;
  const std::size_t name = function.find_first_not_of("ZNKVRO", 2);
  return name != function.npos && function.substr(name).starts_with(space);
}

bool is_unknown(const Frame& frame) { return frame.file.empty() && frame.function.empty(); }

}  // namespace

bool is_of_library(const Frame& frame) {
  if (is_in("St", frame.function)) return true;
  if (!frame.file.empty()) return is_source_of_library(frame.file);
  if (is_in("4weft", frame.function)) return true;
  static const std::string own =
      frames_at(reinterpret_cast<void*>(&is_source_of_library))[0].module;
  return WEFT_IS_SHARED && frame.module == own;
}

std::string caller_of_library(const std::vector<const void*>& stack) {
  std::string unknown;
  for (const void* address : stack)
    for (const Frame& frame : frames_at(address)) {
      if (is_of_library(frame)) continue;
      if (!is_unknown(frame)) return unknown.empty() ? frame.str() : unknown;
      unknown += unknown.empty() ? frame.str() : fmt::format(" {:#x}", frame.address);
    }
  return unknown;
}

}  // namespace weft
