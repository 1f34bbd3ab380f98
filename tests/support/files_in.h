// The regular files of a folder and of those in it.
#pragma once

#include <filesystem>
#include <vector>

namespace weft {

inline std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder))
    if (file.is_regular_file()) files.push_back(file.path());
  return files;
}

}  // namespace weft
