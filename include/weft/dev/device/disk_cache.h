// Compiled code on disk, found by its content: what it was made from and with.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/dev/device/device.h>

namespace weft {

// A folder of entries, which any number of threads and processes share. Losing it, or not being able
// to write it, costs only time; an entry that is truncated or changed is no entry.
class DiskCache {
 public:
  // An empty folder keeps nothing.
  explicit DiskCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  const std::filesystem::path& folder() const { return folder_; }
  std::optional<std::string> find(std::string_view key) const;
  void keep(std::string_view key, std::string_view content) const;

 private:
  std::filesystem::path file_of(std::string_view key) const;

  std::filesystem::path folder_;
};

// In the folder that CACHE_DIR names; by default weft in $XDG_CACHE_HOME, or in ~/.cache.
DiskCache disk_cache();

// Device::compile_all() of those sources that were not compiled before with the same compiler_key(),
// and the code of all.
std::vector<std::string> compile_cached(Device& device, std::span<const std::string> sources);

}  // namespace weft
