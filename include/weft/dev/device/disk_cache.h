// Compiled code on disk, found by its content: what it was made from and with.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include <weft/dev/device/device.h>

namespace weft {

// A folder of entries, which any number of threads and processes share. Losing it, or not being able
// to write it, costs only time; an entry that is truncated or changed is no entry.
class DiskCache {
 public:
  // An empty folder keeps nothing.
  explicit DiskCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // The entry; where there is none, what `make` gives, which becomes it.
  std::string get(std::string_view key, const std::function<std::string()>& make) const;

 private:
  std::filesystem::path folder_;
};

// In the folder that CACHE_DIR names; by default weft in $XDG_CACHE_HOME, or in ~/.cache.
DiskCache disk_cache();

// Device::compile(), unless the same source was compiled before with the same compiler_key().
std::string compile_cached(Device& device, std::string_view source);

}  // namespace weft
