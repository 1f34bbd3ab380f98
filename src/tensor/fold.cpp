// Windows side by side, and back: what unfold() makes of a tensor, and what goes to where it came from.

#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/error.h>
#include <weft/functional.h>

#include "ops.h"
#include "windows.h"

namespace weft {
namespace functional {
namespace {

// (batch, channels, sizes ...) to (batch, channels * kernel, places).
Tensor unfolded(const Tensor& x, const Window& window) {
  const auto n = std::ssize(window.kernel);
  std::vector<std::int64_t> order{0, 1};
  for (std::int64_t i = 0; i < n; ++i) order.push_back(2 + n + i);
  for (std::int64_t i = 0; i < n; ++i) order.push_back(2 + i);
  return windows(padded(x, window), window).permute(order).flatten(1, 1 + n).flatten(2);
}

Window window_of(const char* op, const PerDim& kernel, std::size_t dims,
                 const UnfoldOptions& options) {
  const Window window(op, kernel.of(dims, op), options.stride, options.dilation, options.padding);
  window.want_no_negative_padding();
  return window;
}

}  // namespace

Tensor unfold(const Tensor& x, const PerDim& kernel, const UnfoldOptions& options) {
  const Called called;
  const auto own = static_cast<std::size_t>(x.ndim());
  const std::size_t given = kernel.values().size(), dims = given > 1 || own < 3 ? given : own - 2;
  if (own == dims + 1) return unfold(x.unsqueeze(0), kernel.of(dims, "unfold"), options).squeeze(0);
  if (own != dims + 2)
    user_error(fmt::format(
        "unfold: shape {} is not (batch, channels, sizes ...) for a kernel of {} dimensions",
        shape_text(x.uop()), dims));
  return unfolded(x, window_of("unfold", kernel, dims, options));
}

// The gradient of unfold() is the way back.
Tensor fold(const Tensor& x, const std::vector<std::int64_t>& sizes, const PerDim& kernel,
            const UnfoldOptions& options) {
  const Called called;
  if (x.ndim() == 2) return fold(x.unsqueeze(0), sizes, kernel, options).squeeze(0);
  const Window window = window_of("fold", kernel, sizes.size(), options);
  const std::int64_t spanned = std::accumulate(window.kernel.begin(), window.kernel.end(),
                                               std::int64_t{1}, std::multiplies<>());
  if (x.ndim() != 3 || x.size(1) % spanned != 0)
    user_error(fmt::format("fold: shape {} is not (batch, channels * {}, places)",
                           shape_text(x.uop()), spanned));
  std::vector<Dim> shape{x.dims()[0], Dim(x.size(1) / spanned)};
  shape.insert(shape.end(), sizes.begin(), sizes.end());
  const Tensor place = Tensor::zeros(Shape(shape), {.dtype = x.dtype(), .device = x.device()});
  const Tensor seen = unfolded(place, window);
  if (seen.size(2) != x.size(2))
    user_error(fmt::format("fold: {} places of shape {}, but windows have {} in sizes ({})",
                           x.size(2), shape_text(x.uop()), seen.size(2), fmt::join(sizes, ", ")));
  return seen.gradient({place}, x)[0];
}

}  // namespace functional
}  // namespace weft
