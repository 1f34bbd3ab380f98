// What is kept on disk: plans, compiled code and measured speeds, an entry each, and found schedules.

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <weft/data.h>
#include <weft/dev/device/disk_cache.h>
#include <weft/dev/engine/tuning.h>
#include <weft/error.h>
#include <weft/settings.h>

#include "commands.h"
#include "input.h"
#include "json.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;

DiskCache found_cache() {
  const CachePlace place = cache_place();
  if (!place.problem.empty()) user_error(place.problem);
  if (place.folder.empty())
    user_error("there is no cache: CACHE_DIR is none, or there is no home folder");
  return disk_cache();
}

// 0 where another process has just removed it.
std::uintmax_t size_of(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  return error ? 0 : size;
}

struct Size {
  DiskCache::Size code;
  std::size_t tunings = 0;
  std::uintmax_t tuning_bytes = 0;
};

Size size_of(const DiskCache& cache) {
  return {.code = cache.size(),
          .tunings = has_tunings() ? count_tunings() : 0,
          .tuning_bytes = size_of(cache.folder() / "schedules.sqlite")};
}

std::string text_of(std::size_t count, const std::string& what, std::uintmax_t bytes) {
  return fmt::format("{}, {}", count_text(count, what), bytes_text(static_cast<double>(bytes)));
}

std::string limit_text(std::uint64_t limit) {
  return limit == DiskCache::no_limit ? "without a limit"
                                      : "of at most " + bytes_text(static_cast<double>(limit));
}

void print_size(const DiskCache& cache, bool json) {
  const Size size = size_of(cache);
  const std::uint64_t limit = cache.limit();
  if (json) {
    fmt::print(
        "{}\n",
        json_object({{"folder", json_text(cache.folder().string())},
                     {"entries", fmt::to_string(size.code.entries)},
                     {"entry_bytes", fmt::to_string(size.code.bytes)},
                     {"limit_bytes", limit == DiskCache::no_limit ? "null" : fmt::to_string(limit)},
                     {"tunings", fmt::to_string(size.tunings)},
                     {"tuning_bytes", fmt::to_string(size.tuning_bytes)}}));
    return;
  }
  fmt::print("{}\nplans, code and speeds: {} {}\nfound schedules: {}\n", cache.folder().string(),
             text_of(size.code.entries, "file", size.code.bytes), limit_text(limit),
             text_of(size.tunings, "kernel", size.tuning_bytes));
}

void set_limit(const DiskCache& cache, const std::string& text) {
  const auto limit = parse_cache_limit(text);
  if (!limit)
    user_error(fmt::format("--limit {}: expected a size, such as 500MB or 2GB, or none", text));
  cache.set_limit(*limit);
  cache.trim(cache.limit());
  if (cache.limit() != *limit)
    fmt::print(stderr, "weft: CACHE_LIMIT={} is in force, and not the limit that was set\n",
               setting("CACHE_LIMIT"));
}

void clear(const DiskCache& cache, bool tunings) {
  const DiskCache::Size removed = cache.trim(0);
  fmt::print("removed {} of plans, code and speeds\n",
             text_of(removed.entries, "file", removed.bytes));
  const std::size_t found = has_tunings() ? count_tunings() : 0;
  if (tunings && found > 0) clear_tunings();
  if (found > 0)
    fmt::print("{} found schedules of {}{}\n", tunings ? "removed" : "kept",
               count_text(found, "kernel"), tunings ? "" : "; --tunings removes them too");
}

void write(const std::string& file) {
  const std::size_t count = has_tunings() ? count_tunings() : 0;
  const std::string text = export_tunings();
  if (file == "-") {
    fmt::print("{}", text);
    return;
  }
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out) user_error(fmt::format("'{}' cannot be written", file));
  fmt::print("wrote found schedules of {} to {}\n", count_text(count, "kernel"), file);
}

void read(const std::string& file) {
  if (!fs::exists(file)) user_error(fmt::format("there is no file '{}'", file));
  const std::size_t count = import_tunings(load_text(file));
  if (count == 0) user_error(fmt::format("'{}' has no found schedules", file));
  fmt::print("read found schedules of {}\n", count_text(count, "kernel"));
}

}  // namespace

void run_cache(const CacheOptions& options) {
  const DiskCache cache = found_cache();
  if (!options.limit.empty()) set_limit(cache, options.limit);
  switch (options.what) {
    case CacheOptions::Size: print_size(cache, options.json); break;
    case CacheOptions::Clear: clear(cache, options.tunings); break;
    case CacheOptions::Export: write(options.file); break;
    case CacheOptions::Import: read(options.file); break;
  }
  flush_output();
}

}  // namespace weft::cli
