// Tensors in other sizes: interpolation, pixels and channels that change places.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <weft/error.h>
#include <weft/functional.h>

#include "ops.h"
#include "taps.h"
#include "windows.h"

namespace weft {
namespace {

// How one axis is resampled: from and to how many elements, and old elements for each new one.
struct Axis {
  std::int64_t from, to;
  double scale;
  bool align_corners, is_same;
  Options options;  // of coordinates

  Tensor count() const { return Tensor::arange(to, options).unsqueeze(1); }
  Tensor steps(std::int64_t taps) const { return Tensor::arange(taps, options); }
  // Where the middle of each new element lies among the old ones.
  Tensor middle() const { return align_corners ? count() * scale : (count() + 0.5) * scale - 0.5; }
};

Tensor whole(const Tensor& place) { return place.cast(dtypes::i32); }

Tensor inside(const Axis& axis, const Tensor& place) {
  return whole(place.maximum(0).minimum(axis.from - 1));
}

// The places are rounded in f32, as elsewhere: which element is the nearest may depend on that.
Taps nearest(const Axis& axis, double shift) {
  const Tensor place = (axis.count() + shift) * axis.scale;
  return {whole(place.minimum(axis.from - 1)), {}};
}

Taps linear(const Axis& axis) {
  const Tensor middle = axis.middle().maximum(0).minimum(axis.from - 1), low = middle.trunc();
  const Tensor rest = middle - low, step = axis.steps(2);
  return {inside(axis, low + step), (step == 0).where(1 - rest, rest)};
}

// The cubic that is 1 at 0, and 0 at other integers and from 2 on.
Tensor cubic(const Tensor& distance, double a) {
  const Tensor x = distance.abs();
  const Tensor near = ((a + 2) * x - (a + 3)) * x * x + 1;
  const Tensor far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return (x < 2).where((x <= 1).where(near, far), 0.0);
}

Taps cubic(const Axis& axis) {
  const Tensor middle = axis.middle(), place = middle.floor() + (axis.steps(4) - 1);
  return {inside(axis, place), cubic(middle - place, -0.75)};
}

// As wide as new elements are where there are fewer of them; weights add up to 1.
Taps smooth(const Axis& axis, bool is_cubic) {
  const double widening = std::max(axis.scale, 1.0), reach = (is_cubic ? 2 : 1) * widening;
  const Tensor middle = (axis.count() + 0.5) * axis.scale;
  const Tensor first = (middle - reach + 0.5).trunc().maximum(0);
  const Tensor end = (middle + reach + 0.5).trunc().minimum(axis.from);
  const auto taps = 2 * static_cast<std::int64_t>(std::ceil(reach)) + 1;
  const Tensor place = first + axis.steps(std::min(taps, axis.from));
  const Tensor distance = (place - middle + 0.5) * (1 / widening);
  const Tensor height = is_cubic ? cubic(distance, -0.5) : (1 - distance.abs()).maximum(0);
  const Tensor weight = (place < end).where(height, 0.0);
  return {inside(axis, place), weight / weight.sum(1, true)};
}

Taps taps_of(const Axis& axis, const InterpolateOptions& options) {
  if (axis.is_same) return {whole(axis.count()), {}};
  switch (options.mode) {
    case Resampling::NearestExact: return nearest(axis, 0.5);
    case Resampling::Linear: return options.antialias ? smooth(axis, false) : linear(axis);
    case Resampling::Cubic: return options.antialias ? smooth(axis, true) : cubic(axis);
    default: return nearest(axis, 0);
  }
}

bool is_nearest(Resampling mode) {
  return mode == Resampling::Nearest || mode == Resampling::NearestExact;
}

void want_options(const Tensor& x, std::size_t sizes, const InterpolateOptions& options) {
  const std::size_t factors = options.scale_factor.size(), dims = std::max(sizes, factors);
  if ((sizes == 0) == (factors == 0))
    user_error("interpolate: either sizes or scale factors are to be given");
  if (x.uop()->dims().size() < dims)
    user_error(
        fmt::format("interpolate: {} sizes for a tensor of shape {}", dims, shape_text(x.uop())));
  const bool has_weights = options.mode == Resampling::Linear || options.mode == Resampling::Cubic;
  if (options.align_corners && !has_weights)
    user_error("interpolate: align_corners is for linear and cubic interpolation");
  if (options.antialias && (!has_weights || dims != 2))
    user_error(fmt::format(
        "interpolate: antialias is for linear and cubic interpolation of two axes, not {}", dims));
}

Axis axis_for(const Tensor& x, std::size_t i, const std::vector<std::int64_t>& sizes,
              const InterpolateOptions& options) {
  const std::size_t dims = std::max(sizes.size(), options.scale_factor.size());
  const std::int64_t from = x.size(static_cast<std::int64_t>(i) - static_cast<std::int64_t>(dims));
  const bool has_factor = sizes.empty();
  const double factor = has_factor ? options.scale_factor[i] : 0;
  const auto to = has_factor
                      ? static_cast<std::int64_t>(std::floor(static_cast<double>(from) * factor))
                      : sizes[i];
  if (from < 1 || to < 1)
    user_error(fmt::format("interpolate: {} elements of shape {} cannot become {}", from,
                           shape_text(x.uop()), to));
  double scale = static_cast<double>(from) / static_cast<double>(to);
  if (has_factor && !options.recompute_scale_factor) scale = 1 / factor;
  if (options.align_corners)
    scale = to > 1 ? static_cast<double>(from - 1) / static_cast<double>(to - 1) : 0;
  const bool rounds = is_nearest(options.mode) || float_like(x.dtype()) != dtypes::f64;
  if (rounds) scale = static_cast<float>(scale);
  return {from,
          to,
          scale,
          options.align_corners,
          from == to && scale == 1,
          {.dtype = rounds ? dtypes::f32 : dtypes::f64, .device = x.device()}};
}

// Each element so many times.
Tensor repeated(const Tensor& x, const std::vector<Axis>& axes) {
  const std::int64_t first = x.ndim() - std::ssize(axes);
  Tensor result = x;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = first + static_cast<std::int64_t>(i);
    const std::int64_t times = axes[i].to / axes[i].from;
    std::vector<Dim> wider(static_cast<std::size_t>(x.ndim() + 1), Dim(-1));
    wider[static_cast<std::size_t>(axis + 1)] = Dim(times);
    result = result.unsqueeze(axis + 1).expand(Shape(wider)).flatten(axis, axis + 1);
  }
  return result;
}

bool is_repetition(const Axis& axis) {
  return axis.to % axis.from == 0 &&
         axis.scale ==
             static_cast<float>(static_cast<double>(axis.from) / static_cast<double>(axis.to));
}

}  // namespace

