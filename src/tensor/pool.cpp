// Pools: what a window sees, as one number.

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/dev/tensor/sizes.h>
#include <weft/error.h>
#include <weft/functional.h>

#include "functions.h"
#include "largest.h"
#include "ops.h"
#include "taps.h"
#include "windows.h"

namespace weft {
namespace {

template <class PoolOptions>
Window pool_window(const char* op, const Tensor& x, const PerDim& kernel,
                   const PoolOptions& options) {
  if (kernel.values().empty()) user_error(fmt::format("{}: the kernel has no sizes", op));
  Window window(op, kernel.values(), options.stride.values().empty() ? kernel : options.stride,
                options.dilation, options.padding);
  window.want_no_negative_padding();
  for (std::size_t i = 0; i < window.kernel.size(); ++i) {
    const auto [before, after] = window.padding[i];
    if (std::max(before, after) > window.reach(i) / 2)
      user_error(
          fmt::format("{}: padding of {} and {} is more than half of what a kernel of {} with "
                      "dilation {} spans",
                      op, before, after, window.kernel[i], window.dilation[i]));
  }
  if (options.ceil_mode) window.round_up(x);
  return window;
}

DType dtype_for(const Dim& size) {
  return size.uop()->hi() > std::numeric_limits<std::int32_t>::max() ? dtypes::i64 : dtypes::i32;
}

// A size as a scalar, and 0, 1 ... size-1.
Tensor number_of(const Dim& size, const Tensor& like) {
  return Tensor::from({converted(size.uop(), dtype_for(size)), Symbol(like.device()), false});
}
Tensor places_of(const Dim& size, const Tensor& like) {
  return Tensor::from({counted(size.uop(), dtype_for(size)), Symbol(like.device()), false});
}

// How many elements each place of the window sees along an axis; what is padding counts or does not.
Tensor seen_along(const Tensor& x, const Window& window, std::size_t i, bool count_padding) {
  const auto [before, after] = window.padding[i];
  const std::vector<Dim> sizes = x.dims();
  const Dim& size = sizes[sizes.size() - window.kernel.size() + i];
  const Dim whole = plus(size, before + after);
  const std::int64_t k = window.kernel[i], d = window.dilation[i];
  const std::int64_t first = count_padding ? 0 : before;
  const Tensor end = number_of(count_padding ? whole : plus(size, first), x);
  const Dim outputs = window.outputs(i, plus(whole, window.beyond[i]));
  const Tensor place = places_of(outputs, x) * window.stride[i];
  const Tensor seen = ((end - 1 - place).floordiv(d) + 1).minimum(k);
  const Tensor unseen = first == 0 ? Tensor() : -(place - first).floordiv(d).minimum(0);
  return first == 0 ? seen : seen - unseen;
}

bool sees_all(const Window& window, std::size_t i, bool count_padding) {
  const bool is_padded = window.padding[i] != Padding::Sides(0, 0);
  return window.beyond[i] == 0 && (count_padding || !is_padded);
}

}  // namespace

namespace {

// What a pool looks at, and the places counted down: those of padding are 0.
struct Seen {
  Seen(const Tensor& x, const Window& window)
      : axes(last_axes(window.kernel.size())),
        elements(windows(padded(x, window, lowest(x.dtype())), window)) {
    const std::vector<Dim> all = x.dims();
    const auto n = static_cast<std::ptrdiff_t>(window.kernel.size());
    const std::vector<Dim> spatial(all.end() - n, all.end());
    const Dim all_places = product(spatial);
    count = number_of(all_places, x);
    behind =
        windows(padded((count - places_of(all_places, x)).reshape(Shape(spatial)), window), window);
  }

  Tensor most() const { return largest(elements, behind, axes); }

