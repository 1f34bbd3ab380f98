// Pools: what a window sees, or what all of an image has, as one number.

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <weft/dev/tensor/sizes.h>

#include "axes.h"
#include "sliding.h"
#include "tables.h"

namespace weft::onnx {
namespace {

// The windows of a pool over x, and what has to be around x so that the last of them ends with it.
struct Pool {
  explicit Pool(const Call& call) : x(call.tensor(0)), window(open_sliding_over(call, x)) {
    const bool rounds_up = !window.is_automatic && call.attr("ceil_mode", 0) != 0;
    for (std::size_t i = 0; i < window.kernel.size(); ++i) {
      const auto [before, after] = window.pads[i];
      behind.push_back(whole(i).is_symbolic() ? behind_open(call, i, rounds_up)
                                              : behind_number(i, rounds_up));
      if (before < 0 || after < 0 || least(whole(i)) + before + behind[i] < window.reach(i))
        call.refuse(fmt::format("pads of {} and {} around {}{} elements for a kernel that spans {}",
                                before, after, whole(i).is_symbolic() ? "at least " : "",
                                least(whole(i)), window.reach(i)));
    }
  }

  AvgPoolOptions options() const {
    return {.stride = window.stride, .dilation = window.dilation, .divisor_override = 1};
  }
  Tensor padded(const Tensor& of, Scalar fill = 0) const {
    Tensor::Bounds room(2, {0, 0});
    for (std::size_t i = 0; i < behind.size(); ++i)
      room.emplace_back(window.pads[i].first, behind[i]);
    return window.padded(of, fill).pad(room, fill);
  }
  Tensor sum(const Tensor& of) const { return padded(of).avg_pool(window.kernel, options()); }
  // The size of an axis, with open pads.
  Dim whole(std::size_t i) const {
    const std::optional<OpenPads>& open = window.open_pads[i];
    return open ? open->whole : x.dims()[2 + i];
  }

  Tensor x;
  Sliding window;
  std::vector<std::int64_t> behind;