Tensor Tensor::interpolate(const std::vector<std::int64_t>& sizes,
                           const InterpolateOptions& options) const {
  const Called called;
  want_options(*this, sizes.size(), options);
  std::vector<Axis> axes;
  const std::size_t dims = std::max(sizes.size(), options.scale_factor.size());
  for (std::size_t i = 0; i < dims; ++i) axes.push_back(axis_for(*this, i, sizes, options));
  if (options.mode == Resampling::Area) {
    std::vector<std::int64_t> to;
    for (const Axis& axis : axes) to.push_back(axis.to);
    return functional::adaptive_avg_pool(*this, to);
  }
  if (is_nearest(options.mode) && std::ranges::all_of(axes, is_repetition))
    return from(repeated(*this, axes));
  std::vector<Taps> taps;
  for (const Axis& axis : axes) taps.push_back(taps_of(axis, options));
  if (is_nearest(options.mode))
    return read_taps("interpolate", *this, taps).squeeze(last_axes(dims));
  return sum_of_taps("interpolate", *this, taps);
}

namespace functional {
namespace {

void want_image(const char* op, const Tensor& x, std::int64_t factor) {
  if (x.ndim() < 3 || factor < 1)
    user_error(fmt::format("{}: by {} of shape {}, which is not (..., channels, h, w)", op, factor,
                           shape_text(x.uop())));
}

}  // namespace

Tensor pixel_shuffle(const Tensor& x, std::int64_t factor) {
  const Called called;
  want_image("pixel_shuffle", x, factor);
  if (x.size(-3) % (factor * factor) != 0)
    user_error(fmt::format("pixel_shuffle: {} channels of shape {} are no multiple of {}",
                           x.size(-3), shape_text(x.uop()), factor * factor));
  return interleaved(x, {factor, factor}, {factor, factor});
}

Tensor pixel_unshuffle(const Tensor& x, std::int64_t factor) {
  const Called called;
  want_image("pixel_unshuffle", x, factor);
  if (x.size(-2) % factor != 0 || x.size(-1) % factor != 0)
    user_error(fmt::format("pixel_unshuffle: sizes of shape {} are no multiples of {}",
                           shape_text(x.uop()), factor));
  const std::int64_t n = x.ndim();
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < n - 2; ++i) order.push_back(i);
  order.insert(order.end(), {n - 1, n + 1, n - 2, n});
  return x.unflatten(-1, {-1, factor}).unflatten(-3, {-1, factor}).permute(order).flatten(-5, -3);
}

Tensor channel_shuffle(const Tensor& x, std::int64_t groups) {
  const Called called;
  if (x.ndim() < 2 || groups < 1 || x.size(1) % groups != 0)
    user_error(fmt::format("channel_shuffle: the channels of shape {} are not in {} groups",
                           shape_text(x.uop()), groups));
  return x.unflatten(1, {groups, -1}).transpose(1, 2).flatten(1, 2);
}

}  // namespace functional
}  // namespace weft
