// A buffer: bytes on a device, allocated when first used and released with their last owner.
#pragma once

#include <memory>

#include <weft/dev/device/device.h>

namespace weft {

class Buffer {
 public:
  Buffer(Device& device, std::size_t bytes) : device_(device), bytes_(bytes) {}
  // Bytes that somebody else owns and keeps for as long as this lives, if need be by `owner`. A
  // device whose memory the program reaches uses them in place, others hold a copy.
  Buffer(Device& device, std::span<std::byte> bytes, std::shared_ptr<const void> owner = nullptr);
  // A part of another buffer.
  Buffer(const std::shared_ptr<Buffer>& whole, std::size_t offset, std::size_t bytes);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  Device& device() const { return device_; }
  std::size_t bytes() const { return bytes_; }
  bool is_allocated() const { return memory_ != nullptr; }

  Argument argument();
  void copy_in(std::span<const std::byte> from, std::size_t offset = 0);
  void copy_out(std::span<std::byte> to, std::size_t offset = 0);
  // As many bytes as this has, of a buffer on any device from `offset` on.
  void copy_from(Buffer& other, std::size_t offset = 0);

 private:
  void* memory();
  std::byte* address();  // where the device uses addresses
  void check_part(std::size_t offset, std::size_t bytes) const;

  Device& device_;
  std::size_t bytes_;
  void* memory_ = nullptr;
  std::size_t offset_ = 0;  // in the memory
  bool foreign_ = false;    // the memory is not the device's
  std::shared_ptr<const void> owner_;
};

}  // namespace weft
