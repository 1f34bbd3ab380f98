// Pools over regions of interest, which lie anywhere in an image.

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "axes.h"
#include "tables.h"

namespace weft::onnx {
namespace {

void want_image(const Call& call, const Tensor& x, const Tensor& regions, std::int64_t columns) {
  if (x.ndim() != 4 || regions.ndim() != 2 || regions.size(1) != columns)
    call.refuse(fmt::format(
        "an image of {} axes, regions of {}: want (batch, channels, h, w) and (regions, {})",
        x.ndim(), regions.ndim(), columns));
}

void want_size(const Call& call, std::int64_t size) {
  if (size < 1 || size > (std::int64_t{1} << 24))
    call.refuse(fmt::format("an output size of {}", size));
}

// --- Regions between elements ----------------------------------------------------------------------

// One axis of all regions: where they begin, what a bin spans, and how many samples it has; (regions, 1, 1).
struct Bins {
  Tensor start, span, samples;
  std::int64_t count, most_samples, size;
};

// The elements around each sample and what they weigh, and which samples count: (regions, bins, samples, 2).
struct Samples {
  Tensor place, weight, counts;
};

Samples samples_of(const Bins& bins) {
  const Options options{.dtype = bins.start.dtype(), .device = bins.start.device()};
  const Tensor bin = Tensor::arange(bins.count, options).unsqueeze(-1);
  const Tensor sample = Tensor::arange(bins.most_samples, options);
  const Tensor at = bins.start + bin * bins.span + (sample + 0.5) * bins.span / bins.samples;
  const Tensor is_near = (at >= -1) & (at <= bins.size);
  const double last = static_cast<double>(bins.size - 1);
  const Tensor inside = is_near.where(at, 0).maximum(0).minimum(last);
  const Tensor low = inside.floor(), rest = inside - low;
  const Tensor place = Tensor::stack({low, (low + 1).minimum(last)}, -1).cast(dtypes::i64);
  const Tensor counts = sample < bins.samples;
  const Tensor share =
      (is_near & counts).unsqueeze(-1).where(Tensor::stack({1 - rest, rest}, -1), 0);
  return {place, share, counts};
}

// As many samples as the regions' bins have elements, where no number is given: that takes their values.
Bins bins_of(const Call& call, const Tensor& start, const Tensor& length, std::int64_t count,
             std::int64_t size, std::size_t axis) {
  want_size(call, count);
  const std::int64_t ratio = call.attr("sampling_ratio", 0);
  if (ratio < 0 || ratio > (std::int64_t{1} << 16))
    call.refuse(fmt::format("sampling_ratio is {}", ratio));
  const auto spread = [](const Tensor& x) { return x.reshape({-1, 1, 1}); };
  const Tensor span = spread(length) / count;
  if (ratio > 0)
    return {spread(start), span,  Tensor::full({1, 1, 1}, ratio, call.options(start.dtype())),
            count,         ratio, size};
  const std::vector<double> corners = call.numbers(1);
  const double scale = call.attr("spatial_scale", 1.0);
  double most = 1;
  for (std::size_t i = 0; i + 4 <= corners.size(); i += 4)
    most = std::max(most, std::ceil((corners[i + 2 + axis] - corners[i + axis]) * scale /
                                    static_cast<double>(count)));
  if (!(most <= 4 * static_cast<double>(size) + 4))
    call.refuse(fmt::format("a region needs {} samples in an image of {} elements", most, size));
  return {spread(start), span, span.ceil().maximum(1), count, static_cast<std::int64_t>(most) + 1,
          size};
}

Tensor roi_align(const Call& call, bool shifts) {
  const Tensor x = call.tensor(0), given = call.tensor(1);
  want_image(call, x, given, 4);
  const DType within = wide(x.dtype());
  const Tensor regions =
      given.cast(within) * call.attr("spatial_scale", 1.0) - (shifts ? 0.5 : 0.0);
  const std::vector<Tensor> corner = regions.unbind(1);  // x, y, x, y
  Samples along_axis[2];                                 // of y and x
  for (std::size_t axis : {0, 1}) {
    const Tensor &first = corner[1 - axis], &end = corner[3 - axis];
    const Tensor length = shifts ? end - first : (end - first).maximum(1);
    const auto count = call.attr(axis == 0 ? "output_height" : "output_width", 1);
    along_axis[axis] = samples_of(
        bins_of(call, first, length, count, x.size(static_cast<std::int64_t>(2 + axis)), 1 - axis));
  }
  const auto& [y_place, y_weight, y_counts] = along_axis[0];
  const auto& [x_place, x_weight, x_counts] = along_axis[1];
  // (regions, bins, samples, 2) of y, then (bins, samples, 2) of x, then channels.
  const auto of_y = [](const Tensor& t) { return t.unsqueeze(4).unsqueeze(5).unsqueeze(6); };
  const auto of_x = [](const Tensor& t) { return t.unsqueeze(1).unsqueeze(2).unsqueeze(3); };
  const Tensor image = call.tensor(2).reshape({-1, 1, 1, 1, 1, 1, 1});
  const Tensor seen = x.permute({0, 2, 3, 1})[{image, of_y(y_place), of_x(x_place)}];
  const Tensor parts =
      seen.cast(within) * of_y(y_weight).unsqueeze(-1) * of_x(x_weight).unsqueeze(-1);
  const std::string mode = call.attr("mode", "avg");
  Tensor pooled;
  if (mode == "avg") {
    const Tensor count = y_counts.sum(-1).unsqueeze(2) * x_counts.sum(-1).unsqueeze(1);
    pooled = parts.sum({2, 3, 5, 6}) / count.unsqueeze(-1);
  } else if (mode == "max") {  // of the weighted elements, not of their sums
    const auto both = y_counts.unsqueeze(3).unsqueeze(4).unsqueeze(5).unsqueeze(6) &
                      x_counts.unsqueeze(1).unsqueeze(2).unsqueeze(3).unsqueeze(6);
    pooled =
        both.unsqueeze(-1).where(parts, -std::numeric_limits<double>::infinity()).max({2, 3, 5, 6});
  } else {
    call.refuse(fmt::format("mode is '{}': want avg or max", mode));
  }
  return pooled.permute({0, 3, 1, 2}).cast(x.dtype());
}

Tensor roi_align_10(const Call& call) { return roi_align(call, false); }
Tensor roi_align_16(const Call& call) {
  const std::string mode = call.attr("coordinate_transformation_mode", "half_pixel");
  if (mode != "half_pixel" && mode != "output_half_pixel")
    call.refuse(fmt::format("coordinate_transformation_mode is '{}'", mode));
  return roi_align(call, mode == "half_pixel");
}

// --- Regions of whole elements ---------------------------------------------------------------------

// Which elements of an axis each bin of each region has: (regions, bins, size).
Tensor members(const Tensor& first, const Tensor& end, std::int64_t bins, std::int64_t size) {
  const Options options{.dtype = first.dtype(), .device = first.device()};
  const Tensor start = first.reshape({-1, 1, 1});
  const Tensor span = (end.reshape({-1, 1, 1}) - start + 1).maximum(1) / bins;
  const Tensor bin = Tensor::arange(bins, options).unsqueeze(-1);
  const Tensor element = Tensor::arange(size, options);
  return (element >= (bin * span).floor() + start) & (element < ((bin + 1) * span).ceil() + start);
}

// The largest element of each bin, or 0 where it has none.
Tensor max_roi_pool(const Call& call) {
  const Tensor x = call.tensor(0), regions = call.tensor(1);
  want_image(call, x, regions, 5);
  const auto sizes = call.attr("pooled_shape", std::vector<std::int64_t>{});
  if (sizes.size() != 2) call.refuse("pooled_shape is not two sizes");
  for (const std::int64_t size : sizes) want_size(call, size);
  const std::vector<Tensor> columns = regions.cast(wide(regions.dtype())).unbind(1);
  const auto corner = [&](std::size_t i) {  // halves are rounded away from zero
    return (columns[i] * call.attr("spatial_scale", 1.0) + 0.5).floor();
  };
  constexpr double none = -std::numeric_limits<double>::infinity();
  const Tensor rows = members(corner(2), corner(4), sizes[0], x.size(2));
  const Tensor places = members(corner(1), corner(3), sizes[1], x.size(3));
  Tensor seen = x.index_select(0, columns[0].cast(dtypes::i64));  // (regions, channels, h, w)
  seen = places.unsqueeze(1).unsqueeze(2).where(seen.unsqueeze(3), none).max(-1);
  seen = rows.unsqueeze(1).unsqueeze(3).where(seen.transpose(2, 3).unsqueeze(2), none).max(-1);
  return (seen == none).where(0, seen).cast(x.dtype());
}

}  // namespace

OpTable regions_ops() {
  static const Op ops[] = {
      {"MaxRoiPool", 1, max_roi_pool},
      {"RoiAlign", 10, roi_align_10},
      {"RoiAlign", 16, roi_align_16},
  };
  return {"", ops};
}

}  // namespace weft::onnx
