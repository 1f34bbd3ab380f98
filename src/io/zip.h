// Zip archives in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <weft/dev/io/file.h>

namespace weft {

struct ZipMember {
  std::string name;
  std::span<const std::byte> packed;  // in the archive
  std::uint64_t method, size, sum;

  bool is_stored() const;                                   // `packed` is its bytes
  std::vector<std::byte> unpacked(const InFile& in) const;  // checked against its sum
};
std::vector<ZipMember> zip_members(std::span<const std::byte> archive, const InFile& in);

struct ZipEntry {
  std::string name;
  std::vector<std::byte> bytes;
};
std::vector<std::byte> zipped(const std::vector<ZipEntry>& entries, bool compressed);

}  // namespace weft
