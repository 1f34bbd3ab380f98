#include <weft/dev/base/temporary_folder.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>

#include <fmt/core.h>
#include <weft/dev/base/folder.h>
#include <weft/error.h>

namespace weft {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view beginning = "weft-temporary-", drawn = "XXXXXX";

// A folder is locked by the process that has it, until that ends, however it does.
int open_to_lock(const fs::path& folder) {
  return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

void remove_if_left(const fs::path& folder) {
  struct stat info{};
  if (::lstat(folder.c_str(), &info) != 0 || info.st_uid != ::geteuid()) return;
  const int lock = open_to_lock(folder);
  if (lock < 0) return;
  std::error_code ignored;
  if (::flock(lock, LOCK_EX | LOCK_NB) == 0) fs::remove_all(folder, ignored);
  ::close(lock);
}

// Those of programs that were killed.
void remove_left(const fs::path& parent) {
  std::error_code unknown;
  for (const fs::path& path : paths_in(parent, unknown)) {
    const std::string name = path.filename().string();
    if (name.size() == beginning.size() + drawn.size() && name.starts_with(beginning))
      remove_if_left(path);
  }
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) user_error(fmt::format("there is no folder for temporary files: {}", error.message()));
  static std::once_flag is_clean;
  std::call_once(is_clean, [&] { remove_left(parent); });
  do {  // another process may take it for one that was left, before it is locked
    std::string name = (parent / fmt::format("{}{}", beginning, drawn)).string();
    if (mkdtemp(name.data()) == nullptr)
      user_error(fmt::format("{} cannot be created: {}", name, std::strerror(errno)));
    path_ = name;
    if (lock_ >= 0) ::close(lock_);
    lock_ = open_to_lock(path_);
    if (lock_ >= 0) ::flock(lock_, LOCK_EX);
  } while (!fs::exists(path_, error));
}

TemporaryFolder::~TemporaryFolder() {
  try {
    fs::remove_all(path_);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // It goes with the first folder of another process.
  }
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace weft
