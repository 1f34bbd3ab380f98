#include <weft/dev/device/disk_cache.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include <fmt/format.h>
#include <weft/dev/base/hash.h>
#include <weft/error.h>
#include <weft/settings.h>

#include "cache_files.h"

namespace weft {

namespace fs = std::filesystem;

namespace {

// An entry is a line, the key and the content. The key is in it since file names are only hashes; the
// line says how long both are and what they hash to.
std::string header_of(std::string_view key, std::string_view content) {
  return fmt::format("{}1 {} {} {:016x}\n", entry_mark, key.size(), content.size(),
                     hash_mix(hash_bytes(key), hash_bytes(content)));
}

// Whether the folder should be trimmed after so many more bytes: once for each step that is written, by
// all processes together, on average. Nobody has to keep count for others, since each process begins to
// count anywhere in a step.
bool is_trim_due(std::uint64_t bytes, std::uint64_t step) {
  static std::atomic<std::uint64_t> written = hash_mix(
      static_cast<std::uint64_t>(getpid()),
      static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()));
  const std::uint64_t before = written.fetch_add(bytes);
  return before / step != (before + bytes) / step;
}

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

fs::path default_folder() {
  const std::string cache = from_environment("XDG_CACHE_HOME"), home = from_environment("HOME");
  if (!cache.empty()) return fs::path(cache) / "weft";
  return home.empty() ? fs::path() : fs::path(home) / ".cache" / "weft";
}

// A program that root runs with a user's HOME must leave nothing there that the user cannot remove.
std::string why_not_made(const fs::path& folder) {
  std::error_code error;
  fs::path last = folder;
  while (!fs::exists(last, error) && last.has_relative_path()) last = last.parent_path();
  return why_not_owned(last);
}

std::optional<std::uint64_t> limit_set() {
  const std::string text = setting("CACHE_LIMIT");
  if (text.empty()) return std::nullopt;
  if (const auto limit = parse_cache_limit(text)) return limit;
  user_error(fmt::format("CACHE_LIMIT={}: expected a size, such as 500MB or 2GB, or none", text));
}

fs::path limit_file(const fs::path& folder) { return folder / "limit"; }

}  // namespace

fs::path DiskCache::file_of(std::string_view key) const {
  return entry_file(folder_, hash_bytes(key));
}

void DiskCache::make_folder() const { make_private_folder(folder_); }

std::optional<std::string> DiskCache::find(std::string_view key) const {
  if (folder_.empty()) return std::nullopt;
  std::optional<std::string> text = read_trusted(file_of(key));
  if (!text) return std::nullopt;
  const std::size_t start = text->find('\n') + 1 + key.size();
  if (start > text->size()) return std::nullopt;
  const std::string_view content = std::string_view(*text).substr(start);
  const std::string_view before = std::string_view(*text).substr(0, start);
  if (before != header_of(key, content) + std::string(key)) return std::nullopt;
  text->erase(0, start);
  return text;
}

// What takes more than half of the limit would cost too many others. It leaves a step for what is
// written until the folder is trimmed again; a step is not 0, as an entry is a block at least.
void DiskCache::keep(std::string_view key, std::string_view content) const {
  if (folder_.empty()) return;
  const std::string text = fmt::format("{}{}{}", header_of(key, content), key, content);
  const std::uint64_t most = limit(), bytes = bytes_on_disk(text.size()), step = most / 16;
  if (bytes > most / 2 || !write_whole(file_of(key), text)) return;
  if (is_trim_due(bytes, step)) trim(most - step);
}

std::uint64_t DiskCache::limit() const {
  if (limit_) return *limit_;
  const auto text = read_trusted(limit_file(folder_));
  return text ? parse_cache_limit(*text).value_or(default_limit) : default_limit;
}

void DiskCache::set_limit(std::uint64_t bytes) const {
  const std::string text = bytes == no_limit ? "none" : fmt::format("{}B", bytes);
  if (!write_whole(limit_file(folder_), text))
    user_error(fmt::format("{} cannot be written", limit_file(folder_).string()));
}

DiskCache::Size DiskCache::size() const {
  Size size;
  for (const CacheEntry& entry : entries_in(folder_)) {
    ++size.entries;
    size.bytes += entry.bytes;
  }
  return size;
}

DiskCache::Size DiskCache::trim(std::uint64_t most) const {
  std::vector<CacheEntry> entries = entries_in(folder_);
  std::ranges::sort(entries, {}, &CacheEntry::used);
  Size removed;
  std::uint64_t left = 0;
  for (const CacheEntry& entry : entries) left += entry.bytes;
  for (const CacheEntry& entry : entries) {
    if (most > 0 && left <= most && entry.used > 0) break;
    const bool is_removed = remove_entry(entry);
    std::error_code error;
    if (is_removed || !fs::exists(entry.file, error))
      left -= entry.bytes;  // another process may have removed it
    if (!is_removed) continue;
    ++removed.entries;
    removed.bytes += entry.bytes;
  }
  if (removed.entries > 0) remove_empty_folders(folder_);
  return removed;
}

std::optional<std::uint64_t> parse_cache_limit(std::string_view text) {
  if (text == "none") return DiskCache::no_limit;
  static constexpr std::pair<std::string_view, double> units[] = {
      {"b", 1}, {"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12}};
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string unit(end, text.data() + text.size());
  if (unit.starts_with(' ')) unit.erase(0, 1);
  std::ranges::transform(unit, unit.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto found = std::ranges::find(units, unit, &std::pair<std::string_view, double>::first);
  if (error != std::errc() || found == std::end(units)) return std::nullopt;
  const double bytes = number * found->second;
  constexpr double most = 1e18;
  if (!(bytes >= 1 && bytes <= most)) return std::nullopt;
  return static_cast<std::uint64_t>(bytes);
}

CachePlace cache_place() {
  const std::string set = setting("CACHE_DIR");
  if (set == "none") return {};
  fs::path folder = set.empty() ? default_folder() : fs::path(set);
  if (!folder.has_filename()) folder = folder.parent_path();
  if (folder.empty()) return {};
  Distrust found = distrust(folder);
  // Where groups are private, folders that they may write are usual: the default one is closed, not refused.
  if (set.empty() && !found.remedy.empty() && close_to_others(folder)) found = distrust(folder);
  if (set.empty() && found.reason.empty()) found.reason = why_not_made(folder);
  if (found.reason.empty()) return {folder};
  const std::string run =
      found.remedy.empty() ? "Set" : fmt::format("Run {}, or set", found.remedy);
  return {folder, fmt::format("the cache in {} is not used, since code from it would run: {}. {} "
                              "CACHE_DIR to another folder, or to none",
                              folder.string(), found.reason, run)};
}

DiskCache disk_cache() {
  const CachePlace place = cache_place();
  if (place.problem.empty()) return DiskCache(place.folder, limit_set());
  static std::once_flag is_said;
  std::call_once(is_said,
                 [&] { std::fputs(fmt::format("weft: {}\n", place.problem).c_str(), stderr); });
  return DiskCache({});
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
