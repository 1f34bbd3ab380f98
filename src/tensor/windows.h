// Sliding windows as movement: the one trick behind convolution and pooling.
#pragma once

#include <string>
#include <vector>

#include <weft/tensor.h>

namespace weft {

// A window over the last axes, one number each.
struct Window {
  Window(const char* name, std::vector<std::int64_t> sizes, const PerDim& strides,
         const PerDim& dilations, const Padding& paddings);

  std::int64_t reach(std::size_t i) const { return dilation[i] * (kernel[i] - 1) + 1; }
  // How many there are along an axis of this size, with all that is around it; refused where there may be none.
  Dim outputs(std::size_t i, const Dim& size) const;
  void want_no_negative_padding() const;  // as pools and unfold() do; others take elements away
  // Lets windows that begin before the end of the tensor's axes end beyond it.
  void round_up(const Tensor& tensor);

  const char* op;
  std::vector<std::int64_t> kernel, stride, dilation;
  std::vector<Padding::Sides> padding;
  std::vector<std::int64_t> beyond;  // how far windows reach over the padding's end
};

// The last axes with the padding on both sides, and what windows see beyond it.
Tensor padded(const Tensor& tensor, const Window& window, Scalar value = 0);
Scalar lowest(DType dtype);  // what never is the largest

// (..., sizes) to (..., outputs, kernel): every place of the window, and what it sees there.
Tensor windows(const Tensor& tensor, const Window& window);
// The same, which sees what is written to the tensor later on. Gradients of windows that overlap take longer.
Tensor windows_as_view(const Tensor& tensor, const Window& window);
// Of windows that overlap, with a stride or a dilation of 1: the gradient of the tensor.
Tensor windows_gradient(const Tensor& gradient, const Tensor& tensor, const Window& window);

// (batch, channels * phases ..., sizes ...) to (batch, channels, sizes * strides ...): the phases of an
// axis, as many as given, lie beside each other, with zeros behind them up to the stride.
Tensor interleaved(const Tensor& tensor, const std::vector<std::int64_t>& phases,
                   const std::vector<std::int64_t>& strides);

// As many axes, the last ones.
AxisList last_axes(std::size_t count);

}  // namespace weft
