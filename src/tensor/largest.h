// The largest of some elements as one of them: the first has the gradient, as PyTorch has it.
#pragma once

#include <weft/tensor.h>

namespace weft {

// `behind` counts down over what is reduced; where it is 0, an element is nobody's largest. It broadcasts
// to x. The axes stay, with size 1.
Tensor largest(const Tensor& x, const Tensor& behind, const AxisList& axes);

// What `behind` is at the first of those that are `most`, or at the first NaN.
Tensor first_of(const Tensor& x, const Tensor& most, const Tensor& behind, const AxisList& axes,
                bool keepdim);

}  // namespace weft
