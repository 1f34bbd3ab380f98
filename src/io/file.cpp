#include <weft/dev/io/file.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/core.h>
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

NewFile::NewFile(const std::string& path) : in_{path} {
  static std::atomic<std::uint64_t> count = 0;
  std::error_code error;
  const fs::path there =
      fs::canonical(path, error);  // a link stays, and what it leads to is replaced
  target_ = error ? path : there.string();
  struct stat old{};
  const bool exists = ::stat(target_.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) in_.fail("it is there already, and no regular file");
  do {  // one may be left of a program that was killed, of the same number: in a container they return
    part_ = fmt::format("{}.{}.{}.part", target_, ::getpid(), ++count);
    descriptor_ = ::open(part_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) in_.fail_by_errno();
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
