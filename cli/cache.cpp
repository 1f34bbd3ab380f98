// What is kept on disk: plans, compiled code and measured speeds, an entry each, and found schedules.

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <weft/data.h>
#include <weft/dev/device/disk_cache.h>
#include <weft/dev/engine/tuning.h>
#include <weft/error.h>

#include "commands.h"
#include "input.h"
#include "json.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;

fs::path folder_of_cache() {
  fs::path folder = disk_cache().folder();
  if (folder.empty()) user_error("there is no cache: CACHE_DIR is none, or there is no home");
  return folder;
}

// The folder may be one that others use too: only files with such names are the cache's, and parts of
// them that a process left when it was killed.
bool is_entry(const fs::path& file) {
  const std::string name = file.filename().string();
  constexpr std::size_t digits = 16;
  const std::size_t end = std::min(name.find('.'), name.size());
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  const auto is_part = [](char c) { return c == '.' || (c >= '0' && c <= '9'); };
  return end == digits && std::all_of(name.begin(), name.begin() + digits, is_hex) &&
         std::all_of(name.begin() + digits, name.end(), is_part);
}

std::vector<fs::path> entries_in(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(folder, error))
    if (is_entry(file.path())) entries.push_back(file.path());
  return entries;
}

// 0 where another process has just removed it.
std::uintmax_t size_of(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  return error ? 0 : size;
}

struct Size {
  std::size_t entries = 0, tunings = 0;
  std::uintmax_t entry_bytes = 0, tuning_bytes = 0;
};

Size size_of_cache(const fs::path& folder) {
  Size size;
  for (const fs::path& entry : entries_in(folder)) {
    ++size.entries;
    size.entry_bytes += size_of(entry);
  }
  if (has_tunings()) size.tunings = count_tunings();
  size.tuning_bytes = size_of(folder / "schedules.sqlite");
  return size;
}

std::string text_of(std::size_t count, const std::string& what, std::uintmax_t bytes) {
  return fmt::format("{}, {}", count_text(count, what), bytes_text(static_cast<double>(bytes)));
}

void print_size(const fs::path& folder, bool json) {
  const Size size = size_of_cache(folder);
  if (json) {
    fmt::print("{}\n", json_object({{"folder", json_text(folder.string())},
                                    {"entries", fmt::to_string(size.entries)},
                                    {"entry_bytes", fmt::to_string(size.entry_bytes)},
                                    {"tunings", fmt::to_string(size.tunings)},
                                    {"tuning_bytes", fmt::to_string(size.tuning_bytes)}}));
    return;
  }
  fmt::print("{}\ncompiled code: {}\nfound schedules: {}\n", folder.string(),
             text_of(size.entries, "file", size.entry_bytes),
             text_of(size.tunings, "kernel", size.tuning_bytes));
}

void clear(const fs::path& folder, bool tunings) {
  std::size_t removed = 0;
  std::uintmax_t bytes = 0;
  for (const fs::path& entry : entries_in(folder)) {
    const std::uintmax_t size = size_of(entry);
    std::error_code error;
    if (!fs::remove(entry, error)) continue;
    ++removed;
    bytes += size;
  }
  fmt::print("removed {} of compiled code\n", text_of(removed, "file", bytes));
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
  const fs::path folder = folder_of_cache();
  switch (options.what) {
    case CacheOptions::Size: print_size(folder, options.json); break;
    case CacheOptions::Clear: clear(folder, options.tunings); break;
    case CacheOptions::Export: write(options.file); break;
    case CacheOptions::Import: read(options.file); break;
  }
  flush_output();
}

}  // namespace weft::cli
