// Sliding windows as movement: the one trick behind convolution, pooling and running sums.
#pragma once

#include <string>
#include <vector>

#include <weft/tensor.h>

namespace weft {

// A window over the last axes, one number each.
struct Window {
  Window(const char* name, std::vector<std::int64_t> sizes, const PerDim& strides,
         const PerDim& dilations, const PerDim& paddings);

  const char* op;
  std::vector<std::int64_t> kernel, stride, dilation, padding;
};

// The last axes with the padding on both sides.
Tensor padded(const Tensor& tensor, const Window& window, Scalar value = 0);
Scalar lowest(DType dtype);  // what never is the largest

// (..., sizes) to (..., outputs, kernel): every place of the window, and what it sees there.
Tensor windows(const Tensor& tensor, const Window& window);

}  // namespace weft
