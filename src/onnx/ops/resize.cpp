// Tensors in other sizes. The nearest elements are gathered along all axes at once, weighted ones axis by axis: so an
// element is a sum of the taps of each axis, not of every tap with every other.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <weft/dev/tensor/sizes.h>

#include "axes.h"
#include "tables.h"

namespace weft::onnx {
namespace {

// How elements are found, as the attributes say.
struct Way {
  std::string mode = "nearest", coordinates = "asymmetric", nearest = "floor";
  double cubic_a = -0.75;
  bool is_antialiased = false, excludes_outside = false;
  bool ceils_where_it_shrinks = false;  // the nearest along an axis that has fewer elements then
};

// One axis that changes: `scale` new elements for each old one, `width` of them, which need not be whole.
struct Axis {
  std::int64_t axis, from, to;
  double scale, width;
  double start = 0, end = 1;  // of the region that is resized
  bool is_open = false;       // of any size up to that
};

// The old elements of each new one, (to, taps), and what they weigh: null for one of weight 1.
struct Taps {
  Tensor place, weight;
};

// Whatever comes of it for these sizes.
void want_known(const Call& call, const Way& way) {
  struct Known {
    std::string_view attribute;
    const std::string& given;
    std::initializer_list<std::string_view> values;
  };
  const Known known[] = {
      {"mode", way.mode, {"nearest", "linear", "cubic"}},
      {"coordinate_transformation_mode",
       way.coordinates,
       {"asymmetric", "align_corners", "tf_crop_and_resize", "half_pixel", "pytorch_half_pixel",
        "half_pixel_symmetric"}},
      {"nearest_mode", way.nearest, {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"}}};
  for (const auto& [attribute, given, values] : known)
    if (std::ranges::find(values, given) == values.end())
      call.refuse(fmt::format("{} is '{}'", attribute, given));
}

// Where the middle of each new element lies among the old ones.
Tensor middles(const Call& call, const Way& way, const Axis& axis) {
  const Tensor i = Tensor::arange(axis.to, call.options(dtypes::f64));
  const auto last = static_cast<double>(axis.from - 1);
  if (way.coordinates == "asymmetric") return i / axis.scale;
  if (way.coordinates == "align_corners")
    return axis.width == 1 ? i.zeros_like() : i * (last / (axis.width - 1));
  if (way.coordinates == "tf_crop_and_resize") {
    const double span = (axis.end - axis.start) * last;
    const Tensor inside =
        axis.width == 1 ? i.zeros_like() + span / 2 : i * (span / (axis.width - 1));
    return inside + axis.start * last;
  }
  const Tensor half = (i + 0.5) / axis.scale - 0.5;
  if (way.coordinates == "half_pixel") return half;
  if (way.coordinates == "pytorch_half_pixel") return axis.width > 1 ? half : i.zeros_like();
  const double adjusted = static_cast<double>(axis.to) / axis.width;  // half_pixel_symmetric
  return half + static_cast<double>(axis.from) / 2 * (1 - adjusted);
}

Tensor nearest(const std::string& mode, const Tensor& middle) {
  if (mode == "floor") return middle.floor();
  if (mode == "ceil") return middle.ceil();
  if (mode == "round_prefer_floor") return (middle - 0.5).ceil();
  return (middle + 0.5).floor();  // round_prefer_ceil
}

// The cubic that is 1 at 0, and 0 at other integers and from 2 on.
Tensor cubic(const Tensor& distance, double a) {
  const Tensor x = distance.abs();
  const Tensor near = ((a + 2) * x - (a + 3)) * x * x + 1;
  const Tensor far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return (x < 2).where((x <= 1).where(near, far), 0.0);
}

Taps taps_of(const Call& call, const Way& way, const Axis& axis, const Tensor& middle) {
  const auto inside = [&](const Tensor& place) {
    return place.maximum(0).minimum(axis.from - 1).cast(dtypes::i64);
  };
  const Tensor at = middle.unsqueeze(1);
  const bool is_ceiled = way.ceils_where_it_shrinks && axis.scale < 1;
  if (way.mode == "nearest") return {inside(nearest(is_ceiled ? "ceil" : way.nearest, at)), {}};
  const bool is_cubic = way.mode == "cubic";
  // Where there are fewer elements than before, antialiasing widens what each of them sees.
  const double narrowing = way.is_antialiased ? std::min(axis.scale, 1.0) : 1.0;
  const double reach = std::ceil((is_cubic ? 2 : 1) / narrowing);
  if (!(reach < std::pow(2.0, 31))) call.refuse(fmt::format("a scale of {}", axis.scale));
  const auto side = static_cast<std::int64_t>(reach);
  const Tensor place =
      at.floor() + Tensor::arange(1 - side, side + 1, 1, call.options(dtypes::f64));
  const Tensor distance = (place - at) * narrowing;
  Tensor weight = is_cubic ? cubic(distance, way.cubic_a) : (1 - distance.abs()).maximum(0);
  if (way.excludes_outside) weight = ((place >= 0) & (place < axis.from)).where(weight, 0.0);
  if (way.excludes_outside || narrowing < 1) weight = weight / weight.sum(1, true);
  return {inside(place), weight};
}

// New element i is i / times of the old ones, rounded down.
bool repeats(const Way& way, const Axis& axis) {
  if (axis.from == 1)
    return way.coordinates != "tf_crop_and_resize";  // whose taps weigh 1 together
  const std::int64_t times = axis.to / axis.from;
  const bool is_whole =
      way.mode == "nearest" && axis.to % axis.from == 0 && axis.scale == static_cast<double>(times);
  if (!is_whole) return false;
  if (way.coordinates == "asymmetric") return way.nearest == "floor";
  return way.coordinates.starts_with("half_pixel") && way.nearest.starts_with("round_prefer");
}

// Those that add the fewest elements first.
std::vector<std::size_t> by_growth(const std::vector<Axis>& axes) {
  std::vector<std::size_t> order(axes.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(axes[i].scale, i); });
  return order;
}

DType index_type(const Axis& axis) {
  return axis.from <= std::numeric_limits<std::int32_t>::max() ? dtypes::i32 : dtypes::i64;
}

// The sums of elements (batch ..., new sizes ..., taps ...) over these axes of a tensor, all at once.
Tensor gathered(const Tensor& x, const std::vector<Axis>& axes, const std::vector<Taps>& taps,
                DType within) {
  const std::size_t n = axes.size();
  const auto apart = [&](const Tensor& each, std::size_t i) {
    std::vector<Dim> sizes(2 * n, Dim(1));
    sizes[i] = Dim(each.size(0));
    sizes[n + i] = Dim(each.size(1));
    return each.reshape(Shape(sizes));
  };
  std::vector<std::int64_t> order, back(static_cast<std::size_t>(x.ndim()));
  for (std::int64_t axis = 0; axis < x.ndim(); ++axis)
    if (std::ranges::find(axes, axis, &Axis::axis) == axes.end()) order.push_back(axis);
  std::vector<Index> index{ellipsis};
  for (std::size_t i = 0; i < n; ++i) {
    order.push_back(axes[i].axis);
    // What comes from memory may be anything: that it is inside has to be seen where it is read.
    const Tensor place = taps[i].place.cast(index_type(axes[i])).contiguous();
    index.emplace_back(apart(place.maximum(0).minimum(axes[i].from - 1), i));
  }
  Tensor y = x.permute(order)[Indices(index)];
  bool is_weighted = false;
  for (std::size_t i = 0; i < n; ++i) {
    if (taps[i].weight.is_null()) continue;
    y = y.cast(within) * apart(taps[i].weight.cast(within).contiguous(), i);
    is_weighted = true;
  }
  const std::vector<std::int64_t> last =
      axes_between(y.ndim() - static_cast<std::int64_t>(n), y.ndim());
  y = is_weighted ? y.sum(last) : y.squeeze(last);
  for (std::size_t i = 0; i < order.size(); ++i)
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  return y.permute(back);
}

Tensor rounded_to(const Tensor& x, DType dtype) {
  if (!dtype.is_int()) return x.cast(dtype);
  const int bits = dtype.bits() - (dtype.is_unsigned() ? 0 : 1);
  const double most = std::ldexp(1.0, bits) - 1;
  return x.round().clamp(dtype.is_unsigned() ? 0 : -most - 1, most).cast(dtype);
}

Tensor resized(const Call& call, const Tensor& given, const Way& way, std::vector<Axis> axes,
               double outside) {
  want_known(call, way);
  Tensor x = given;
  std::erase_if(axes, [](const Axis& axis) {
    return axis.from == axis.to && axis.scale == 1 && axis.start == 0 && axis.end == 1;
  });
  for (const Axis& axis : axes) {
    if (!axis.is_open) continue;
    if (!repeats(way, axis))
      call.refuse(fmt::format(
          "axis {} is open: want a whole number of the nearest for each element", axis.axis));
    x = x.repeat_interleave(axis.to / axis.from, axis.axis);
  }
  std::erase_if(axes, [](const Axis& axis) { return axis.is_open; });
  if (axes.empty()) return x;
  for (const Axis& axis : axes)
    if (axis.from < 1) call.refuse(fmt::format("axis {} has no elements", axis.axis));
  if (std::ranges::all_of(axes, [&](const Axis& axis) { return repeats(way, axis); })) {
    for (const Axis& axis : axes) x = x.repeat_interleave(axis.to / axis.from, axis.axis);
    return x;
  }
  std::vector<Tensor> middle;
  std::vector<Taps> taps;
  for (const Axis& axis : axes) {
    middle.push_back(middles(call, way, axis));
    taps.push_back(taps_of(call, way, axis, middle.back()));
  }
  const DType within = wide(x.dtype());
  if (way.mode == "nearest")
    x = gathered(x, axes, taps, within);
  else
    for (const std::size_t i : by_growth(axes))
      x = repeats(way, axes[i]) ? x.repeat_interleave(axes[i].to, axes[i].axis)
                                : gathered(x, {axes[i]}, {taps[i]}, within);
  for (std::size_t i = 0; i < axes.size() && way.coordinates == "tf_crop_and_resize"; ++i) {
    const Tensor is_inside = (middle[i] >= 0) & (middle[i] <= axes[i].from - 1);
    x = along(is_inside, axes[i].axis, x.ndim()).where(x.cast(within), outside);
  }
  return rounded_to(x, given.dtype());
}

// --- What the operators are given --------------------------------------------------------------------

void want_count(const Call& call, std::string_view what, std::size_t count, std::size_t wanted) {
  if (count != wanted) call.refuse(fmt::format("{} {} for {} axes", count, what, wanted));
}

std::int64_t size_of(const Call& call, double size) {
  if (!(size >= 0 && size < std::pow(2.0, 40))) call.refuse(fmt::format("a size of {}", size));
  return static_cast<std::int64_t>(size);
}

// In f32, as scales are: 10 elements by 0.7 are 7.
Axis scaled(const Call& call, const Tensor& x, std::int64_t axis, double scale) {
  if (!(scale > 0)) call.refuse(fmt::format("a scale of {}", scale));
  const Dim size = x.dims()[static_cast<std::size_t>(axis)];
  const std::int64_t from = most(size);
  const auto width = static_cast<double>(static_cast<float>(from) * static_cast<float>(scale));
  return {.axis = axis,
          .from = from,
          .to = size_of(call, std::floor(width)),
          .scale = scale,
          .width = static_cast<double>(from) * scale,
          .is_open = size.is_symbolic()};
}

std::vector<Axis> all_scaled(const Call& call, const Tensor& x, const std::vector<double>& scales) {
  want_count(call, "scales", scales.size(), static_cast<std::size_t>(x.ndim()));
  std::vector<Axis> axes;
  for (std::int64_t axis = 0; axis < x.ndim(); ++axis)
    if (const double scale = scales[static_cast<std::size_t>(axis)]; scale != 1)
      axes.push_back(scaled(call, x, axis, scale));
  return axes;
}

// To these sizes, or, where the aspect is kept, to what fits within them or reaches them.
std::vector<Axis> sized(const Call& call, const Tensor& x, const std::vector<std::int64_t>& axes,
                        const std::vector<std::int64_t>& sizes) {
  want_count(call, "sizes", sizes.size(), axes.size());
  std::vector<double> scales;
  for (std::size_t i = 0; i < axes.size(); ++i)
    scales.push_back(static_cast<double>(sizes[i]) / static_cast<double>(x.size(axes[i])));
  const std::string policy = call.attr("keep_aspect_ratio_policy", "stretch");
  const bool keeps = policy == "not_larger" || policy == "not_smaller";
  if (!keeps && policy != "stretch")
    call.refuse(fmt::format("keep_aspect_ratio_policy is '{}'", policy));
  if (keeps && !scales.empty()) {
    const auto [least, most] = std::ranges::minmax(scales);
    std::ranges::fill(scales, policy == "not_larger" ? least : most);
  }
  std::vector<Axis> result;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t from = x.size(axes[i]);
    const double width = static_cast<double>(from) * scales[i];
    const double to = keeps ? std::floor(width + 0.5) : static_cast<double>(sizes[i]);
    result.push_back({axes[i], from, size_of(call, to), scales[i], keeps ? width : to});
  }
  return result;
}

std::vector<std::int64_t> axes_of(const Call& call, const Tensor& x) {
  auto axes = call.attr("axes", axes_between(0, x.ndim()));
  for (std::int64_t& axis : axes) axis = axis_of(call, axis, x.ndim());
  auto sorted = axes;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) call.refuse("axes has an axis twice");
  return axes;
}

bool has_elements(const Call& call, std::size_t input) {
  return call.has(input) && call.tensor(input).numel() > 0;
}

Tensor resize_11(const Call& call) {
  const Tensor x = call.tensor(0);
  const std::vector<std::int64_t> axes = axes_of(call, x);
  const Way way{.mode = call.attr("mode", "nearest"),
                .coordinates = call.attr("coordinate_transformation_mode", "half_pixel"),
                .nearest = call.attr("nearest_mode", "round_prefer_floor"),
                .cubic_a = call.attr("cubic_coeff_a", -0.75),
                .is_antialiased = call.attr("antialias", 0) != 0,
                .excludes_outside = call.attr("exclude_outside", 0) != 0};
  std::vector<Axis> resizing;
  if (has_elements(call, 3)) {
    resizing = sized(call, x, axes, call.ints(3));
  } else if (has_elements(call, 2)) {
    const std::vector<double> scales = call.numbers(2);
    want_count(call, "scales", scales.size(), axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i)
      resizing.push_back(scaled(call, x, axes[i], scales[i]));
  } else if (x.ndim() > 0) {
    call.refuse("there are neither scales nor sizes");
  }
  if (way.coordinates == "tf_crop_and_resize") {
    if (!has_elements(call, 1)) call.refuse("there is no region of interest");
    const std::vector<double> region = call.numbers(1);
    want_count(call, "bounds of a region", region.size(), 2 * axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i) {
      resizing[i].start = region[i];
      resizing[i].end = region[axes.size() + i];
    }
  }
  return resized(call, x, way, resizing, call.attr("extrapolation_value", 0.0));
}

// Before opset 11 new element i is at i / scale.
Tensor upsampled(const Call& call, const std::vector<double>& scales) {
  const Tensor x = call.tensor(0);
  const std::vector<Axis> axes = all_scaled(call, x, scales);
  const std::string mode = call.attr("mode", "nearest");
  const Way way{.mode = mode == "bilinear" ? "linear" : mode, .ceils_where_it_shrinks = true};
  return resized(call, x, way, axes, 0);
}

Tensor upsample_1(const Call& call) {
  return upsampled(call,
                   {1, 1, call.attr<double>("height_scale"), call.attr<double>("width_scale")});
}
Tensor upsample_7(const Call& call) {
  return upsampled(call, call.attr<std::vector<double>>("scales"));
}
Tensor upsample_9(const Call& call) { return upsampled(call, call.numbers(1)); }

}  // namespace

OpTable resize_ops() {
  static const Op ops[] = {
      {"Resize", 10, upsample_9},  {"Resize", 11, resize_11},   {"Upsample", 1, upsample_1},
      {"Upsample", 7, upsample_7}, {"Upsample", 9, upsample_9},
  };
  return {"", ops};
}

}  // namespace weft::onnx
