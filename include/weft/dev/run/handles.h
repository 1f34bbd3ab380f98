// Handles of the C API: numbers that are looked up, so that one that was closed is found out. What they stand for lasts until
// nobody uses it.
#pragma once

#include <cstdint>

#include <weft/dev/run/status.h>

namespace weft::capi {

enum class HandleKind : std::uint8_t { Model, Session };

// What handles stand for begins with this.
struct Held {
  void (*destroy)(Held* held);
  std::uint32_t users;  // the table is one
};

// Takes it over. The number is never given again, and is no address.
int add_handle(HandleKind kind, Held* held, std::uintptr_t& number);
// Null, with words, where there is none. Whoever gets one releases it.
Held* used_handle(HandleKind kind, std::uintptr_t number);
void use(Held* held);
void release(Held* held);
int close_handle(HandleKind kind, std::uintptr_t number);

// Of a function's time.
template <class T>
class Used {
 public:
  template <class Handle>
  explicit Used(Handle* handle)
      : held_(static_cast<T*>(used_handle(T::kind, reinterpret_cast<std::uintptr_t>(handle)))),
        problem_(handle == nullptr ? WEFT_INVALID_ARGUMENT : WEFT_CLOSED) {}
  Used(const Used&) = delete;
  Used& operator=(const Used&) = delete;
  ~Used() {
    if (held_ != nullptr) release(held_);
  }

  explicit operator bool() const { return held_ != nullptr; }
  T* operator->() const { return held_; }
  T& operator*() const { return *held_; }
  int problem() const { return problem_; }  // where there is none

 private:
  T* held_;
  weft_status problem_;
};

}  // namespace weft::capi
