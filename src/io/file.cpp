#include <weft/dev/io/file.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/core.h>
#include <weft/dev/base/folder.h>
#include <weft/error.h>

namespace weft {

namespace fs = std::filesystem;

void InFile::fail(std::string_view what) const { user_error(fmt::format("'{}': {}", path, what)); }

void InFile::fail_by_errno() const { fail(std::strerror(errno)); }

std::vector<std::byte> read_file(const std::string& path) {
  const InFile in{path};
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  if (file == nullptr) in.fail_by_errno();
  std::vector<std::byte> bytes;
  std::byte part[1 << 16];
  for (std::size_t count = sizeof part; count == sizeof part;) {
    count = std::fread(part, 1, sizeof part, file.get());
    bytes.insert(bytes.end(), part, part + count);
  }
  if (std::ferror(file.get()) != 0) in.fail_by_errno();
  return bytes;
}

void write_file(const std::string& path, std::span<const std::byte> bytes) {
  NewFile file(path);
  file.write(bytes);
  file.commit();
}

namespace {

constexpr std::string_view part_ending = ".part";

// As "x.npy.12.3.part" is one of x.npy.
bool is_part_of(std::string_view name, std::string_view target) {
  if (!name.starts_with(target) || !name.ends_with(part_ending)) return false;
  name.remove_prefix(target.size());
  name.remove_suffix(std::min(name.size(), part_ending.size()));
  return name.starts_with('.') && name.find_first_not_of(".0123456789") == std::string_view::npos;
}

void remove_if_left(const fs::path& part) {
  const int lock = ::open(part.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (lock < 0) return;
  if (::flock(lock, LOCK_EX | LOCK_NB) == 0) ::unlink(part.c_str());
  ::close(lock);
}

// Who writes a part has it locked until the process ends, however it does: the others were left by programs that were killed.
void remove_left_parts(const fs::path& target) {
  const std::string name = target.filename().string();
  const fs::path parent = target.parent_path();
  std::error_code unknown;
  for (const fs::path& path : paths_in(parent.empty() ? "." : parent, unknown))
    if (is_part_of(path.filename().string(), name)) remove_if_left(path);
}

// False where another process took it for one that was left.
bool is_locked_in_time(int descriptor) {
  struct stat info{};
  ::flock(descriptor, LOCK_EX);
  return ::fstat(descriptor, &info) != 0 || info.st_nlink > 0;
}

}  // namespace

NewFile::NewFile(const std::string& path) : in_{path} {
  static std::atomic<std::uint64_t> count = 0;
  std::error_code error;
  const fs::path there =
      fs::canonical(path, error);  // a link stays, and what it leads to is replaced
  target_ = error ? path : there.string();
  struct stat old{};
  const bool exists = ::stat(target_.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) in_.fail("it is there already, and no regular file");
  remove_left_parts(target_);
  for (bool is_own = false; !is_own;) {
    part_ = fmt::format("{}.{}.{}{}", target_, ::getpid(), ++count, part_ending);
    descriptor_ = ::open(part_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno == EEXIST) continue;  // another's: in containers numbers return
    if (descriptor_ < 0) in_.fail_by_errno();
    is_own = is_locked_in_time(descriptor_);
    if (!is_own) ::close(std::exchange(descriptor_, -1));
  }
  if (exists) ::fchmod(descriptor_, old.st_mode & 07777);
}

NewFile::~NewFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(part_.c_str());
}

void NewFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) in_.fail_by_errno();
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

// First the content has to be on the disk, then the name: in any other order a power failure could leave the
// new name without what it stands for.
void NewFile::commit() {
  if (::fsync(descriptor_) != 0) in_.fail_by_errno();
  if (::rename(part_.c_str(), target_.c_str()) != 0) in_.fail_by_errno();
  ::close(std::exchange(descriptor_, -1));
  const fs::path parent = fs::path(target_).parent_path();
  const int folder =
      ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;  // it may be written but not read: the name is then safe a little later
  ::fsync(folder);
  ::close(folder);
}

}  // namespace weft
