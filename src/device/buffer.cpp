#include <weft/dev/device/buffer.h>

#include <vector>

#include <fmt/core.h>
#include <weft/error.h>

namespace weft {

Buffer::Buffer(Device& device, std::span<std::byte> bytes, std::shared_ptr<const void> owner)
    : Buffer(device, bytes.size()) {
  if (device.allocator().uses_addresses()) {
    foreign_ = true;
    memory_ = bytes.data();
    owner_ = std::move(owner);
  } else {
    copy_in(bytes);
  }
}

Buffer::~Buffer() {
  if (memory_ != nullptr && !foreign_) device_.allocator().release(memory_, bytes_);
}

void* Buffer::memory() {
  if (memory_ == nullptr && !foreign_) memory_ = device_.allocator().allocate(bytes_);
  return memory_;
}

Argument Buffer::argument() { return {memory(), 0, bytes_}; }

void Buffer::check_part(std::size_t offset, std::size_t bytes) const {
  if (offset > bytes_ || bytes > bytes_ - offset)
    user_error(fmt::format("{} bytes at {} of a buffer of {}", bytes, offset, bytes_));
}

void Buffer::copy_in(std::span<const std::byte> from, std::size_t offset) {
  check_part(offset, from.size());
  if (!from.empty()) device_.allocator().copy_in(memory(), offset, from);
}

void Buffer::copy_out(std::span<std::byte> to, std::size_t offset) {
  check_part(offset, to.size());
  if (!to.empty()) device_.allocator().copy_out(to, memory(), offset);
}

void Buffer::copy_from(Buffer& other) {
  if (other.bytes_ != bytes_)
    user_error(fmt::format("a buffer of {} bytes cannot take {}", bytes_, other.bytes_));
  std::vector<std::byte> bytes(bytes_);
  other.copy_out(bytes);
  copy_in(bytes);
}

}  // namespace weft
