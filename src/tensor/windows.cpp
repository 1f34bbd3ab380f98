#include "windows.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <weft/dev/ir/value.h>
#include <weft/dev/tensor/sizes.h>
#include <weft/error.h>

#include "ops.h"
#include "slices.h"

namespace weft {

Window::Window(const char* name, std::vector<std::int64_t> sizes, const PerDim& strides,
               const PerDim& dilations, const Padding& paddings)
    : op(name),
      kernel(std::move(sizes)),
      stride(strides.of(kernel.size(), op)),
      dilation(dilations.of(kernel.size(), op)),
      padding(paddings.of(op, kernel, stride, dilation)),
      beyond(kernel.size(), 0) {
  const auto below = [](const std::vector<std::int64_t>& values, std::int64_t least) {
    return std::ranges::any_of(values, [=](std::int64_t value) { return value < least; });
  };
  if (below(kernel, 1) || below(stride, 1) || below(dilation, 1))
    user_error(fmt::format("{}: kernel, stride and dilation are at least 1", op));
}

void Window::want_no_negative_padding() const {
  for (const auto& [before, after] : padding)
    if (before < 0 || after < 0)
      user_error(fmt::format("{}: padding of {} and {} is negative", op, before, after));
}

namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return -floor_div(-a, b); }

void want_axes(const Tensor& tensor, const Window& window) {
  if (tensor.uop()->dims().size() < window.kernel.size())
    user_error(fmt::format("{}: {} spatial dimensions for a tensor of shape {}", window.op,
                           window.kernel.size(), shape_text(tensor.uop())));
}

}  // namespace

Dim Window::outputs(std::size_t i, const Dim& size) const {
  if (least(size) < reach(i))
    user_error(fmt::format("{}: a kernel of {} with dilation {} does not fit in {} elements{}", op,
                           kernel[i], dilation[i], size_text(size.uop()),
                           size.is_symbolic() ? fmt::format(", at least {}", least(size)) : ""));
  return simplified(plus(floordiv(plus(size, -reach(i)), stride[i]), 1));
}

void Window::round_up(const Tensor& tensor) {
  want_axes(tensor, *this);
  const std::vector<Dim> dims = tensor.dims();
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    const auto [before, after] = padding[i];
    const Dim& size = dims[dims.size() - kernel.size() + i];
    if (size.is_symbolic()) {
      if (after + stride[i] > reach(i))
        user_error(fmt::format(
            "{}: along the open size {} it depends on the size whether the last of windows that "
            "are rounded up begins inside: want a stride of {} at most, not {}",
            op, size_text(size.uop()), reach(i) - after, stride[i]));
      beyond[i] = stride[i] - 1;
      continue;
    }
    const std::int64_t number = least(size), room = number + before + after - reach(i);
    const std::int64_t last = ceil_div(room, stride[i]) * stride[i];  // where it begins
    if (last >= 0 && last < number + before) beyond[i] = last - room;
  }
}

Tensor padded(const Tensor& tensor, const Window& window, Scalar value) {
  want_axes(tensor, window);
  const std::vector<Dim> sizes = tensor.dims();
  Tensor::Bounds bounds(sizes.size() - window.kernel.size(), {0, 0});
  for (std::size_t i = 0; i < window.kernel.size(); ++i) {
    const auto [before, after] = window.padding[i];
    const auto taken = -std::min<std::int64_t>(before, 0) - std::min<std::int64_t>(after, 0);
    if (taken > 0 && taken > least(sizes[bounds.size()]))
      user_error(fmt::format("{}: padding of {} and {} takes more than axis {} of shape {} has",
                             window.op, before, after, bounds.size(), shape_text(tensor.uop())));
    bounds.emplace_back(before, after + window.beyond[i]);
  }
  return tensor.pad(bounds, value);
}

Scalar lowest(DType dtype) {
  if (dtype.is_float()) return double_from_bits(lowest_bits(dtype), dtype);
  return int_from_bits(lowest_bits(dtype), dtype);
}

