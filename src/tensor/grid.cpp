// Tensors seen through grids of places.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/error.h>
#include <weft/functional.h>

#include "ops.h"
#include "taps.h"
#include "windows.h"

namespace weft::functional {
namespace {

// From -1 to 1 along an axis: between the middles of its last elements, or their outer sides.
Tensor to_places(const Tensor& coordinate, std::int64_t size, bool align_corners) {
  const auto count = static_cast<double>(size);
  if (align_corners) return (coordinate + 1) * ((count - 1) / 2);
  return ((coordinate + 1) * count - 1) * 0.5;
}

// At the last elements no gradient passes, as beyond them.
Tensor within(const Tensor& place, std::int64_t size) {
  const Tensor above = (place > 0).where(place, 0.0);
  return (above < size - 1).where(above, static_cast<double>(size - 1));
}

// Back and forth between both sides.
Tensor reflected(const Tensor& place, std::int64_t size, bool align_corners) {
  const double low = align_corners ? 0 : -0.5;
  const double span = static_cast<double>(align_corners ? size - 1 : size);
  if (span == 0) return place.zeros_like();
  const Tensor distance = (place - low).abs(), turns = (distance / span).floor().detach();
  const Tensor rest = distance - turns * span;
  const Tensor is_forth = turns == (turns / 2).floor() * 2;
  return is_forth.where(rest, span - rest) + low;
}

Tensor brought_in(const Tensor& place, std::int64_t size, const GridSampleOptions& options) {
  if (options.padding == Outside::Zeros) return place;
  const bool reflects = options.padding == Outside::Reflection;
  return within(reflects ? reflected(place, size, options.align_corners) : place, size);
}

// As an integer; what is far outside, or NaN, is one that is no place.
Tensor whole(const Tensor& place, std::int64_t size) {
  const auto far = static_cast<double>(size + 8);
  return (place > -8).where((place < far).where(place, far), -8.0).cast(dtypes::i32);
}

// The cubic that is 1 at 0, and 0 at other integers and from 2 on.
Tensor cubic(const Tensor& distance) {
  constexpr double a = -0.75;
  const Tensor x = distance.abs();
  const Tensor near = ((a + 2) * x - (a + 3)) * x * x + 1;
  const Tensor far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return (x <= 1).where(near, far);
}

// The coordinates of one axis, (..., 1), as elements of it and their weights (..., taps).
Taps taps_of(const Tensor& coordinate, std::int64_t size, const GridSampleOptions& options) {
  const Tensor place = to_places(coordinate, size, options.align_corners);
  const auto steps = [&](std::int64_t count) {
    return Tensor::arange(count, {.dtype = place.dtype(), .device = place.device()});
  };
  if (options.mode == Resampling::Cubic) {  // each of its elements is brought in, not the place
    const Tensor each = place.floor().detach() + (steps(4) - 1);
    return {whole(brought_in(each, size, options), size), cubic(place - each)};
  }
  const Tensor inside = brought_in(place, size, options);
  if (options.mode == Resampling::Nearest) return {whole(inside.round(), size), {}};
  const Tensor low = inside.floor().detach(), rest = inside - low, step = steps(2);
  return {whole(low + step, size), (step == 0).where(1 - rest, rest)};
}

void want_grid(const Tensor& x, const Tensor& grid, const GridSampleOptions& options) {
  const std::int64_t dims = x.ndim() - 2;
  if (dims < 1 || grid.ndim() != x.ndim() || grid.size(-1) != dims || grid.size(0) != x.size(0))
    user_error(
        fmt::format("grid_sample: a grid of shape {} for shape {}: one is (batch, new sizes ..., "
                    "dimensions), the other (batch, channels, sizes ...) with as many of them",
                    shape_text(grid.uop()), shape_text(x.uop())));
  if (!grid.dtype().is_float())
    user_error(fmt::format("grid_sample: a grid of {}, which is no float", grid.dtype().str()));
  const Resampling mode = options.mode;
  if (mode != Resampling::Nearest && mode != Resampling::Linear && mode != Resampling::Cubic)
    user_error("grid_sample: the mode is nearest, linear or cubic");
}

}  // namespace

// Everything has the axes (batch, channels, new sizes ..., taps ...).
Tensor grid_sample(const Tensor& x, const Tensor& grid, const GridSampleOptions& options) {
  const Called called;
  want_grid(x, grid, options);
  const auto dims = static_cast<std::size_t>(x.ndim() - 2), axes = 2 + 2 * dims;
  const DType own = float_like(x.dtype());
  const std::vector<Dim> sizes = x.dims(), places_of = grid.dims();
  std::vector<Tensor> places;
  for (std::size_t axis = 0; axis < 2; ++axis)
    places.push_back(
        along(Tensor::from({counted(sizes[axis].uop(), dtypes::i32), Symbol(x.device()), false}),
              axis, axes));
  std::vector<Tensor> weights;
  for (std::size_t i = 0; i < dims; ++i) {
    const auto member = static_cast<std::int64_t>(dims - 1 - i);
    const Tensor coordinate = grid.cast(promote(grid.dtype(), dtypes::f32))
                                  .slice(-1, {.start = member, .stop = member + 1});
    const Taps taps = taps_of(coordinate, x.size(static_cast<std::int64_t>(2 + i)), options);
    const auto apart = [&](const Tensor& tensor) {
      std::vector<Dim> shape(places_of.begin(), places_of.end() - 1);
      shape.insert(shape.begin() + 1, Dim(1));
      shape.resize(axes, Dim(1));
      shape[2 + dims + i] = Dim(tensor.size(-1));
      return tensor.reshape(Shape(shape));
    };
    places.push_back(apart(taps.place));
    if (!taps.weight.is_null()) weights.push_back(apart(taps.weight));
  }
  const Tensor seen = read_at("grid_sample", x, places);
  if (weights.empty()) return seen.squeeze(last_axes(dims));
  Tensor sum = seen.cast(promote(own, dtypes::f32));
  for (const Tensor& weight : weights) sum = sum * weight;
  return sum.sum(last_axes(dims)).cast(own);
}

Tensor affine_grid(const Tensor& theta, const std::vector<std::int64_t>& sizes,
                   bool align_corners) {
  const Called called;
  const std::int64_t dims = std::ssize(sizes) - 2;
  const bool has_size = std::ranges::all_of(sizes, [](std::int64_t size) { return size > 0; });
  if ((dims != 2 && dims != 3) || !has_size || theta.ndim() != 3 || theta.size(0) != sizes[0] ||
      theta.size(1) != dims || theta.size(2) != dims + 1)
    user_error(
        fmt::format("affine_grid: theta of shape {} for sizes ({}): one is (batch, "
                    "dimensions, dimensions + 1), the other (batch, channels, sizes ...) "
                    "with 2 or 3 of them",
                    shape_text(theta.uop()), fmt::join(sizes, ", ")));
  const auto axes = static_cast<std::size_t>(dims + 2);
  const auto column = [&](std::int64_t at) {  // (batch, 1 ..., dimensions)
    std::vector<Dim> shape(axes, Dim(1));
    shape.front() = Dim(theta.size(0));
    shape.back() = Dim(dims);
    return theta.slice(2, {.start = at, .stop = at + 1}).reshape(Shape(shape));
  };
  Tensor grid = column(dims);
  for (std::int64_t i = 0; i < dims; ++i) {
    const std::int64_t size = sizes[static_cast<std::size_t>(2 + i)];
    const auto count = static_cast<double>(size);
    const Options options{.dtype = promote(theta.dtype(), dtypes::f32), .device = theta.device()};
    const Tensor number = Tensor::arange(size, options);
    const Tensor place = align_corners
                             ? number * (size > 1 ? 2 / (count - 1) : 0) - (size > 1 ? 1.0 : 0.0)
                             : (number * 2 + (1 - count)) / count;
    grid = grid + column(dims - 1 - i) * along(place, static_cast<std::size_t>(1 + i), axes);
  }
  return grid.cast(theta.dtype());
}

}  // namespace weft::functional