  const AxisList axes;
  const Tensor elements;
  Tensor count, behind;
};

}  // namespace

Tensor Tensor::max_pool(const PerDim& kernel, const MaxPoolOptions& options) const {
  const Called called;
  const Seen seen(*this, pool_window("max_pool", *this, kernel, options));
  return seen.most().squeeze(seen.axes);
}

// Of equal elements the first.
std::pair<Tensor, Tensor> Tensor::max_pool_with_indices(const PerDim& kernel,
                                                        const MaxPoolOptions& options) const {
  const Called called;
  const Window window = pool_window("max_pool_with_indices", *this, kernel, options);
  const Seen seen(*this, window);
  const Tensor most = seen.most();
  return {most.squeeze(seen.axes),
          seen.count - first_of(seen.elements, most, seen.behind, seen.axes, false)};
}

Tensor Tensor::avg_pool(const PerDim& kernel, const AvgPoolOptions& options) const {
  const Called called;
  const Window window = pool_window("avg_pool", *this, kernel, options);
  const std::size_t n = window.kernel.size();
  const DType own = float_like(dtype());
  const Tensor x = cast(promote(own, dtypes::f32));
  const Tensor sum = windows(padded(x, window), window).sum(last_axes(n));
  if (options.divisor_override) {
    if (*options.divisor_override == 0)
      user_error("avg_pool: the divisor is 0: want another number");
    return (sum / *options.divisor_override).cast(own);
  }
  std::int64_t counted = 1;
  Tensor divisor;
  for (std::size_t i = 0; i < n; ++i) {
    if (sees_all(window, i, options.count_include_pad)) {
      counted *= window.kernel[i];
      continue;
    }
    const Tensor seen = along(seen_along(x, window, i, options.count_include_pad), i, n);
    divisor = divisor.is_null() ? seen : divisor * seen;
  }
  const Tensor mean = sum / counted;
  return (divisor.is_null() ? mean : mean / divisor).cast(own);
}

#define WEFT_POOL(name, general, PoolOptions, dims)                             \
  Tensor Tensor::name(const PerDim& kernel, const PoolOptions& options) const { \
    return Called(), general(kernel.of(dims, #name), options);                  \
  }
WEFT_POOL(max_pool1d, max_pool, MaxPoolOptions, 1)
WEFT_POOL(max_pool3d, max_pool, MaxPoolOptions, 3)
WEFT_POOL(avg_pool1d, avg_pool, AvgPoolOptions, 1)
WEFT_POOL(avg_pool3d, avg_pool, AvgPoolOptions, 3)
#undef WEFT_POOL

Tensor Tensor::max_pool2d(const PerDim& kernel, const PerDim& stride, const PerDim& dilation,
                          const Padding& padding, bool ceil_mode) const {
  const Called called;
  return max_pool(
      kernel.of(2, "max_pool2d"),
      {.stride = stride, .dilation = dilation, .padding = padding, .ceil_mode = ceil_mode});
}

Tensor Tensor::avg_pool2d(const PerDim& kernel, const PerDim& stride, const PerDim& dilation,
                          const Padding& padding, bool ceil_mode, bool count_include_pad) const {
  const Called called;
  return avg_pool(kernel.of(2, "avg_pool2d"), {.stride = stride,
                                               .dilation = dilation,
                                               .padding = padding,
                                               .ceil_mode = ceil_mode,
                                               .count_include_pad = count_include_pad});
}

Tensor Tensor::max_unpool2d(const Tensor& indices, const PerDim& kernel, const PerDim& stride,
                            const PerDim& padding,
                            const std::vector<std::int64_t>& output_size) const {
  const Called called;
  return functional::max_unpool(*this, indices, kernel.of(2, "max_unpool2d"), stride, padding,
                                output_size);
}

namespace functional {

// The mean times the kernel's size, where windows that end beyond count less.
Tensor lp_pool(const Tensor& x, double p, const PerDim& kernel, const PerDim& stride,
               bool ceil_mode) {
  const Called called;
  if (p <= 0) user_error(fmt::format("lp_pool: the norm is {}, not above 0", p));
  std::int64_t count = 1;
  for (std::int64_t size : kernel.values()) count *= size;
  return widely(x, [&](const Tensor& wide) {
    const Tensor powers = p == 2 ? wide.square() : wide.pow(p);
    const Tensor sum =
        powers.avg_pool(kernel, {.stride = stride, .ceil_mode = ceil_mode}).maximum(0) * count;
    return root_of(sum, p);
  });
}

#define WEFT_LP_POOL(name, dims)                                                     \
  Tensor name(const Tensor& x, double p, const PerDim& kernel, const PerDim& stride, \
              bool ceil_mode) {                                                      \
    return Called(), lp_pool(x, p, kernel.of(dims, #name), stride, ceil_mode);       \
  }
WEFT_LP_POOL(lp_pool1d, 1)
WEFT_LP_POOL(lp_pool2d, 2)
WEFT_LP_POOL(lp_pool3d, 3)
#undef WEFT_LP_POOL

namespace {

AxisList spatial_axes(const char* op, const Tensor& x) {
  if (x.ndim() < 3)
    user_error(
        fmt::format("{}: shape {} is not (batch, channels, sizes ...)", op, shape_text(x.uop())));
  return last_axes(static_cast<std::size_t>(x.ndim() - 2));
}

// The sizes that a pool with this window had, as far as they are known: each may have had some elements more.
std::vector<std::int64_t> sizes_before(const Tensor& x, const Window& window) {
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < window.kernel.size(); ++i) {
    const std::int64_t own = x.size(static_cast<std::int64_t>(i) - std::ssize(window.kernel));
    const auto [before, after] = window.padding[i];
    sizes.push_back((own - 1) * window.stride[i] - before - after + window.kernel[i]);
  }
  return sizes;
}

}  // namespace

Tensor max_unpool(const Tensor& x, const Tensor& indices, const PerDim& kernel,
                  const PerDim& stride, const PerDim& padding,
                  const std::vector<std::int64_t>& output_size) {
  const Called called;
  constexpr const char* op = "max_unpool";
  const std::size_t n = kernel.values().size();
  if (!indices.dtype().is_int() || indices.shape() != x.shape() || x.uop()->dims().size() < n)
    user_error(
        fmt::format("{}: indices of {} and shape {} are not a place for each element of "
                    "shape {}, over {} axes",
                    op, indices.dtype().str(), shape_text(indices.uop()), shape_text(x.uop()), n));
  const Window window(op, kernel.values(), stride.values().empty() ? kernel : stride, 1, padding);
  window.want_no_negative_padding();
  const std::vector<std::int64_t> sizes =
      output_size.empty() ? sizes_before(x, window) : output_size;
  if (sizes.size() != n || std::ranges::any_of(sizes, [](std::int64_t size) { return size < 1; }))
    user_error(fmt::format("{}: an output of sizes ({}) for a kernel of {} dimensions", op,
                           fmt::join(sizes, ", "), n));
  const std::vector<Dim> own = x.dims();
  std::vector<Dim> batch(own.begin(), own.end() - static_cast<std::ptrdiff_t>(n));
  std::int64_t rows = 1, plane = 1;
  for (const Dim& size : batch) rows *= constant_size(op, size.uop());
  for (std::int64_t size : sizes) plane *= size;
  const std::int64_t seen = rows == 0 ? 0 : x.numel() / rows;
  const Tensor row = Tensor::arange(rows, {.device = x.device()}).unsqueeze(1);
  const Tensor put =
      written_at(op, x.reshape({rows, seen}), {row, indices.reshape({rows, seen})}, {rows, plane});
  batch.insert(batch.end(), sizes.begin(), sizes.end());
  return put.reshape(Shape(batch));
}

#define WEFT_UNPOOL(name, dims)                                                            \
  Tensor name(const Tensor& x, const Tensor& indices, const PerDim& kernel,                \
              const MaxUnpoolOptions& options) {                                           \
    const Called called;                                                                   \
    return max_unpool(x, indices, kernel.of(dims, #name), options.stride, options.padding, \
                      options.output_size);                                                \
  }
WEFT_UNPOOL(max_unpool1d, 1)
WEFT_UNPOOL(max_unpool2d, 2)
WEFT_UNPOOL(max_unpool3d, 3)
#undef WEFT_UNPOOL

Tensor global_avg_pool(const Tensor& x) {
  return Called(), x.mean(spatial_axes("global_avg_pool", x), true);
}
Tensor global_max_pool(const Tensor& x) {
  return Called(), x.max(spatial_axes("global_max_pool", x), true);
}

}  // namespace functional
}  // namespace weft
