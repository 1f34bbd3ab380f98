// Memory that ends where nothing may be touched: reading or writing behind it ends the process.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <span>

namespace weft {

class Guarded {
 public:
  explicit Guarded(std::size_t bytes) : bytes_(bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    inside_ = (bytes + page - 1) / page * page;
    whole_ = inside_ + 2 * page;
    memory_ = mmap(nullptr, whole_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) std::abort();
    begin_ = static_cast<std::byte*>(memory_) + page;
    if (inside_ > 0 && mprotect(begin_, inside_, PROT_READ | PROT_WRITE) != 0) std::abort();
  }
  ~Guarded() { munmap(memory_, whole_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  // The last bytes before the guard.
  std::byte* data() const { return begin_ + (inside_ - bytes_); }
  std::size_t size() const { return bytes_; }
  template <class T>
  std::span<T> as() const {
    return {reinterpret_cast<T*>(data()), bytes_ / sizeof(T)};
  }

 private:
  std::size_t bytes_, inside_ = 0, whole_ = 0;
  void* memory_ = nullptr;
  std::byte* begin_ = nullptr;
};

}  // namespace weft
