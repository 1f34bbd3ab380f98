// Axes and the sizes along them, as several operators need them.
#pragma once

#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "op.h"

namespace weft::onnx {

// An axis of a tensor of so many, counted from the first; negative ones count from the end.
inline std::int64_t axis_of(const Call& call, std::int64_t axis, std::int64_t rank) {
  if (axis < -rank || axis >= rank)
    call.refuse(fmt::format("axis {} of a tensor with {} axes", axis, rank));
  return axis < 0 ? axis + rank : axis;
}

// The axes from this one up to before that one.
inline std::vector<std::int64_t> axes_between(std::int64_t first, std::int64_t end) {
  std::vector<std::int64_t> axes(static_cast<std::size_t>(end > first ? end - first : 0));
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

// A vector as a tensor of so many axes that has it along this one: it broadcasts along all others.
inline Tensor along(const Tensor& vector, std::int64_t axis, std::int64_t rank) {
  std::vector<Dim> sizes(static_cast<std::size_t>(rank), Dim(1));
  sizes[static_cast<std::size_t>(axis)] = Dim(-1);
  return vector.reshape(Shape(sizes));
}

// What sums and quotients of this dtype are taken in.
inline DType wide(DType dtype) { return promote(dtype, dtypes::f32); }

}  // namespace weft::onnx
