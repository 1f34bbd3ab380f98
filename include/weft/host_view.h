// Memory of a tensor as the program's own, shaped like it: what std::mdspan is, for writing too.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace weft {

// Elements in place, by their indices, which are not checked. Handed out by Tensor::host_view.
template <class T, std::size_t N>
class HostView {
 public:
  using Indices = std::array<std::int64_t, N>;

  HostView(T* first, const Indices& extents, const Indices& strides,
           std::shared_ptr<const void> guard)
      : first_(first), extents_(extents), strides_(strides), guard_(std::move(guard)) {}

  template <std::integral... Index>
    requires(sizeof...(Index) == N)
  T& operator()(Index... index) const {
    return (*this)[Indices{static_cast<std::int64_t>(index)...}];
  }
  T& operator[](const Indices& index) const {
    std::int64_t place = 0;
    for (std::size_t i = 0; i < N; ++i) place += index[i] * strides_[i];
    return first_[place];
  }

  static constexpr std::size_t rank() { return N; }
  std::int64_t extent(std::size_t axis) const { return extents_[axis]; }
  std::int64_t stride(std::size_t axis) const { return strides_[axis]; }
  std::int64_t size() const {
    std::int64_t count = 1;
    for (std::int64_t extent : extents_) count *= extent;
    return count;
  }
  T* data_handle() const { return first_; }

 private:
  T* first_;
  Indices extents_, strides_;
  std::shared_ptr<const void>
      guard_;  // keeps the memory; when it goes, tensors see what was written
};

}  // namespace weft
