#include "windows.h"

#include <algorithm>

#include <fmt/format.h>
#include <weft/dev/ir/value.h>
#include <weft/error.h>

#include "ops.h"

namespace weft {

Window::Window(const char* name, std::vector<std::int64_t> sizes, const PerDim& strides,
               const PerDim& dilations, const PerDim& paddings)
    : op(name),
      kernel(std::move(sizes)),
      stride(strides.of(kernel.size(), op)),
      dilation(dilations.of(kernel.size(), op)),
      padding(paddings.of(kernel.size(), op)) {
  const auto below = [](const std::vector<std::int64_t>& values, std::int64_t least) {
    return std::ranges::any_of(values, [=](std::int64_t value) { return value < least; });
  };
  if (below(kernel, 1) || below(stride, 1) || below(dilation, 1) || below(padding, 0))
    user_error(
        fmt::format("{}: kernel, stride and dilation are at least 1, padding at least 0", op));
}

Tensor padded(const Tensor& tensor, const Window& window, Scalar value) {
  const auto own = static_cast<std::size_t>(tensor.ndim());
  if (own < window.kernel.size())
    user_error(fmt::format("{}: {} spatial dimensions for a tensor of shape {}", window.op,
                           window.kernel.size(), shape_text(tensor.uop())));
  Tensor::Bounds bounds(own - window.kernel.size(), {0, 0});
  for (std::int64_t width : window.padding) bounds.emplace_back(width, width);
  return tensor.pad(bounds, value);
}

Scalar lowest(DType dtype) {
  if (dtype.is_float()) return double_from_bits(lowest_bits(dtype), dtype);
  return int_from_bits(lowest_bits(dtype), dtype);
}

// In rows one dilation longer than the axis, element o*stride of row k is element o*stride + k*dilation
// of the axis: rows of the axis repeated end to end. Where strides reach further than a row has room,
// it is longer by whole axes.
Tensor windows(const Tensor& tensor, const Window& window) {
  const std::size_t n = window.kernel.size();
  const std::vector<Dim> sizes = tensor.dims();
  const std::vector<Dim> batch(sizes.begin(), sizes.end() - static_cast<std::ptrdiff_t>(n));
  const std::size_t b = batch.size();
  std::vector<Dim> times(b, Dim(1)), rows = batch;
  Tensor::Bounds all, used, first;
  for (const Dim& size : batch)
    for (Tensor::Bounds* bounds : {&all, &used, &first}) bounds->emplace_back(0, size);
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t size = constant_size(window.op, sizes[b + i].uop()), k = window.kernel[i];
    const std::int64_t s = window.stride[i], d = window.dilation[i], reach = size - d * (k - 1);
    if (reach < 1)
      user_error(fmt::format("{}: a kernel of {} with dilation {} does not fit in {} elements",
                             window.op, k, d, size));
    const std::int64_t outputs = (reach + s - 1) / s;
    const std::int64_t copies = std::max<std::int64_t>(1, (outputs * s - d + size - 1) / size);
    const std::int64_t row = size * copies + d;
    times.emplace_back((k * row + size - 1) / size);
    all.emplace_back(0, k * row);
    rows.insert(rows.end(), {Dim(k), Dim(row)});
    used.insert(used.end(), {{0, k}, {0, outputs * s}});
    first.insert(first.end(), {{0, k}, {0, outputs}, {0, 1}});
  }
  std::vector<Dim> apart = batch, together = batch;
  Axes order;
  for (std::size_t i = 0; i < b; ++i) order.push_back(static_cast<std::int64_t>(i));
  for (std::size_t offset : {1, 0})
    for (std::size_t i = 0; i < n; ++i)
      order.push_back(static_cast<std::int64_t>(b + 2 * i + offset));
  for (std::size_t i = 0; i < n; ++i) {
    const Dim& outputs = first[b + 3 * i + 1].second;
    apart.insert(apart.end(), {Dim(window.kernel[i]), outputs, Dim(window.stride[i])});
    together.insert(together.end(), {Dim(window.kernel[i]), outputs});
  }
  return tensor.repeat(Shape(times))
      .shrink(all)
      .reshape(Shape(rows))
      .shrink(used)
      .reshape(Shape(apart))
      .shrink(first)
      .reshape(Shape(together))
      .permute(order);
}

}  // namespace weft
