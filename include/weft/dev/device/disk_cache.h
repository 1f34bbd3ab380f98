// Compiled code on disk, found by its content: what it was made from and with.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/dev/device/device.h>

namespace weft {

// A folder of entries, which any number of threads and processes share. Losing it, or not being able
// to write it, costs only time; an entry that is truncated or changed is no entry. Entries take about
// as much as the limit says, at most: those that were used least recently go first.
class DiskCache {
 public:
  static constexpr std::uint64_t no_limit = UINT64_MAX;
  static constexpr std::uint64_t default_limit = 1'000'000'000;

  // An empty folder keeps nothing. Without a limit, in bytes, it is the folder's.
  explicit DiskCache(std::filesystem::path folder, std::optional<std::uint64_t> limit = {})
      : folder_(std::move(folder)), limit_(limit) {}

  const std::filesystem::path& folder() const { return folder_; }
  void make_folder() const;  // with those above it, for this user alone

  // Marks what it finds as used.
  std::optional<std::string> find(std::string_view key) const;
  void keep(std::string_view key, std::string_view content) const;

  std::uint64_t limit() const;
  // The folder's, for all processes from now on.
  void set_limit(std::uint64_t bytes) const;

  struct Size {
    std::size_t entries = 0;
    std::uint64_t bytes = 0;
  };
  Size size() const;
  // Removes entries, the least recently used first, until no more bytes than that are left; also those
  // of earlier versions, which nobody finds. Says what it removed. Other files stay.
  Size trim(std::uint64_t most) const;

 private:
  std::filesystem::path file_of(std::string_view key) const;

  std::filesystem::path folder_;
  std::optional<std::uint64_t> limit_;
};

// Whether it is a file of this user's, which no other may write: what else is in the folder may be another's.
bool is_trusted(const std::filesystem::path& file);

// "500MB", "1.5 GB" (of 1000 MB), or "none"; null for other texts.
std::optional<std::uint64_t> parse_cache_limit(std::string_view text);

// The folder that CACHE_DIR names; by default weft in $XDG_CACHE_HOME, or in ~/.cache. It is empty for
// none. With a problem it is not used: code in it could be another user's.
struct CachePlace {
  std::filesystem::path folder;
  std::string problem = {};
};
CachePlace cache_place();

// What is there, up to CACHE_LIMIT. Where there is a problem, nothing is kept, and stderr says so once.
DiskCache disk_cache();

// Device::compile_all() of those sources that were not compiled before with the same compiler_key(),
// and the code of all.
std::vector<std::string> compile_cached(Device& device, std::span<const std::string> sources);

}  // namespace weft
