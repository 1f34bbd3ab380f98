#include <weft/dev/device/disk_cache.h>

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <optional>

#include <fmt/core.h>
#include <weft/dev/base/hash.h>
#include <weft/error.h>
#include <weft/settings.h>

namespace weft {

namespace fs = std::filesystem;

namespace {

// An entry is a line, the key and the content. The key is in it since file names are only hashes; the
// line says how long both are and what they hash to.
std::string header_of(std::string_view key, std::string_view content) {
  return fmt::format("weft 1 {} {} {:016x}\n", key.size(), content.size(),
                     hash_mix(hash_bytes(key), hash_bytes(content)));
}

std::optional<std::string> read_entry(const fs::path& file, std::string_view key) {
  std::error_code error;
  const auto size = fs::file_size(file, error);
  if (error) return std::nullopt;
  std::ifstream in(file, std::ios::binary);
  std::string text(size, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  const std::size_t start = text.find('\n') + 1 + key.size();
  if (!in || start > text.size()) return std::nullopt;
  const std::string_view content = std::string_view(text).substr(start);
  const std::string_view before = std::string_view(text).substr(0, start);
  if (before != header_of(key, content) + std::string(key)) return std::nullopt;
  text.erase(0, start);
  return text;
}

// Whole or not at all: written beside, then renamed.
void write_entry(const fs::path& file, std::string_view key, std::string_view content) {
  static std::atomic<std::uint64_t> count = 0;
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  const fs::path part = fmt::format("{}.{}.{}", file.string(), getpid(), ++count);
  std::ofstream out(part, std::ios::binary);
  out << header_of(key, content) << key << content;
  out.close();
  if (out) fs::rename(part, file, error);
  if (!out || error) fs::remove(part, error);
}

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

fs::path DiskCache::file_of(std::string_view key) const {
  return folder_ / fmt::format("{:016x}", hash_bytes(key));
}

std::optional<std::string> DiskCache::find(std::string_view key) const {
  return folder_.empty() ? std::nullopt : read_entry(file_of(key), key);
}

void DiskCache::keep(std::string_view key, std::string_view content) const {
  if (!folder_.empty()) write_entry(file_of(key), key, content);
}

DiskCache disk_cache() {
  if (const std::string folder = setting("CACHE_DIR"); !folder.empty())
    return DiskCache(folder == "none" ? fs::path() : fs::path(folder));
  const std::string cache = from_environment("XDG_CACHE_HOME"), home = from_environment("HOME");
  if (!cache.empty()) return DiskCache(fs::path(cache) / "weft");
  return DiskCache(home.empty() ? fs::path() : fs::path(home) / ".cache" / "weft");
}

std::vector<std::string> compile_cached(Device& device, std::span<const std::string> sources) {
  const DiskCache cache = disk_cache();
  const std::string compiler = device.compiler_key();
  const auto key_of = [&](const std::string& source) {
    return fmt::format("{}\n{}", compiler, source);
  };
  std::vector<std::string> code(sources.size()), missing;
  std::vector<std::size_t> places;  // of what is missing
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (auto found = cache.find(key_of(sources[i]))) {
      code[i] = *std::move(found);
    } else {
      missing.push_back(sources[i]);
      places.push_back(i);
    }
  }
  if (missing.empty()) return code;
  std::vector<std::string> made = device.compile_all(missing);
  if (made.size() != missing.size())
    internal_error(
        fmt::format("{} made {} programs of {}", device.name(), made.size(), missing.size()));
  for (std::size_t i = 0; i < made.size(); ++i) {
    cache.keep(key_of(missing[i]), made[i]);
    code[places[i]] = std::move(made[i]);
  }
  return code;
}

}  // namespace weft
