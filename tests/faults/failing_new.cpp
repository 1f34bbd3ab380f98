#include "failing_new.h"

#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>

namespace weft {
namespace {

constexpr std::int64_t a_while = 100;

std::atomic<bool> is_on = false;
std::atomic<std::int64_t> first = 0, last = 0, requested = 0;

bool is_of_llvm(const void* address) {
  Dl_info info;
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return false;
  const char* slash = std::strrchr(info.dli_fname, '/');
  const char* name = slash != nullptr ? slash + 1 : info.dli_fname;
  return std::strstr(name, "LLVM") != nullptr || std::strcmp(name, "weft-llvm.so") == 0;
}

// Whether LLVM is anywhere among the callers.
bool is_within_llvm() {
  void* callers[256];
  const auto count = static_cast<std::size_t>(backtrace(callers, 256));
  return std::ranges::any_of(std::span(callers).first(count), is_of_llvm);
}

bool is_refused() {
  if (!is_on) return false;
  const std::int64_t number = ++requested;
  return number >= first && number <= last && !is_within_llvm();
}

void* allocated(std::size_t bytes, std::size_t alignment) noexcept {
  if (is_refused()) return nullptr;
  bytes = std::max<std::size_t>(bytes, 1);
  if (alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__) return std::malloc(bytes);
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void* there(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void start_failing(std::int64_t n, Failing how) {
  void* caller = nullptr;
  backtrace(&caller, 1);  // which loads what it needs the first time
  first = n;
  requested = 0;
  last = how == Failing::Once ? n : n + a_while;
  is_on = true;
}

std::int64_t requests() { return requested; }

void stop_failing() { is_on = false; }

}  // namespace weft

namespace {
constexpr std::size_t usual = __STDCPP_DEFAULT_NEW_ALIGNMENT__;
}

// Those that are not here call these.
void* operator new(std::size_t bytes) { return weft::there(weft::allocated(bytes, usual)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return weft::there(weft::allocated(bytes, static_cast<std::size_t>(alignment)));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return weft::allocated(bytes, usual);
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return weft::allocated(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
