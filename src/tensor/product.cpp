// Matrix products and convolutions: movement, a product, a reduction.

#include <algorithm>

#include <fmt/format.h>
#include <weft/error.h>

#include "conv_args.h"
#include "ops.h"
#include "windows.h"

namespace weft {
namespace {

// The sum of products along the axes. The factors are converted before they are multiplied: products
// of halves are exact in f32.
Tensor contraction(std::string_view op, const Tensor& a, const Tensor& b, const AxisList& axes,
                   DType wanted) {
  const DType joint = settled(promote(a.dtype(), b.dtype()));
  const DType within = wanted.is_void() ? accumulator(joint) : wanted;
  const Tensor products =
      elementwise(op, a, b, within, [](const UOp& x, const UOp& y) { return x * y; });
  const Tensor sum = products.sum(axes, false, within);
  return wanted.is_void() && joint.is_float() ? sum.cast(joint) : sum;
}

}  // namespace

Tensor Tensor::matmul(const Tensor& other, DType dtype) const {
  const Called called;
  const UOp a = uop(), b = other.uop();
  if (a->dims().empty() || b->dims().empty())
    user_error(fmt::format("matmul: shapes {} and {}: a scalar has no rows", shape_text(a),
                           shape_text(b)));
  const bool matrices = a->dims().size() > 1 && b->dims().size() > 1;
  const UOp inner(a->dims().back()),
      outer(b->dims()[b->dims().size() - (b->dims().size() > 1 ? 2 : 1)]);
  if (!inner.is(outer))
    user_error(fmt::format("matmul: shapes {} and {}: {} does not match {}", shape_text(a),
                           shape_text(b), size_text(inner), size_text(outer)));
  const Tensor rows = matrices ? unsqueeze(-2) : *this;
  const Tensor turned = b->dims().size() > 1 ? other.transpose(-1, -2) : other;
  return contraction("matmul", rows, matrices ? turned.unsqueeze(-3) : turned, -1, dtype);
}

Tensor Tensor::linear(const Tensor& weight, const Tensor& bias, DType dtype) const {
  const Called called;
  if (!dtype.is_void())
    return cast(dtype).linear(weight.cast(dtype), bias.is_null() ? bias : bias.cast(dtype));
  const Tensor product = weight.ndim() == 1 ? *this * weight : matmul(weight);
  return bias.is_null() ? product : product + bias;
}

namespace {

// x as (batch, groups, 1, out ..., in / groups, kernel ...) times the weight as
// (1, groups, out / groups, 1 ..., in / groups, kernel ...), summed over all that the kernel spans.
Tensor convolved(const Tensor& whole, const Tensor& weight, const Window& window,
                 const ConvOptions& options) {
  const std::int64_t groups = options.groups, out = weight.size(0), in = weight.size(1);
  const std::vector<std::int64_t> sizes = weight.shape();
  const std::size_t n = window.kernel.size();
  Tensor x = windows(padded(whole, window), window);  // (batch, in, out ..., kernel ...)
  x = x.unflatten(1, {groups, 1, in});
  Axes order{0, 1, 2};  // the channels go behind the output's sizes
  for (std::size_t i = 0; i < n; ++i) order.push_back(static_cast<std::int64_t>(4 + i));
  order.push_back(3);
  for (std::size_t i = 0; i < n; ++i) order.push_back(static_cast<std::int64_t>(4 + n + i));
  x = x.permute(order);

  std::vector<Dim> apart{Dim(1), Dim(groups), Dim(out / groups)};
  apart.insert(apart.end(), n, Dim(1));
  apart.insert(apart.end(), sizes.begin() + 1, sizes.end());
  return contraction("conv", x, weight.reshape(Shape(apart)), last_axes(n + 1), options.dtype)
      .flatten(1, 2);
}

// What reached the outputs, for the inputs: the transposed convolution. The padding is not part of it.
Tensor of_inputs(const Tensor& gradient, const Tensor& x, const Tensor& weight,
                 const Window& window, std::int64_t groups) {
  std::vector<std::int64_t> more;
  for (std::size_t i = 0; i < window.kernel.size(); ++i) {
    const auto [before, after] = window.padding[i];
    const std::int64_t room =
        x.size(static_cast<std::int64_t>(2 + i)) + before + after - window.reach(i);
    more.push_back(room % window.stride[i]);
  }
  return gradient
      .conv_transpose(weight, {},
                      {.groups = groups,
                       .stride = window.stride,
                       .dilation = window.dilation,
                       .padding = window.padding,
                       .output_padding = more})
      .cast(x.dtype());
}

}  // namespace

Tensor Tensor::conv(const Tensor& weight, const Tensor& bias, const ConvOptions& options) const {
  const Called called;
  if (is_single(*this, weight)) return unsqueeze(0).conv(weight, bias, options).squeeze(0);
  if (weight.ndim() < 3) want_convolution("conv", *this, weight, {}, 1, 0, 0, "out, in / groups");
  const std::int64_t groups = options.groups, out = weight.size(0), in = weight.size(1);
  if (groups <= 0 || out % groups != 0)
    user_error(fmt::format("conv: a weight of shape {} has no {} groups of outputs",
                           shape_text(weight.uop()), groups));
  want_convolution("conv", *this, weight, bias, groups, in * groups, out, "out, in / groups");
  const Window window("conv", kernel_of(weight), options.stride, options.dilation, options.padding);
  const auto sides_are_more = [](const Padding::Sides& sides) {
    return sides.first >= 0 && sides.second >= 0;
  };
  const bool is_tracked = Operand(*this).tracked && weight.dtype().is_float() && !NoGrad::is_on();
  if (!is_tracked || !std::ranges::all_of(window.padding, sides_are_more))
    return with_bias(convolved(*this, weight, window, options), bias);
  const auto forward = [&](const std::vector<Tensor>& inputs) {
    return convolved(inputs[0], inputs[1], window, options);
  };
  const auto backward = [window, options](const Tensor& gradient, const std::vector<Tensor>& inputs,
                                          const Tensor&) {
    const Tensor &x = inputs[0], &w = inputs[1];
    // The input may be made of the weight, but not of this one; and what comes of it is to depend on the input.
    const Tensor alone = w.detach();
    const Tensor again = convolved(x, alone, window, options);
    return std::vector{of_inputs(gradient, x, w, window, options.groups),
                       again.gradient({alone}, gradient)[0]};
  };
  return with_bias(custom({*this, weight}, forward, backward), bias);
}

Tensor Tensor::conv1d(const Tensor& weight, const Tensor& bias, const ConvOptions& options) const {
  const Called called;
  want_rank("conv1d", weight, 1);
  return conv(weight, bias, options);
}

Tensor Tensor::conv2d(const Tensor& weight, const Tensor& bias, const ConvOptions& options) const {
  const Called called;
  want_rank("conv2d", weight, 2);
  return conv(weight, bias, options);
}

Tensor Tensor::conv3d(const Tensor& weight, const Tensor& bias, const ConvOptions& options) const {
  const Called called;
  want_rank("conv3d", weight, 3);
  return conv(weight, bias, options);
}

Tensor Tensor::conv2d(const Tensor& weight, const Tensor& bias, std::int64_t groups,
                      const PerDim& stride, const PerDim& dilation, const Padding& padding,
                      DType dtype) const {
  const Called called;
  return conv(weight, bias,
              {.groups = groups,
               .stride = stride,
               .dilation = dilation,
               .padding = padding,
               .dtype = dtype});
}

}  // namespace weft
