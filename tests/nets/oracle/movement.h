// Other places for the same elements. What only looks shares the storage; pad and cat copy.
#pragma once

#include <optional>

#include "array.h"

namespace nets {

// What stands for an axis in x[{...}].
struct Part {
  enum class Form : std::uint8_t { At, Slice, NewAxis, Ellipsis, List, Array };
  Form form = Form::At;
  std::int64_t number = 0;                            // At
  std::optional<std::int64_t> start = {}, stop = {};  // Slice
  std::int64_t step = 1;                              // Slice
  Numbers list;                                       // List
  std::size_t operand = 0;                            // Array: which of the step's operands
};

Array reshape(const Array& x, const Numbers& shape);
Array permute(const Array& x, const Numbers& order);
Array shrink(const Array& x, const Numbers& bounds);  // pairs of start and stop
Array flip(const Array& x, const Numbers& axes);
Array pad(const Array& x, const Numbers& widths, const Cell& value);
Array unsqueeze(const Array& x, std::int64_t axis);
Array squeeze(const Array& x, std::int64_t axis);
Array repeat(const Array& x, const Numbers& times);
Array repeat_interleave(const Array& x, std::int64_t times, std::int64_t axis);
Array roll(const Array& x, std::int64_t shift, std::int64_t axis);
Array unfold(const Array& x, std::int64_t axis, std::int64_t size, std::int64_t step);
Array diagonal(const Array& x, std::int64_t offset);  // of the first two axes, as the last one
Array triangle(const Array& x, std::int64_t offset, bool is_upper);
Array cat(const std::vector<Array>& all, std::int64_t axis);
Array stack(const std::vector<Array>& all, std::int64_t axis);
// Numbers, slices and new axes. Lists and arrays: indexing.h.
Array sliced(const Array& x, const std::vector<Part>& parts);

}  // namespace nets
