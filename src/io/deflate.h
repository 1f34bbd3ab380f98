// Deflate, as zip and gzip have it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <weft/dev/io/file.h>

namespace weft {

std::vector<std::byte> deflate(std::span<const std::byte> bytes);
std::vector<std::byte> inflate(std::span<const std::byte> packed, std::uint64_t size,
                               const InFile& in);

bool is_gzip(std::span<const std::byte> bytes);
// All members of a .gz file, one after the other.
std::vector<std::byte> gunzipped(std::span<const std::byte> file, const InFile& in);

}  // namespace weft
