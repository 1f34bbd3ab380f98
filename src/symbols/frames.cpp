#include <weft/dev/symbols/frames.h>

#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>

#include <fmt/core.h>

#include "symbols.h"

namespace weft {
namespace {

std::string program() {
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  return size < 0 ? "program" : std::string(path, static_cast<std::size_t>(size));
}

// Programs and shared objects lie elsewhere in memory than their files say.
Frame located(const void* code) {
  static const std::string own = program();
  Frame frame;
  frame.address = reinterpret_cast<std::uintptr_t>(code);
  Dl_info info;
  link_map* map = nullptr;
  if (dladdr1(code, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0) return frame;
  frame.module = *map->l_name == '\0' ? own : map->l_name;
  frame.address -= map->l_addr;
  return frame;
}

std::string demangled(const std::string& function) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(function.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : function;
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

std::string Frame::str() const {
  if (!file.empty()) return fmt::format("{}:{}", file_name(file), line);
  if (!function.empty()) return fmt::format("{}+{:#x}", demangled(function), offset);
  return fmt::format("{}+{:#x}", file_name(module), address);
}

const std::vector<Frame>& frames_at(const void* return_address) {
  static std::mutex mutex;
  static auto& known = *new std::map<const void*, std::vector<Frame>>;  // leaked on purpose
  const std::lock_guard lock(mutex);
  std::vector<Frame>& frames = known[return_address];
  if (!frames.empty()) return frames;
  const void* call = static_cast<const char*>(return_address) - 1;  // what follows may be elsewhere
  const Frame at = located(call);
  frames = symbolized(call, at);
  if (frames.empty()) frames = {at};
  return frames;
}

}  // namespace weft
