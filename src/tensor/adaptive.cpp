// Pools by windows of nearly equal sizes, as many as are asked for.

#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/error.h>
#include <weft/functional.h>

#include "largest.h"
#include "ops.h"
#include "taps.h"
#include "windows.h"

namespace weft::functional {
namespace {

std::vector<std::int64_t> sizes_for(const char* op, const Tensor& x,
                                    const std::vector<std::int64_t>& sizes) {
  const auto dims = std::ssize(sizes);
  if (x.ndim() < dims)
    user_error(fmt::format("{}: {} sizes for a tensor of shape {}", op, dims, shape_text(x.uop())));
  std::vector<std::int64_t> result;
  for (std::int64_t i = 0; i < dims; ++i) {
    const std::int64_t own = x.size(i - dims), size = sizes[static_cast<std::size_t>(i)];
    result.push_back(size == -1 ? own : size);
    if (own < 1 || result.back() < 1)
      user_error(fmt::format("{}: sizes ({}) for a tensor of shape {}", op, fmt::join(sizes, ", "),
                             shape_text(x.uop())));
  }
  return result;
}

// The kernel, if windows of one size, beside each other, do.
std::optional<PerDim> even_kernel(const Tensor& x, const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> kernel;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t own = x.size(static_cast<std::int64_t>(i) - std::ssize(sizes));
    if (own % sizes[i] != 0) return {};
    kernel.push_back(own / sizes[i]);
  }
  return PerDim(kernel);
}

std::vector<Taps> windows_of(const Tensor& x, const std::vector<std::int64_t>& sizes) {
  std::vector<Taps> taps;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    taps.push_back(even_windows(x, static_cast<std::int64_t>(i) - std::ssize(sizes), sizes[i]));
  return taps;
}

}  // namespace

Tensor adaptive_avg_pool(const Tensor& x, const std::vector<std::int64_t>& sizes) {
  const Called called;
  const std::vector<std::int64_t> out = sizes_for("adaptive_avg_pool", x, sizes);
  if (const auto kernel = even_kernel(x, out)) return x.avg_pool(*kernel);
  return sum_of_taps("adaptive_avg_pool", x, windows_of(x, out));
}

namespace {

// A tap behind a window's end is another of its last element: taps are counted, not places.
Tensor largest_tap(const Tensor& seen, const AxisList& axes) {
  const std::vector<Dim> sizes = seen.dims();
  const Shape taps(std::vector<Dim>(sizes.end() - std::ssize(axes.axes()), sizes.end()));
  std::int64_t count = 1;
  for (const Dim& size : taps.dims()) count *= constant_size("adaptive_max_pool", size.uop());
  return largest(seen, Tensor::arange(count, 0, -1, {.device = seen.device()}).reshape(taps), axes);
}

}  // namespace

Tensor adaptive_max_pool(const Tensor& x, const std::vector<std::int64_t>& sizes) {
  const Called called;
  const std::vector<std::int64_t> out = sizes_for("adaptive_max_pool", x, sizes);
  if (const auto kernel = even_kernel(x, out)) return x.max_pool(*kernel);
  const AxisList axes = last_axes(out.size());
  return largest_tap(read_taps("adaptive_max_pool", x, windows_of(x, out)), axes).squeeze(axes);
}

std::pair<Tensor, Tensor> adaptive_max_pool_with_indices(const Tensor& x,
                                                         const std::vector<std::int64_t>& sizes) {
  const Called called;
  const char* op = "adaptive_max_pool_with_indices";
  const std::vector<std::int64_t> out = sizes_for(op, x, sizes);
  if (const auto kernel = even_kernel(x, out)) return x.max_pool_with_indices(*kernel);
  const std::vector<Taps> taps = windows_of(x, out);
  const AxisList axes = last_axes(out.size());
  const Tensor seen = read_taps(op, x, taps), most = largest_tap(seen, axes);
  std::int64_t count = 1;
  Tensor place;  // in the flattened axes
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t own = x.size(static_cast<std::int64_t>(i) - std::ssize(out));
    std::vector<Dim> apart(2 * out.size(), Dim(1));
    apart[i] = Dim(taps[i].place.size(0));
    apart[i + out.size()] = Dim(taps[i].place.size(1));
    const Tensor own_place = taps[i].place.reshape(Shape(apart));
    place = place.is_null() ? own_place : place * own + own_place;
    count *= own;
  }
  return {most.squeeze(axes), count - first_of(seen, most, count - place, axes, false)};
}

#define WEFT_ADAPTIVE(name, dims)                              \
  Tensor name##dims##d(const Tensor& x, const PerDim& sizes) { \
    return Called(), name(x, sizes.of(dims, #name #dims "d")); \
  }
WEFT_ADAPTIVE(adaptive_avg_pool, 1)
WEFT_ADAPTIVE(adaptive_avg_pool, 2)
WEFT_ADAPTIVE(adaptive_avg_pool, 3)
WEFT_ADAPTIVE(adaptive_max_pool, 1)
WEFT_ADAPTIVE(adaptive_max_pool, 2)
WEFT_ADAPTIVE(adaptive_max_pool, 3)
#undef WEFT_ADAPTIVE

}  // namespace weft::functional
