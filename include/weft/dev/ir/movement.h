// Movement and reduction, the tensor graph's ops beside algebra. What would change nothing is left
// out. Sizes are integer nodes; a scalar has none.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

using Axes = std::vector<std::int64_t>;
using Sizes = std::vector<UOp>;

Sizes sizes_of(const UOp& tensor);
bool has_no_elements(const UOp& tensor);  // for certain
Sizes constant_sizes(const std::vector<std::int64_t>& values);

UOp reshape(const UOp& tensor, const Sizes& sizes);
UOp permute(const UOp& tensor, const Axes& axes);
UOp expand(const UOp& tensor, const Sizes& sizes);
UOp pad(const UOp& tensor, const Sizes& before, const Sizes& after);
UOp shrink(const UOp& tensor, const Sizes& start, const Sizes& sizes);
UOp flip(const UOp& tensor, const Axes& axes);

// 0, 1 ... size-1 along one axis, as index arithmetic.
UOp counted(const UOp& size, DType dtype);

// A chain of movement ops over one tensor as the same over another of its shape.
UOp rebased(const UOp& view, const UOp& from, const UOp& to);

// The axes stay, with size 1.
UOp reduce(Op op, const UOp& tensor, const Axes& axes);

}  // namespace weft
