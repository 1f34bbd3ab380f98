#include "image_input.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>
#include <weft/error.h>
#include <weft/io.h>

namespace weft::cli {
namespace {

// Sizes of an input for images; 0 where they are open.
struct Frame {
  bool has_batch, channels_last;
  std::int64_t batch, channels, height, width;
};

bool may_be_channels(std::int64_t size) { return size == 1 || size == 3 || size == 4; }

Frame frame_of(const onnx::Port& port, const ImageOptions& options) {
  std::vector<std::int64_t> sizes;
  for (const auto& size : port.shape) {
    const auto* number = std::get_if<std::int64_t>(&size);
    sizes.push_back(number == nullptr ? 0 : std::max<std::int64_t>(*number, 0));
  }
  if (!port.has_shape) sizes = {0, 0, 0, 0};
  const std::size_t axes = sizes.size();
  if (axes != 3 && axes != 4)
    user_error(fmt::format("it has {} axes, where images need 3 or 4", axes));
  const bool is_guess = options.layout.empty();
  const bool looks_last = may_be_channels(sizes[axes - 1]) && !may_be_channels(sizes[axes - 3]);
  const bool last = is_guess ? looks_last : options.layout == "nhwc";
  Frame frame{axes == 4, last, axes == 4 ? sizes[0] : 1, 0, 0, 0};
  frame.channels = sizes[last ? axes - 1 : axes - 3];
  frame.height = sizes[last ? axes - 3 : axes - 2];
  frame.width = sizes[last ? axes - 2 : axes - 1];
  frame.batch = std::max<std::int64_t>(frame.batch, 1);
  if (frame.channels == 0) frame.channels = 3;
  if (frame.channels > 4)
    user_error(fmt::format("it has {} channels, where images have 1 to 4: is --layout right?",
                           frame.channels));
  return frame;
}

// One number for each channel, along axis 1 of four.
Tensor by_channel(const std::vector<double>& norm, std::size_t first, std::int64_t channels) {
  const std::size_t half = norm.size() / 2;
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < channels; ++i)
    numbers.push_back(norm[first + (half == 1 ? 0 : static_cast<std::size_t>(i))]);
  return Tensor(numbers).cast(dtypes::f32).reshape({1, channels, 1, 1});
}

// Pixels from 0 to 255 as the model wants them.
Tensor normalised(const Tensor& pixels, const std::vector<double>& norm, DType dtype) {
  const std::int64_t channels = pixels.size(1);
  const std::size_t wanted = 2 * static_cast<std::size_t>(channels);
  if (!norm.empty() && norm.size() != 2 && norm.size() != wanted)
    user_error(fmt::format("--image-norm has {} numbers, where {} channels need 2 or {}",
                           norm.size(), channels, wanted));
  Tensor values = pixels;
  if (!norm.empty())
    values = (pixels / 255 - by_channel(norm, 0, channels)) /
             by_channel(norm, norm.size() / 2, channels);
  else if (dtype.is_float())
    values = pixels / 255;
  return dtype.is_float() ? values.cast(dtype) : values.round().cast(dtype);
}

}  // namespace

bool is_image(const std::string& file) {
  constexpr std::array endings = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tga", ".ppm", ".pgm"};
  std::string ending = std::filesystem::path(file).extension().string();
  for (char& c : ending)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return std::ranges::find(endings, ending) != endings.end();
}

Tensor image_input(const onnx::Port& port, const std::string& file, const ImageOptions& options) {
  const Frame frame = frame_of(port, options);
  const Tensor image = load_image(file, static_cast<int>(frame.channels));
  Tensor pixels = image.cast(dtypes::f32).permute({2, 0, 1}).unsqueeze(0);
  const std::int64_t height = frame.height == 0 ? image.size(0) : frame.height;
  const std::int64_t width = frame.width == 0 ? image.size(1) : frame.width;
  if (height != image.size(0) || width != image.size(1))
    pixels = pixels.interpolate({height, width}, {.antialias = true});
  Tensor values = normalised(pixels, options.norm, onnx::dtype_of(port.type));
  if (frame.channels_last) values = values.permute({0, 2, 3, 1});
  if (!frame.has_batch) return values.squeeze(0);
  return values.expand({frame.batch, -1, -1, -1});
}

}  // namespace weft::cli
