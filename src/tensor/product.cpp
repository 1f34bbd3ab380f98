// Matrix products and convolutions: movement, a product, a reduction.

#include <algorithm>

#include <fmt/format.h>
#include <weft/error.h>

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

void want_convolution(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias,
                      std::int64_t groups, std::int64_t in, std::int64_t out,
                      const char* weight_axes) {
  if (weight.ndim() < 3 || x.ndim() != weight.ndim())
    user_error(
        fmt::format("{}: shape {} does not fit a weight of shape {}: one is (batch, channels, "
                    "sizes ...), the other ({}, sizes ...)",
                    op, shape_text(x.uop()), shape_text(weight.uop()), weight_axes));
  if (x.size(1) != in)
    user_error(fmt::format("{}: {} channels do not fit a weight of shape {} in {} groups", op,
                           x.size(1), shape_text(weight.uop()), groups));
  if (!bias.is_null() && bias.shape() != std::vector<std::int64_t>{out})
    user_error(
        fmt::format("{}: a bias of shape {} for {} channels", op, shape_text(bias.uop()), out));
}

Tensor with_bias(const Tensor& sum, const Tensor& bias) {
  if (bias.is_null()) return sum;
  std::vector<Dim> channels(sum.uop()->dims().size(), Dim(1));
  channels[1] = Dim(-1);
  return sum + bias.reshape(Shape(channels));
}

bool is_single(const Tensor& x, const Tensor& weight) {
  return x.ndim() >= 2 && x.ndim() == weight.ndim() - 1;
}

void want_rank(const char* op, const Tensor& weight, std::int64_t spatial) {
  if (weight.ndim() != spatial + 2)
    user_error(fmt::format("{}: a weight of shape {} has not {} axes", op, shape_text(weight.uop()),
                           spatial + 2));
}

std::vector<std::int64_t> kernel_of(const Tensor& weight) {
  const std::vector<std::int64_t> shape = weight.shape();
  return {shape.begin() + 2, shape.end()};
}

}  // namespace

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
    const Tensor again = convolved(x.detach(), w, window, options);
    return std::vector{of_inputs(gradient, x, w, window, options.groups),
                       again.gradient({w}, gradient)[0]};
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

namespace {

// The axis with so many zeros behind each of its elements but the last.
Tensor spread(const Tensor& tensor, std::int64_t axis, std::int64_t zeros) {
  const std::int64_t length = (tensor.size(axis) - 1) * (zeros + 1) + 1;
  Tensor::Bounds behind(static_cast<std::size_t>(tensor.ndim() + 1), {0, 0});
  behind[static_cast<std::size_t>(axis + 1)].second = zeros;
  return tensor.unsqueeze(axis + 1)
      .pad(behind)
      .flatten(axis, axis + 1)
      .slice(axis, {.stop = length});
}

// The last axes from the elements `first` on, as many as `sizes` says, with zeros around them.
Tensor cropped(const Tensor& tensor, const std::vector<std::int64_t>& first,
               const std::vector<std::int64_t>& sizes) {
  Tensor::Bounds missing, bounds;
  const std::size_t others = tensor.uop()->dims().size() - first.size();
  for (std::size_t axis = 0; axis < others; ++axis) {
    missing.emplace_back(0, 0);
    bounds.emplace_back(0, tensor.dims()[axis]);
  }
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::int64_t front = std::max<std::int64_t>(0, -first[i]), end = first[i] + sizes[i];
    const std::int64_t size = tensor.size(static_cast<std::int64_t>(others + i));
    missing.emplace_back(front, std::max<std::int64_t>(0, end - size));
    bounds.emplace_back(front + first[i], front + end);
  }
  return tensor.pad(missing).shrink(bounds);
}

// Zeros in front of the weight's elements that make padding whole rows of all phases, which then need not be
// computed: as long as there is no phase more by that, and none sees an element more.
std::int64_t zeros_in_front(const Window& window, std::size_t i) {
  const std::int64_t stride = window.stride[i], reach = window.reach(i);
  const std::int64_t missing = (stride - window.padding[i].first % stride) % stride;
  return reach >= stride && missing <= (stride - reach % stride) % stride ? missing : 0;
}

// The weight (in, out / groups, sizes ...) as that of a convolution (out * phases, in / groups, taps ...).
Tensor phased(const Tensor& weight, std::int64_t groups, const Window& window) {
  Tensor w = weight.unflatten(0, {groups, -1});  // and then (groups, in, out, taps, phases ...)
  Axes taps, order{0, 2};
  for (std::size_t i = 0; i < window.kernel.size(); ++i) {
    const auto axis = static_cast<std::int64_t>(3 + 2 * i);
    const std::int64_t stride = window.stride[i];
    if (stride > 1) w = spread(w, axis, window.dilation[i] - 1);
    const std::int64_t front = zeros_in_front(window, i);
    const std::int64_t size = front + w.size(axis), phases = std::min(stride, size);
    const std::int64_t count = (size + phases - 1) / phases;
    Tensor::Bounds missing(static_cast<std::size_t>(w.ndim()), {0, 0});
    missing[static_cast<std::size_t>(axis)] = {front, count * phases - size};
    w = w.pad(missing).unflatten(axis, {count, phases});
    taps.push_back(axis);
    order.push_back(axis + 1);
  }
  order.push_back(1);
  order.insert(order.end(), taps.begin(), taps.end());
  return w.flip(taps).permute(order).flatten(0, 1 + std::ssize(taps));
}

}  // namespace

