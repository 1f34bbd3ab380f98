// Elements made of some elements elsewhere, at places that are computed: interpolation, windows of
// uneven sizes, grids. All axes are read in one kernel.
#pragma once

#include <string_view>
#include <vector>

#include <weft/tensor.h>

namespace weft {

// Where an axis is read: new element i (axis 0) is made of these old ones (axis 1), by their weights.
struct Taps {
  Tensor place, weight;  // a null weight is 1
};

// Of the last axes, as many as there are Taps: what is there (batch ..., new sizes ..., taps ...), and
// its weighted sum (batch ..., new sizes ...).
Tensor read_taps(std::string_view op, const Tensor& tensor, const std::vector<Taps>& taps);
Tensor sum_of_taps(std::string_view op, const Tensor& tensor, const std::vector<Taps>& taps);

// The elements of a tensor at these places: an integer tensor for each axis, which broadcast to the
// result's shape. Zeros where a place is none.
Tensor read_at(std::string_view op, const Tensor& tensor, const std::vector<Tensor>& places);
// Zeros of this shape, but for these values at the places.
Tensor written_at(std::string_view op, const Tensor& values, const std::vector<Tensor>& places,
                  const Shape& shape);

// The taps of windows of nearly equal sizes, as many as that, that cover an axis of a tensor. What is
// behind the end of one is its last element again, without weight.
Taps even_windows(const Tensor& tensor, std::int64_t axis, std::int64_t count);

// With ones as sizes in front and behind, so that axis 0 becomes axis `at` of so many.
Tensor along(const Tensor& tensor, std::size_t at, std::size_t axes);

}  // namespace weft
