#include <weft/dev/device/host_memory.h>

#include <algorithm>
#include <cstring>
#include <new>

#include <fmt/core.h>
#include <weft/error.h>

namespace weft {

void* HostMemory::allocate(std::size_t bytes) {
  void* memory =
      ::operator new(std::max<std::size_t>(bytes, 1), std::align_val_t{alignment}, std::nothrow);
  if (memory == nullptr) user_error(fmt::format("there is no room for {} bytes", bytes));
  return memory;
}

void HostMemory::release(void* memory, std::size_t) {
  ::operator delete(memory, std::align_val_t{alignment});
}

void HostMemory::copy_in(void* to, std::size_t offset, std::span<const std::byte> from) {
  std::memcpy(static_cast<std::byte*>(to) + offset, from.data(), from.size());
}

void HostMemory::copy_out(std::span<std::byte> to, const void* from, std::size_t offset) {
  std::memcpy(to.data(), static_cast<const std::byte*>(from) + offset, to.size());
}

}  // namespace weft