 private:
  // Where there is no window, this leaves less than one spans.
  std::int64_t behind_number(std::size_t i, bool rounds_up) const {
    const auto [before, after] = window.pads[i];
    const std::int64_t size = least(whole(i)), stride = window.stride[i], reach = window.reach(i);
    const std::int64_t rest = size + before + after - reach;
    std::int64_t last = floor_div(rest, stride);
    if (rounds_up && last * stride != rest && (last + 1) * stride < size + before) ++last;
    return last * stride + reach - size - before;
  }
  // For every size: what no window sees is there as well.
  std::int64_t behind_open(const Call& call, std::size_t i, bool rounds_up) const {
    const std::int64_t after = window.pads[i].second, stride = window.stride[i];
    if (!rounds_up) return after;
    if (after + stride > window.reach(i))
      call.refuse(
          fmt::format("along an open axis it depends on the size whether the last of windows that "
                      "ceil_mode rounds up begins inside: want a stride of {} at most, not {}",
                      window.reach(i) - after, stride));
    return after + stride - 1;
  }
};

// How many elements each window sees along an axis; pads count or do not, what is beyond them never does. A sum of
// ones, which needs no loop.
Tensor seen_along(const Pool& pool, std::size_t i, bool counts_pads) {
  const auto [before, after] = pool.window.pads[i];
  const Tensor ones = Tensor::ones({pool.x.dims()[2 + i]}, {.device = pool.x.device()});
  const Scalar pad = counts_pads ? 1 : 0;
  return pool.window.padded_along(ones, 0, i, pad)
      .pad(Tensor::Bounds{{before, after}}, pad)
      .pad(Tensor::Bounds{{0, pool.behind[i] - after}})
      .avg_pool({pool.window.kernel[i]}, {.stride = pool.window.stride[i],
                                          .dilation = pool.window.dilation[i],
                                          .divisor_override = 1});
}

Tensor average_pool(const Call& call) {
  const Pool pool(call);
  const bool counts_pads = call.attr("count_include_pad", 0) != 0;
  const DType dtype = pool.x.dtype();
  Tensor y = pool.sum(pool.x.cast(wide(dtype)));
  std::int64_t all = 1;
  for (std::size_t i = 0; i < pool.behind.size(); ++i) {
    const auto [before, after] = pool.window.pads[i];
    const bool is_padded = before != 0 || after != 0 || pool.window.open_pads[i];
    const bool sees_all = pool.behind[i] <= after && (counts_pads || !is_padded);
    if (sees_all)
      all *= pool.window.kernel[i];
    else
      y = y /
          along(seen_along(pool, i, counts_pads), static_cast<std::int64_t>(2 + i), pool.x.ndim());
  }
  return (y / all).cast(dtype);
}

Scalar lowest(DType dtype) {
  if (dtype.is_float()) return -std::numeric_limits<double>::infinity();
  return dtype.is_unsigned() ? 0 : std::numeric_limits<std::int64_t>::min() >> (64 - dtype.bits());
}

// Places in the flattened sizes with what is around them, as places in the flattened tensor.
Tensor places_in_x(const Pool& pool, const Tensor& places, bool is_column_major) {
  const std::vector<std::int64_t> shape = pool.x.shape();
  const auto n = static_cast<std::int64_t>(pool.behind.size());
  std::vector<std::int64_t> order = axes_between(0, n);
  if (is_column_major) std::ranges::reverse(order);
  std::vector<std::int64_t> steps(order.size());
  std::int64_t plane = 1;
  for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
    steps[static_cast<std::size_t>(*axis)] = plane;
    plane *= shape[static_cast<std::size_t>(2 + *axis)];
  }
  const Tensor count =
      Tensor::arange(shape[0] * shape[1], {.dtype = dtypes::i64, .device = pool.x.device()});
  Tensor rest = places.cast(dtypes::i64), place = (count * plane).reshape({shape[0], shape[1]});
  for (std::int64_t axis = 0; axis < n; ++axis) place = place.unsqueeze(-1);
  for (std::size_t i = steps.size(); i-- > 0;) {
    const auto before = pool.window.pads[i].first;
    const std::int64_t size = before + shape[2 + i] + pool.behind[i];
    place = place + (rest % size - before) * steps[i];
    rest = rest.floordiv(size);
  }
  return place;
}

Values max_pool(const Call& call) {
  const Pool pool(call);
  const Tensor all = pool.padded(pool.x, lowest(pool.x.dtype()));
  const MaxPoolOptions options{.stride = pool.window.stride, .dilation = pool.window.dilation};
  if (call.outputs() < 2 || !call.wants(1)) return {all.max_pool(pool.window.kernel, options)};
  const auto [y, places] = all.max_pool_with_indices(pool.window.kernel, options);
  return {y, places_in_x(pool, places, call.attr("storage_order", 0) != 0)};
}

Tensor powers(const Tensor& x, double p) {
  if (p == 1) return x.abs();
  return p == 2 ? x.square() : x.abs().pow(p);
}
Tensor root(const Tensor& x, double p) {
  if (p == 1) return x;
  return p == 2 ? x.sqrt() : x.pow(1 / p);
}

double exponent(const Call& call, double p) {
  if (!(p > 0)) call.refuse(fmt::format("p is {}: want a number above 0", p));
  return p;
}

Tensor lp_pool(const Call& call, double p) {
  const Pool pool(call);
  exponent(call, p);
  const DType dtype = pool.x.dtype();
  return root(pool.sum(powers(pool.x.cast(wide(dtype)), p)), p).cast(dtype);
}
// p was a float first.
Tensor lp_pool_1(const Call& call) { return lp_pool(call, call.attr("p", 2.0)); }
Tensor lp_pool_2(const Call& call) { return lp_pool(call, static_cast<double>(call.attr("p", 2))); }

std::vector<std::int64_t> spatial_axes(const Call& call, const Tensor& x) {
  if (x.ndim() < 3) call.refuse(fmt::format("an input of {} axes has no sizes", x.ndim()));
  return axes_between(2, x.ndim());
}

Tensor global_average_pool(const Call& call) {
  const Tensor x = call.tensor(0);
  return x.mean(spatial_axes(call, x), true);
}

Tensor global_max_pool(const Call& call) {
  const Tensor x = call.tensor(0);
  return x.max(spatial_axes(call, x), true);
}

Tensor global_lp_pool(const Call& call, double p) {
  const Tensor x = call.tensor(0);
  exponent(call, p);
  return root(powers(x.cast(wide(x.dtype())), p).sum(spatial_axes(call, x), true), p)
      .cast(x.dtype());
}
Tensor global_lp_pool_1(const Call& call) { return global_lp_pool(call, call.attr("p", 2.0)); }
Tensor global_lp_pool_2(const Call& call) {
  return global_lp_pool(call, static_cast<double>(call.attr("p", 2)));
}

// The places are those of the sizes that the pool had; a larger output has zeros behind them.
Tensor max_unpool(const Call& call) {
  const Tensor x = call.tensor(0);
  const Sliding window = sliding_over(call, x);
  std::vector<std::int64_t> sizes = x.shape();
  for (std::size_t i = 0; i < window.kernel.size(); ++i) {
    const auto [before, after] = window.pads[i];
    std::int64_t& size = sizes[2 + i];
    size = (size - 1) * window.stride[i] - before - after + window.kernel[i];
    if (size < 0) call.refuse(fmt::format("pads of {} and {} leave nothing", before, after));
  }
  const Tensor none = Tensor::zeros(sizes, call.options(x.dtype()));
  const Tensor y =
      none.flatten().scatter(0, call.tensor(1).flatten(), x.flatten()).reshape(Shape(sizes));
  if (!call.has(2)) return y;
  const std::vector<std::int64_t> wanted = call.ints(2);
  if (wanted.size() != sizes.size())
    call.refuse(fmt::format("an output shape of {} sizes for {} axes", wanted.size(), y.ndim()));
  Tensor::Bounds behind;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (wanted[i] < 0 || wanted[i] > (std::int64_t{1} << 40))
      call.refuse(fmt::format("an output size of {}", wanted[i]));
    behind.emplace_back(0, wanted[i] - sizes[i]);
  }
  return y.pad(behind);
}

}  // namespace

OpTable pooling_ops() {
  static const Op ops[] = {
      {"AveragePool", 1, average_pool},
      {"GlobalAveragePool", 1, global_average_pool},
      {"GlobalLpPool", 1, global_lp_pool_1},
      {"GlobalLpPool", 2, global_lp_pool_2},
      {"GlobalMaxPool", 1, global_max_pool},
      {"LpPool", 1, lp_pool_1},
      {"LpPool", 2, lp_pool_2},
      {"MaxPool", 1, max_pool},
      {"MaxUnpool", 9, max_unpool},
  };
  return {"", ops};
}

}  // namespace weft::onnx