// With a stride of s, every s-th output sees the same elements of the weight: each such phase is a
// convolution of its own, whose outputs lie between those of the others. All of them are one
// convolution with s times as many channels; those that see nothing are zeros.
Tensor Tensor::conv_transpose(const Tensor& weight, const Tensor& bias,
                              const ConvTransposeOptions& options) const {
  const Called called;
  constexpr const char* op = "conv_transpose";
  if (is_single(*this, weight))
    return unsqueeze(0).conv_transpose(weight, bias, options).squeeze(0);
  if (weight.ndim() < 3) want_convolution(op, *this, weight, {}, 1, 0, 0, "in, out / groups");
  const std::int64_t groups = options.groups, in = weight.size(0);
  if (groups <= 0 || in % groups != 0)
    user_error(fmt::format("{}: a weight of shape {} has no {} groups of inputs", op,
                           shape_text(weight.uop()), groups));
  want_convolution(op, *this, weight, bias, groups, in, groups * weight.size(1),
                   "in, out / groups");
  const Window window(op, kernel_of(weight), options.stride, options.dilation, options.padding);
  const std::size_t n = window.kernel.size();
  const std::vector<std::int64_t> more = options.output_padding.of(n, op);
  const Tensor w = phased(weight, groups, window);

  std::vector<std::int64_t> dilation, first, sizes, phases;
  std::vector<Padding::Sides> around;
  for (std::size_t i = 0; i < n; ++i) {
    const auto axis = static_cast<std::int64_t>(2 + i);
    const std::int64_t stride = window.stride[i];
    const auto [before, after] = window.padding[i];
    if (more[i] < 0 || more[i] >= std::max(stride, window.dilation[i]))
      user_error(
          fmt::format("{}: an output padding of {} is not below the stride {} or the dilation {}",
                      op, more[i], stride, window.dilation[i]));
    dilation.push_back(stride == 1 ? window.dilation[i] : 1);
    const std::int64_t front = before + zeros_in_front(window, i);
    phases.push_back(std::min(stride, front - before + window.reach(i)));
    sizes.push_back((size(axis) - 1) * stride + window.reach(i) - before - after + more[i]);
    if (sizes[i] < 1)
      user_error(
          fmt::format("{}: padding of {} and {} leaves nothing of axis {} for shape {} and a "
                      "weight of shape {}",
                      op, before, after, axis, shape_text(uop()), shape_text(weight.uop())));
    // The convolution itself can leave out rows that are cut off, as far as they are padding.
    const std::int64_t whole = dilation[i] * (w.size(axis) - 1);
    const auto left_out = [&](std::int64_t rows) {
      return std::clamp<std::int64_t>(rows, 0, whole);
    };
    const std::int64_t ahead = left_out(front / stride);
    first.push_back(front - ahead * stride);
    const std::int64_t wanted = (first[i] + sizes[i] + stride - 1) / stride;
    around.emplace_back(whole - ahead, whole - left_out(size(axis) + whole - ahead - wanted));
  }
  const Tensor y = conv(w, {}, {.groups = groups, .dilation = dilation, .padding = around});
  return with_bias(cropped(interleaved(y, phases, window.stride), first, sizes), bias);
}

Tensor Tensor::conv_transpose1d(const Tensor& weight, const Tensor& bias,
                                const ConvTransposeOptions& options) const {
  const Called called;
  want_rank("conv_transpose1d", weight, 1);
  return conv_transpose(weight, bias, options);
}

Tensor Tensor::conv_transpose2d(const Tensor& weight, const Tensor& bias,
                                const ConvTransposeOptions& options) const {
  const Called called;
  want_rank("conv_transpose2d", weight, 2);
  return conv_transpose(weight, bias, options);
}

Tensor Tensor::conv_transpose3d(const Tensor& weight, const Tensor& bias,
                                const ConvTransposeOptions& options) const {
  const Called called;
  want_rank("conv_transpose3d", weight, 3);
  return conv_transpose(weight, bias, options);
}

Tensor Tensor::conv_transpose2d(const Tensor& weight, const Tensor& bias, std::int64_t groups,
                                const PerDim& stride, const PerDim& dilation,
                                const Padding& padding, const PerDim& output_padding) const {
  const Called called;
  return conv_transpose(weight, bias,
                        {.groups = groups,
                         .stride = stride,
                         .dilation = dilation,
                         .padding = padding,
                         .output_padding = output_padding});
}

}  // namespace weft
