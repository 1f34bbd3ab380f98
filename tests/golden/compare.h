// Is a tensor what a file says it is?
#pragma once

#include <weft/dev/ir/value.h>

#include "golden.h"

namespace weft::golden {

Bits bits_at(const Stored& stored, std::size_t i);  // of one element

struct Tolerance {
  double relative = 0, absolute = 0;
};
Tolerance tolerance_of(DType dtype);  // what two good implementations may differ by

// What is wrong: the dtype, the shape or the first element that differs; empty where nothing is.
// NaN equals NaN, infinities only themselves, 0 equals -0.
std::string difference(const Tensor& found, const Stored& expected, Tolerance tolerance);

}  // namespace weft::golden