namespace {

// Each element is in one window at most, and windows have no gaps.
bool are_side_by_side(const Window& window) {
  return window.stride == window.kernel &&
         std::ranges::all_of(window.dilation, [](std::int64_t d) { return d == 1; });
}

// Places of windows and places within them as axes of their own.
Tensor windows_side_by_side(const Tensor& tensor, const Window& window) {
  const std::vector<Dim> sizes = tensor.dims();
  const std::size_t batch = sizes.size() - window.kernel.size();
  Tensor::Bounds used;
  std::vector<Dim> apart;
  Axes order;
  for (std::size_t i = 0; i < batch; ++i) {
    used.emplace_back(0, sizes[i]);
    apart.push_back(sizes[i]);
    order.push_back(static_cast<std::int64_t>(i));
  }
  for (std::size_t i = 0; i < window.kernel.size(); ++i) {
    const Dim count = window.outputs(i, sizes[batch + i]);
    used.emplace_back(0, times(count, window.kernel[i]));
    apart.insert(apart.end(), {count, Dim(window.kernel[i])});
  }
  for (std::size_t offset : {0, 1})
    for (std::size_t i = 0; i < window.kernel.size(); ++i)
      order.push_back(static_cast<std::int64_t>(batch + 2 * i + offset));
  return tensor.shrink(used).reshape(Shape(apart)).permute(order);
}

// In rows one dilation longer than the axis, element o*stride of row k is element o*stride + k*dilation
// of the axis: rows of the axis repeated end to end. Where strides reach further than a row has room,
// it is longer by whole axes: as many as the shortest axis needs.
Tensor seen(const Tensor& tensor, const Window& window) {
  const std::size_t n = window.kernel.size();
  const std::vector<Dim> sizes = tensor.dims();
  const std::vector<Dim> batch(sizes.begin(), sizes.end() - static_cast<std::ptrdiff_t>(n));
  const std::size_t b = batch.size();
  std::vector<Dim> repeats(b, Dim(1)), rows = batch;
  Tensor::Bounds all, used, first;
  for (const Dim& size : batch)
    for (Tensor::Bounds* bounds : {&all, &used, &first}) bounds->emplace_back(0, size);
  for (std::size_t i = 0; i < n; ++i) {
    const Dim &size = sizes[b + i], outputs = window.outputs(i, size);
    const std::int64_t k = window.kernel[i], s = window.stride[i], d = window.dilation[i];
    const std::int64_t beyond = std::max<std::int64_t>(0, s - window.reach(i) - d);
    const std::int64_t copies = 1 + ceil_div(beyond, least(size));
    const Dim row = plus(times(size, copies), d);
    repeats.emplace_back(k * copies + ceil_div(k * d, least(size)));
    all.emplace_back(0, times(row, k));
    rows.insert(rows.end(), {Dim(k), row});
    used.insert(used.end(), {{0, k}, {0, times(outputs, s)}});
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
  return repeated(tensor, Shape(repeats))
      .shrink(all)
      .reshape(Shape(rows))
      .shrink(used)
      .reshape(Shape(apart))
      .shrink(first)
      .reshape(Shape(together))
      .permute(order);
}

// Whether windows overlap, and in a way that is known how to add up.
bool adds_up(const Window& window) {
  bool overlap = false;
  for (std::size_t i = 0; i < window.kernel.size(); ++i) {
    if (window.stride[i] > 1 && window.dilation[i] > 1) return false;
    overlap = overlap || window.reach(i) > window.stride[i];
  }
  return overlap;
}

}  // namespace

Tensor windows_as_view(const Tensor& tensor, const Window& window) {
  return are_side_by_side(window) ? windows_side_by_side(tensor, window) : seen(tensor, window);
}

// The gradient of a view would be sums of rows that are repeated, with a mask for each of them: where one is
// asked for and windows overlap, their places are added up as a convolution instead.
Tensor windows(const Tensor& tensor, const Window& window) {
  if (!Operand(tensor).tracked || NoGrad::is_on() || are_side_by_side(window) || !adds_up(window))
    return windows_as_view(tensor, window);
  const auto forward = [&](const std::vector<Tensor>& inputs) { return seen(inputs[0], window); };
  const auto backward = [window](const Tensor& gradient, const std::vector<Tensor>& inputs,
                                 const Tensor&) {
    return std::vector{windows_gradient(gradient, inputs[0], window)};
  };
  return Tensor::custom({tensor}, forward, backward);
}

Tensor interleaved(const Tensor& tensor, const std::vector<std::int64_t>& phases,
                   const std::vector<std::int64_t>& strides) {
  const auto n = std::ssize(phases), axis = tensor.ndim() - n - 1;
  std::vector<Dim> parts{Dim(-1)};
  parts.insert(parts.end(), phases.begin(), phases.end());
  Axes order;
  for (std::int64_t i = 0; i <= axis; ++i) order.push_back(i);
  for (std::int64_t i = 1; i <= n; ++i) order.insert(order.end(), {axis + n + i, axis + i});
  Tensor::Bounds missing(static_cast<std::size_t>(axis + 1 + 2 * n), {0, 0});
  for (std::int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    missing[static_cast<std::size_t>(axis + 1 + i)].second = strides[at] - phases[at];
  }
  Tensor result = tensor.unflatten(axis, Shape(parts)).pad(missing).permute(order);
  for (std::int64_t i = 1; i <= n; ++i) result = result.flatten(axis + i, axis + i + 1);
  return result;
}

AxisList last_axes(std::size_t count) {
  Axes axes(count);
  std::iota(axes.begin(), axes.end(), -static_cast<std::int64_t>(count));
  return axes;
}

}  // namespace weft
