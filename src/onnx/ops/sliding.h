// Windows as the attributes of convolutions and pools describe them.
#pragma once

#include <optional>
#include <vector>

#include "op.h"

namespace weft::onnx {

// What is around an axis of an open size where that depends on the size, and the size with it.
struct OpenPads {
  Dim before, after, whole;
};

// A window over the axes behind batch and channels, one number each.
struct Sliding {
  std::vector<std::int64_t> kernel, stride, dilation;
  std::vector<Padding::Sides> pads;
  std::vector<std::optional<OpenPads>> open_pads;  // in place of pads, which are 0 there
  bool is_automatic = false;                       // the pads follow from auto_pad

  // With the open pads of all axes; and one axis of a tensor with those of axis i.
  Tensor padded(const Tensor& x, Scalar fill = 0) const;
  Tensor padded_along(const Tensor& tensor, std::size_t axis, std::size_t i, Scalar fill) const;
  std::int64_t reach(std::size_t i) const { return dilation[i] * (kernel[i] - 1) + 1; }
};

// One number of an attribute for each axis, from `least` to 2^31; where the node has no such attribute,
// `otherwise` for all.
std::vector<std::int64_t> numbers_of(const Call& call, std::string_view attribute,
                                     std::size_t count, std::int64_t least, std::int64_t otherwise);
// pads: all beginnings, then all ends.
std::vector<Padding::Sides> pads_of(const Call& call, std::size_t axes);

// For x (batch, channels, sizes ...): kernel_shape, strides, dilations, pads and auto_pad.
Sliding sliding_over(const Call& call, const Tensor& x);
Sliding open_sliding_over(const Call& call, const Tensor& x);  // which may have open pads
// The same, where the kernel is as large as the last axes of a weight.
Sliding sliding_over(const Call& call, const Tensor& x, const Tensor& weight);
// The kernel alone, checked against kernel_shape.
std::vector<std::int64_t> kernel_of(const Call& call, const Tensor& x, const Tensor& weight);

// A convolution's input with its padding, and how a convolution goes along that.
struct Padded {
  Tensor x;
  ConvOptions options;
};
Padded padded_input(const Call& call, const Tensor& x, const Tensor& weight, Scalar fill = 0);

std::int64_t groups_of(const Call& call, const Tensor& x);
ConvOptions conv_options(const Call& call, const Tensor& x, const Tensor& weight);
// Sums are taken in this dtype, and of it; without one in what fits.
Tensor convolved(const Call& call, const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                 DType dtype = {});

}  // namespace weft::onnx
