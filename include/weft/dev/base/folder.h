// What lies in a folder.
#pragma once

#include <filesystem>
#include <system_error>
#include <vector>

namespace weft {

// Files and folders in it, in any order; none, and why, where it cannot be read.
std::vector<std::filesystem::path> paths_in(const std::filesystem::path& folder,
                                            std::error_code& error);

}  // namespace weft
