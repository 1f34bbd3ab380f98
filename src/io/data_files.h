// Files of data sets, plain or packed by gzip.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <weft/dev/io/file.h>

namespace weft {

std::vector<std::byte> read_data(const std::string& path);

bool has_data_file(const std::string& folder, const std::string& name);
// The path of the first of these names that is there, with .gz or without. Else the error says where they are
// published.
std::string data_file(const std::string& folder, const std::vector<std::string>& names,
                      std::string_view published);

}  // namespace weft
