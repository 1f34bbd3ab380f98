// A folder of its own for temporary files, gone with this. Those of processes that were killed go with the first folder of another.
#pragma once

#include <filesystem>
#include <string_view>

namespace weft {

class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;
};

}  // namespace weft
