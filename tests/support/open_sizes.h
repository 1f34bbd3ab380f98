// Tensors whose last axis has an open size, and what is computed of them.
#pragma once

#include <string_view>
#include <vector>

#include <weft/weft.h>

namespace weft {

// A size that is this number in the runs of what is made with it.
inline Dim bound_size(std::string_view name, std::int64_t least, std::int64_t most,
                      std::int64_t now) {
  return make(Op::Bind, {Variable(name, least, most), const_int(now)});
}

// The first elements along the last axis, in memory of their own.
inline Tensor first(const Tensor& whole, const Dim& size) {
  Tensor::Bounds bounds;
  for (const Dim& all : whole.dims()) bounds.emplace_back(0, all);
  bounds.back().second = size;
  return whole.shrink(bounds).contiguous().realize();
}

// The values, in a frame as large as they can be: what is written beside them is seen.
inline std::vector<float> values_in_frame(const Tensor& y, const std::vector<std::int64_t>& most) {
  const Tensor frame = Tensor::full(most, 7.5F).contiguous().realize();
  Tensor::Bounds bounds;
  for (const Dim& size : y.dims()) bounds.emplace_back(0, size);
  frame.shrink(bounds).assign(y);
  return frame.to_vector<float>();
}

}  // namespace weft
