// By readdir: the constructor of std::filesystem::directory_iterator that throws nothing ends the process where there is no memory.

#include <weft/dev/base/folder.h>

#include <dirent.h>

#include <cerrno>
#include <memory>
#include <string_view>

namespace weft {

std::vector<std::filesystem::path> paths_in(const std::filesystem::path& folder,
                                            std::error_code& error) {
  std::vector<std::filesystem::path> paths;
  const std::unique_ptr<DIR, int (*)(DIR*)> opened(::opendir(folder.c_str()), ::closedir);
  const auto note = [&] { error.assign(errno, std::generic_category()); };
  if (opened == nullptr) return note(), paths;
  error.clear();
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(opened.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") paths.push_back(folder / name);
  }
  if (errno != 0) note();
  return paths;
}

}  // namespace weft
