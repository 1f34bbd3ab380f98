// Matrix products, convolutions and pooling: movement, a product, a reduction.

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <weft/error.h>

#include "ops.h"
#include "windows.h"

namespace weft {
namespace {

// The sum of products along the axes. The factors are converted before they are multiplied: products
// of halves are exact in f32.
Tensor contraction(std::string_view op, const Tensor& a, const Tensor& b, const Axes& axes,
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
  return contraction("matmul", rows, matrices ? turned.unsqueeze(-3) : turned, {-1}, dtype);
}

Tensor Tensor::linear(const Tensor& weight, const Tensor& bias) const {
  const Tensor product = weight.ndim() == 1 ? *this * weight : matmul(weight);
  return bias.is_null() ? product : product + bias;
}

// this as (batch, groups, 1, out ..., in / groups, kernel ...) times the weight as
// (1, groups, out / groups, 1 ..., in / groups, kernel ...), summed over all that the kernel spans.
Tensor Tensor::conv(const Tensor& weight, const Tensor& bias, const Conv& options) const {
  const std::int64_t spatial = weight.ndim() - 2;
  if (spatial < 1 || ndim() != weight.ndim())
    user_error(
        fmt::format("conv: shape {} does not fit a weight of shape {}: both are (batch or out, "
                    "channels, sizes ...)",
                    shape_text(uop()), shape_text(weight.uop())));
  const std::int64_t groups = options.groups, out = weight.size(0), in = weight.size(1);
  if (groups <= 0 || size(1) != groups * in || out % groups != 0)
    user_error(fmt::format("conv: {} channels do not fit a weight of shape {} in {} groups",
                           size(1), shape_text(weight.uop()), groups));
  const std::vector<std::int64_t> sizes = weight.shape();
  const Window window("conv", {sizes.begin() + 2, sizes.end()}, options.stride, options.dilation,
                      options.padding);
  const auto n = static_cast<std::size_t>(spatial);

  Tensor x = windows(padded(*this, window), window);  // (batch, in, out ..., kernel ...)
  x = x.unflatten(1, {groups, 1, in});
  Axes order{0, 1, 2};  // the channels go behind the output's sizes
  for (std::size_t i = 0; i < n; ++i) order.push_back(static_cast<std::int64_t>(4 + i));
  order.push_back(3);
  for (std::size_t i = 0; i < n; ++i) order.push_back(static_cast<std::int64_t>(4 + n + i));
  x = x.permute(order);

  std::vector<Dim> apart{Dim(1), Dim(groups), Dim(out / groups)};
  apart.insert(apart.end(), n, Dim(1));
  apart.insert(apart.end(), sizes.begin() + 1, sizes.end());
  Axes summed(n + 1);
  std::iota(summed.begin(), summed.end(), 3 + spatial);
  const Tensor sum = contraction("conv", x, weight.reshape(Shape(apart)), summed, {}).flatten(1, 2);
  if (bias.is_null()) return sum;
  std::vector<Dim> channels(n + 2, Dim(1));
  channels[1] = Dim(out);
  return sum + bias.reshape(Shape(channels));
}

Tensor Tensor::conv2d(const Tensor& weight, const Tensor& bias, std::int64_t groups,
                      const PerDim& stride, const PerDim& dilation, const PerDim& padding) const {
  return conv(weight, bias,
              {.groups = groups, .stride = stride, .dilation = dilation, .padding = padding});
}

namespace {

Window pool_window(const char* op, const PerDim& kernel, const PerDim& stride,
                   const PerDim& dilation, const PerDim& padding) {
  const std::vector<std::int64_t> sizes = kernel.values();
  return {op, sizes, stride.values().empty() ? kernel : stride, dilation, padding};
}

AxisList last(std::size_t count) {
  Axes axes(count);
  std::iota(axes.begin(), axes.end(), -static_cast<std::int64_t>(count));
  return axes;
}

}  // namespace

Tensor Tensor::max_pool(const PerDim& kernel, const PerDim& stride, const PerDim& dilation,
                        const PerDim& padding) const {
  const Window window = pool_window("max_pool", kernel, stride, dilation, padding);
  return windows(padded(*this, window, lowest(dtype())), window).max(last(window.kernel.size()));
}

Tensor Tensor::avg_pool(const PerDim& kernel, const PerDim& stride, const PerDim& dilation,
                        const PerDim& padding, bool count_padding) const {
  const Window window = pool_window("avg_pool", kernel, stride, dilation, padding);
  const AxisList axes = last(window.kernel.size());
  const Tensor seen = windows(padded(*this, window), window);
  if (count_padding) return seen.mean(axes);
  return seen.sum(axes) / windows(padded(ones_like(), window), window).sum(axes);
}

Tensor Tensor::max_pool2d(const PerDim& kernel, const PerDim& stride, const PerDim& dilation,
                          const PerDim& padding) const {
  return max_pool(kernel.of(2, "max_pool2d"), stride, dilation, padding);
}

Tensor Tensor::avg_pool2d(const PerDim& kernel, const PerDim& stride, const PerDim& dilation,
                          const PerDim& padding) const {
  return avg_pool(kernel.of(2, "avg_pool2d"), stride, dilation, padding);
}

}  // namespace weft
