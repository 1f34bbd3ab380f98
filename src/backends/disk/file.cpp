#include "file.h"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>
#include <weft/error.h>

namespace weft::disk {
namespace {

[[noreturn]] void fail(std::string_view path, int error) {
  user_error(fmt::format("DISK: '{}': {}", path, std::generic_category().message(error)));
}

// Calls transfer(offset, bytes done) until all bytes are; it may do a part at a time. Returns how
// many it did: fewer where the file ended.
template <class Transfer>
std::size_t in_parts(std::string_view path, std::size_t bytes, const Transfer& transfer) {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t part = transfer(done);
    if (part < 0 && errno == EINTR) continue;
    if (part < 0) fail(path, errno);
    if (part == 0) break;
    done += static_cast<std::size_t>(part);
  }
  return done;
}

}  // namespace

File::File(std::string path, std::size_t bytes)
    : path_(std::move(path)),
      bytes_(bytes),
      descriptor_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0 && errno != ENOENT) fail(path_, errno);
}

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void File::want_bytes() const {
  struct stat found{};
  if (::fstat(descriptor_, &found) != 0) fail(path_, errno);
  if (static_cast<std::size_t>(found.st_size) < bytes_)
    user_error(fmt::format("DISK: '{}' has {} bytes, fewer than the {} of the tensor", path_,
                           found.st_size, bytes_));
}

void File::read(std::span<std::byte> to, std::size_t offset) const {
  if (descriptor_ < 0) fail(path_, ENOENT);
  want_bytes();
  const std::size_t done = in_parts(path_, to.size(), [&](std::size_t at) {
    return ::pread(descriptor_, to.data() + at, to.size() - at, static_cast<off_t>(offset + at));
  });
  if (done < to.size())
    user_error(fmt::format("DISK: '{}' was cut short while it was read", path_));
}

void File::create() {
  if (descriptor_ >= 0)
    user_error(fmt::format("DISK: '{}' is there already: tensors go to new files only", path_));
  descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (descriptor_ < 0) fail(path_, errno);
  created_ = true;
  // All of it now: where there is no room, that is known before anything is written.
  if (const int error = ::posix_fallocate(descriptor_, 0, static_cast<off_t>(bytes_)); error != 0) {
    ::unlink(path_.c_str());
    fail(path_, error);
  }
}

void File::write(std::span<const std::byte> from, std::size_t offset) {
  if (!created_) create();
  in_parts(path_, from.size(), [&](std::size_t at) {
    return ::pwrite(descriptor_, from.data() + at, from.size() - at,
                    static_cast<off_t>(offset + at));
  });
}

}  // namespace weft::disk
