// A vector whose first N elements need no allocation: for the short lists of inner loops.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft {

template <class T, std::size_t N>
class InlineVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  InlineVector() = default;
  InlineVector(std::initializer_list<T> values) {
    for (const T& value : values) push_back(value);
  }
  InlineVector(const InlineVector& other) : size_(other.size_), spilled_(other.spilled_) {
    take_inline(other);
  }
  // What is moved from is empty.
  InlineVector(InlineVector&& other) noexcept
      : size_(std::exchange(other.size_, 0)), spilled_(std::move(other.spilled_)) {
    take_inline(other);
  }
  InlineVector& operator=(InlineVector other) noexcept {
    size_ = other.size_;
    spilled_ = std::move(other.spilled_);
    take_inline(other);
    return *this;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return spilled_.empty() ? inline_ : spilled_.data(); }
  const T* data() const { return spilled_.empty() ? inline_ : spilled_.data(); }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }

  void push_back(const T& value) {
    const T copy = value;  // it may be an element of this vector
    if (spilled_.empty() && size_ == N) spilled_.assign(inline_, inline_ + N);
    if (!spilled_.empty())
      spilled_.push_back(copy);
    else
      inline_[size_] = copy;
    ++size_;
  }
  void pop_back() { truncate(size_ - 1); }
  void clear() { truncate(0); }
  void erase(const T* position) {
    T* at = data() + (position - data());
    std::move(at + 1, end(), at);
    pop_back();
  }
  template <class Predicate>
  void remove_if(Predicate predicate) {
    truncate(static_cast<std::size_t>(std::remove_if(begin(), end(), predicate) - begin()));
  }

 private:
  // Only as many as there are: the rest of the array is uninitialised.
  void take_inline(const InlineVector& other) {
    if (spilled_.empty()) std::copy_n(other.inline_, size_, inline_);
  }
  void truncate(std::size_t size) {
    size_ = size;
    if (!spilled_.empty()) spilled_.resize(size);
  }

  std::size_t size_ = 0;
  T inline_[N];
  std::vector<T> spilled_;  // all elements, once there were more than N, until there are none
};

}  // namespace weft
