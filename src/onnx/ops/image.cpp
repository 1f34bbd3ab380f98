// Images: seen through grids, decoded, cut.

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <weft/error.h>
#include <weft/functional.h>
#include <weft/io.h>

#include "axes.h"
#include "tables.h"

namespace weft::onnx {
namespace {

using functional::Outside;

Resampling sampling(const Call& call) {
  const std::string mode = call.attr("mode", "linear");
  if (mode == "linear" || mode == "bilinear") return Resampling::Linear;
  if (mode == "nearest") return Resampling::Nearest;
  if (mode == "cubic" || mode == "bicubic") return Resampling::Cubic;
  call.refuse(fmt::format("mode is '{}': want linear, nearest or cubic", mode));
}

Outside outside(const Call& call) {
  const std::string mode = call.attr("padding_mode", "zeros");
  if (mode == "zeros") return Outside::Zeros;
  if (mode == "border") return Outside::Border;
  if (mode == "reflection") return Outside::Reflection;
  call.refuse(fmt::format("padding_mode is '{}': want zeros, border or reflection", mode));
}

Tensor grid_sample(const Call& call) {
  const Tensor x = call.tensor(0);
  return functional::grid_sample(x, call.tensor(1),
                                 {.mode = sampling(call),
                                  .padding = outside(call),
                                  .align_corners = call.attr("align_corners", 0) != 0})
      .cast(x.dtype());
}

Tensor affine_grid(const Call& call) {
  return functional::affine_grid(call.tensor(0), call.ints(1), call.attr("align_corners", 0) != 0);
}

// The bytes of a file as (height, width, channels); what is no image that can be read has no elements.
Tensor image_decoder(const Call& call) {
  const std::vector<std::int64_t> numbers = call.ints(0);
  std::vector<std::byte> file;
  std::ranges::transform(numbers, std::back_inserter(file),
                         [](std::int64_t number) { return static_cast<std::byte>(number); });
  const std::string format = call.attr("pixel_format", "RGB");
  const bool is_grey = format == "Grayscale";
  if (!is_grey && format != "RGB" && format != "BGR")
    call.refuse(fmt::format("pixel_format is '{}': want RGB, BGR or Grayscale", format));
  const Options options = call.options(dtypes::u8);
  Tensor image;
  try {
    image = decode_image(file, 3, options);
  } catch (const Error&) {
    return Tensor::zeros({0, 0, is_grey ? 1 : 3}, options);
  }
  if (format == "BGR") return image.flip(2);
  if (!is_grey) return image;
  // In parts of 65536, of red, green and blue: what ITU-R 601 says.
  const Tensor parts({19595, 38470, 7471}, {.dtype = dtypes::i32, .device = options.device});
  const Tensor sum = (image.cast(dtypes::i32) * parts).sum(2, true, dtypes::i32);
  return ((sum + 32768) >> 16).cast(dtypes::u8);
}

// Of what is too much, and of the zeros around what is too little, half is in front, rounded down.
Tensor center_crop_pad(const Call& call) {
  const Tensor x = call.tensor(0);
  const std::vector<std::int64_t> sizes = call.ints(1);
  const auto axes = call.attr("axes", axes_between(0, x.ndim()));
  if (sizes.size() != axes.size())
    call.refuse(fmt::format("{} sizes for {} axes", sizes.size(), axes.size()));
  Tensor::Bounds widths(static_cast<std::size_t>(x.ndim()), {0, 0});
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (sizes[i] < 0 || sizes[i] > (std::int64_t{1} << 40))
      call.refuse(fmt::format("a size of {}", sizes[i]));
    const std::int64_t axis = axis_of(call, axes[i], x.ndim());
    const std::int64_t more = sizes[i] - x.size(axis);
    widths[static_cast<std::size_t>(axis)] = {more / 2, more - more / 2};
  }
  return x.pad(widths);
}

}  // namespace

OpTable image_ops() {
  static const Op ops[] = {
      {"AffineGrid", 20, affine_grid},
      {"CenterCropPad", 18, center_crop_pad},
      {"GridSample", 16, grid_sample},
      {"ImageDecoder", 20, image_decoder},
  };
  return {"", ops};
}

}  // namespace weft::onnx
