// The files of a cache: whose they are, how they are read and written, and which are entries.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

// For this user alone, with those above it that are missing.
void make_private_folder(const std::filesystem::path& folder);

// Why code in a folder may be another user's, and what to do about it; both are empty where it cannot
// be, or where there is no folder.
struct Distrust {
  std::string reason = {}, remedy = {};
};
Distrust distrust(const std::filesystem::path& folder);
// Takes the right to write to it from all others.
bool close_to_others(const std::filesystem::path& folder);
// Why the folder is another user's; empty where it is this one's, or root's.
std::string why_not_owned(const std::filesystem::path& folder);

// The content of a file that no other user can have written, which is then marked as used: its time of
// modification becomes now, if that was an hour ago.
std::optional<std::string> read_trusted(const std::filesystem::path& file);

// Whole or not at all, for this user alone; makes the folder. False where it could not be written.
bool write_whole(const std::filesystem::path& file, std::string_view text);

struct CacheEntry {
  std::filesystem::path file;
  std::uint64_t bytes = 0;
  // In nanoseconds; 0 for an entry of earlier versions, which lies in the folder itself.
  std::int64_t used = 0;
};

// An entry is in the folder that the first two of its sixteen digits name.
std::filesystem::path entry_file(const std::filesystem::path& folder, std::uint64_t hash);
// Those of the folder by their names, and parts that a process left when it was killed.
std::vector<CacheEntry> entries_in(const std::filesystem::path& folder);
// False where it is no longer there, or is no file of weft's by its first bytes.
bool remove_entry(const CacheEntry& entry);
void remove_empty_folders(const std::filesystem::path& folder);

// What the first line of an entry begins with.
inline constexpr std::string_view entry_mark = "weft ";
// Of a file of so many bytes: whole blocks.
constexpr std::uint64_t bytes_on_disk(std::uint64_t size) {
  constexpr std::uint64_t block = 4096;
  return (size + block - 1) / block * block;
}

}  // namespace weft
