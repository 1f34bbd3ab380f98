// What a Slice names along an axis, and what is from there to there.
#pragma once

#include <cstdint>

#include <weft/tensor.h>

namespace weft {

// The elements start, start + |step| ... of an axis, `count` of them; of a negative step in the end
// turned around.
struct Steps {
  std::int64_t start, count, step;
  std::int64_t first() const { return step < 0 && count > 0 ? start - (count - 1) * step : start; }
};

// Whether it takes more than numbers to say which elements these are.
bool is_symbolic(const Slice& slice, const Dim& size);
Steps steps_of(const Slice& slice, std::int64_t size);

// All of each axis; and all but along one axis.
Tensor::Bounds whole(const Tensor& tensor);
// The elements several times along each axis, as a view.
Tensor repeated(const Tensor& tensor, const Shape& times);
Tensor shrunk(const Tensor& tensor, std::int64_t axis, std::int64_t start, std::int64_t stop);

}  // namespace weft
