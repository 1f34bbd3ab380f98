// Which format an ending stands for.

#include <weft/state.h>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/error.h>
#include <weft/io.h>

namespace weft {
namespace {

struct Format {
  std::string_view ending;
  StateDict (*load)(const std::string& path, const std::string& device);
  void (*save)(const std::string& path, const StateDict& state);  // null where weft writes none
};

StateDict from_npz(const std::string& path, const std::string& device) {
  return load_npz(path, {.device = device});
}
StateDict from_gguf(const std::string& path, const std::string& device) {
  return load_gguf(path, device).tensors;
}
void to_npz(const std::string& path, const StateDict& state) { save_npz(path, state); }
void to_safetensors(const std::string& path, const StateDict& state) {
  save_safetensors(path, state);
}

constexpr Format formats[] = {
    {".safetensors", load_safetensors, to_safetensors},
    {".npz", from_npz, to_npz},
    {".pt", load_torch, nullptr},
    {".pth", load_torch, nullptr},
    {".bin", load_torch, nullptr},
    {".gguf", from_gguf, nullptr},
};

// Among those that can be used so.
const Format& format_of(const std::string& path, bool (*can)(const Format&)) {
  std::vector<std::string_view> endings;
  for (const Format& each : formats) {
    if (!can(each)) continue;
    if (path.ends_with(each.ending)) return each;
    endings.push_back(each.ending);
  }
  user_error(fmt::format("'{}' ends in none of {}", path, fmt::join(endings, ", ")));
}

}  // namespace

StateDict load_state(const std::string& path, const std::string& device) {
  const Called called;
  return format_of(path, [](const Format&) { return true; }).load(path, device);
}

void save_state(const std::string& path, const StateDict& state) {
  const Called called;
  format_of(path, [](const Format& each) { return each.save != nullptr; }).save(path, state);
}

}  // namespace weft
