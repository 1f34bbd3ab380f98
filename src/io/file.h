// Whole files.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace weft {

std::vector<std::byte> read_file(const std::string& op, const std::string& path);
void write_file(const std::string& op, const std::string& path, std::span<const std::byte> bytes);

}  // namespace weft
