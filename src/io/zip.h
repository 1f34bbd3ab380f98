// Zip archives in memory.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft {

struct ZipEntry {
  std::string name;
  std::vector<std::byte> bytes;
};

// All entries, checked against their sums. `op` and `path` are what errors speak of.
std::vector<ZipEntry> unzipped(std::span<const std::byte> archive, const std::string& op,
                               const std::string& path);
std::vector<std::byte> zipped(const std::vector<ZipEntry>& entries, bool compressed);

}  // namespace weft
