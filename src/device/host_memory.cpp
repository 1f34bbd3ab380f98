#include <weft/dev/device/host_memory.h>

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <new>

#include <fmt/core.h>
#include <weft/error.h>

#include "large_pages.h"

namespace weft {
namespace {

std::align_val_t alignment_for(std::size_t bytes) {
  return std::align_val_t{bytes >= 2 * LargePages::page ? LargePages::page : HostMemory::alignment};
}

// Never destroyed: tensors in static objects may be released after any destructor here. And made without asking for memory,
// of which there may be none: some are made when memory is given back.
template <class T, class... Arguments>
T& made_in_place(Arguments... arguments) {
  alignas(T) static std::byte place[sizeof(T)];
  static T& made = *new (place) T(arguments...);
  return made;
}

LargePages& large_pages() { return made_in_place<LargePages>(std::size_t{8} << 20); }

void to_system(void* memory, std::size_t bytes) { ::operator delete(memory, alignment_for(bytes)); }

// What is large lies in large pages where the system has them: fewer have to be made.
void* from_system(std::size_t bytes) {
  bytes = std::max<std::size_t>(bytes, 1);
  void* memory = ::operator new(bytes, alignment_for(bytes), std::nothrow);
  if (memory != nullptr && bytes >= 2 * LargePages::page) madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

// Large blocks that were released, for the next that are as large: from the system they would come
// page by page, each cleared when first touched, which takes longer than many kernels.
class Spare {
 public:
  static constexpr std::size_t least_bytes = std::size_t{256} << 10;

  void* take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(bytes);
    if (found == blocks_.end()) return nullptr;
    void* memory = found->second;
    blocks_.erase(found);
    bytes_ -= bytes;
    return memory;
  }

  bool keep(void* memory, std::size_t bytes) noexcept try {
    const std::lock_guard lock(mutex_);
    if (bytes < least_bytes || bytes > most_bytes_) return false;
    if (bytes_ + bytes > most_bytes_) clear();  // of sizes that are not asked for any more
    blocks_.emplace(bytes, memory);
    bytes_ += bytes;
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }

  void give_back() {
    const std::lock_guard lock(mutex_);
    clear();
  }

 private:
  void clear() {
    for (const auto& [bytes, memory] : blocks_) to_system(memory, bytes);
    blocks_.clear();
    bytes_ = 0;
  }

  static std::size_t eighth_of_memory() {
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0
               ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page) / 8
               : std::size_t{0};
  }

  std::mutex mutex_;
  std::multimap<std::size_t, void*> blocks_;
  std::size_t bytes_ = 0;
  const std::size_t most_bytes_ = std::min(eighth_of_memory(), std::size_t{2} << 30);
};

Spare& spare() { return made_in_place<Spare>(); }

}  // namespace

void* HostMemory::allocate(std::size_t bytes) {
  void* memory = spare().take(bytes);
  if (memory == nullptr) memory = from_system(bytes);
  if (memory == nullptr) {
    spare().give_back();
    memory = from_system(bytes);
  }
  if (memory == nullptr) user_error(fmt::format("there is no room for {} bytes", bytes));
  return memory;
}

void* HostMemory::allocate_lasting(std::size_t bytes) {
  void* memory = large_pages().take(bytes);
  return memory != nullptr ? memory : allocate(bytes);
}

void HostMemory::release(void* memory, std::size_t bytes) {
  if (!large_pages().give_back(memory, bytes) && !spare().keep(memory, bytes))
    to_system(memory, bytes);
}

void trim_host_memory() {
  spare().give_back();
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

void HostMemory::copy_in(void* to, std::size_t offset, std::span<const std::byte> from) {
  std::memcpy(static_cast<std::byte*>(to) + offset, from.data(), from.size());
}

void HostMemory::copy_out(std::span<std::byte> to, const void* from, std::size_t offset) {
  std::memcpy(to.data(), static_cast<const std::byte*>(from) + offset, to.size());
}

}  // namespace weft
