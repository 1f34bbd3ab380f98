// Places in a tensor that are computed: what is read and written by integer tensors.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ops.h"

namespace weft {

// A tensor of places: for each element, where it lies along every axis of the tensor it is in.
struct Places {
  Sizes sizes;
  UOp valid = const_bool(true);  // elsewhere nothing is read or written
  std::vector<UOp> along;

  // Along one axis more, which has this size: outside of it is nowhere.
  void add(const UOp& index, const UOp& size);
};

void want_integers(std::string_view op, const Tensor& index);
// Negative ones count from the end of an axis of this size.
UOp from_end(const UOp& index, const UOp& size);
// first, first + step ... along one of these axes.
UOp steps(const Sizes& sizes, std::size_t axis, const UOp& first, std::int64_t step = 1);
// This tensor's axes in place of those from `axis` on, and the same along all others.
UOp spread(const UOp& tensor, const Sizes& sizes, std::size_t axis);
// The slices along an axis that the index names, in its shape; negative numbers are none.
Places slices_along(const UOp& tensor, std::size_t axis, const UOp& index);
// The same for the program's numbers: integers, checked if they are to be, negative ones from the end.
Operand numbers_for(std::string_view op, const Tensor& index, const UOp& size);

// gather() by numbers of weft's own: none is negative, and those outside read 0.
Tensor gathered(const Tensor& x, std::int64_t axis, const Tensor& index);

UOp place(const UOp& memory, const Places& places);  // an INDEX
UOp read_at(const UOp& source, const Places& places);
// The memory once the values are in it, one after the other, or combined with what is there.
UOp written_at(const UOp& memory, const Places& places, const UOp& values,
               std::optional<Op> combine);
// Expanded to these sizes.
UOp fitted(std::string_view op, const UOp& values, const Sizes& sizes);
// Memory of its own with these values.
UOp copy_of(const UOp& values);
// A copy of the tensor with that done to it.
Tensor with_written(std::string_view op, const Operand& tensor, const Places& places,
                    const Operand& values, std::optional<Op> combine,
                    std::vector<const Operand*> from);

}  // namespace weft
