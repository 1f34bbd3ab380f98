// Memory of the process itself, for devices that run in it.
#pragma once

#include <weft/dev/device/device.h>

namespace weft {

class HostMemory final : public Allocator {
 public:
  static constexpr std::size_t alignment = 64;

  void* allocate(std::size_t bytes) override;
  void* allocate_lasting(std::size_t bytes) override;
  void release(void* memory, std::size_t bytes) override;
  void copy_in(void* to, std::size_t offset, std::span<const std::byte> from) override;
  void copy_out(std::span<std::byte> to, const void* from, std::size_t offset) override;
  bool uses_addresses() const override { return true; }
};

// What is free goes back to the system, as far as it lies in whole pages: blocks that were released and are kept
// for the next, and what compiling needed.
void trim_host_memory();

}  // namespace weft
