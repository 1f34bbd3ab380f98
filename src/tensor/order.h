// The order of elements along an axis.
#pragma once

#include <string_view>

#include "ops.h"

namespace weft {

// Places along the last axis, as i32: of the first `count` elements in ascending (or descending)
// order. Equal ones keep theirs. NaN is the largest, and -0 equals 0.
Tensor order_of(const Tensor& x, bool descending, std::int64_t count);

// Whether an element is another than the one before it along the last axis.
Tensor is_begin(const Tensor& x);

// A tensor with one of its axes last, whose size is a number; of a scalar, one element.
class Rows {
 public:
  Rows(std::string_view op, const Tensor& tensor, std::int64_t axis);

  const Tensor& x() const { return x_; }
  std::int64_t length() const { return x_.size(-1); }
  // What was made of it, with the axis where it was; of one element along it.
  Tensor back(const Tensor& made) const;
  Tensor reduced(const Tensor& made, bool keepdim) const;

 private:
  bool is_scalar_;
  std::int64_t axis_;  // from the last, for what has more axes in front
  Tensor x_;
};

}  // namespace weft
