#include "data_files.h"

#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/data.h>

#include "deflate.h"

namespace weft {
namespace {

constexpr std::string_view endings[] = {"", ".gz"};

std::string path_of(const std::string& folder, const std::string& name) {
  for (const std::string_view ending : endings) {
    const std::string path = fmt::format("{}/{}{}", folder, name, ending);
    if (std::error_code error; std::filesystem::is_regular_file(path, error)) return path;
  }
  return {};
}

}  // namespace

std::vector<std::byte> read_data(const std::string& path) {
  std::vector<std::byte> bytes = read_file(path);
  return is_gzip(bytes) ? gunzipped(bytes, {path}) : bytes;
}

bool has_data_file(const std::string& folder, const std::string& name) {
  return !path_of(folder, name).empty();
}

std::string data_file(const std::string& folder, const std::vector<std::string>& names,
                      std::string_view published) {
  for (const std::string& name : names)
    if (std::string path = path_of(folder, name); !path.empty()) return path;
  InFile{folder}.fail(fmt::format("there is no {} in it, neither plain nor as .gz: {}",
                                  fmt::join(names, " or "), published));
}

std::string load_text(const std::string& path) {
  const Called called;
  const std::vector<std::byte> bytes = read_data(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace weft
