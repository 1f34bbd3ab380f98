// Images by stb: the only source that includes its headers.

#include <algorithm>
#include <limits>
#include <memory>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/error.h>
#include <weft/io.h>

#include <weft/dev/io/file.h>

#include "jpeg.h"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_HDR  // of a file that ends within a run stb 2.27 reads on for ever
#define STBI_NO_PIC  // and a damaged one it converts from nowhere
#define STBI_NO_PSD  // colours below the white that it takes away become any
#define STBI_NO_STDIO
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#ifdef __clang__  // it copies no bytes to nowhere, which a sanitizer would complain of
#pragma clang attribute push(__attribute__((no_sanitize("nonnull-attribute"))), apply_to = function)
#endif
#include <stb/stb_image.h>
#include <stb/stb_image_write.h>
#ifdef __clang__
#pragma clang attribute pop
#endif
#pragma GCC diagnostic pop

namespace weft {

namespace {

// Where the pixels of a PNM file begin: behind three numbers, between which there are spaces and comments.
std::size_t header_of_pnm(std::string_view file) {
  constexpr std::string_view spaces = " \t\n\v\f\r", digits = "0123456789";
  std::size_t at = 2;
  for (int i = 0; i < 3; ++i) {
    at = std::min(file.find_first_not_of(spaces, at), file.size());
    while (at < file.size() && file[at] == '#')
      at = std::min(file.find_first_not_of(spaces, file.find_first_of("\n\r", at)), file.size());
    at = std::min(file.find_first_not_of(digits, at), file.size());
  }
  return at + 1;
}

// Pixels that such a file does not have stb gives as they happen to lie in memory.
bool is_whole(std::string_view file, std::size_t values) {
  if (!file.starts_with("P5") && !file.starts_with("P6")) return true;
  const bool are_words = stbi_is_16_bit_from_memory(reinterpret_cast<const stbi_uc*>(file.data()),
                                                    static_cast<int>(file.size())) != 0;
  return file.size() >= header_of_pnm(file) + values * (are_words ? 2 : 1);
}

Tensor decoded(std::span<const std::byte> file, const std::string& name, int channels,
               const Options& options) {
  if (channels < 0 || channels > 4)
    user_error(fmt::format("{}: {} channels where there are 1 to 4", name, channels));
  if (file.size() > std::size_t{std::numeric_limits<int>::max()})
    user_error(fmt::format("{}: {} bytes are too many", name, file.size()));
  if (!has_sound_tables(file)) user_error(fmt::format("{}: a Huffman table is damaged", name));
  int width = 0, height = 0, found = 0;
  const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
      stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(file.data()),
                            static_cast<int>(file.size()), &width, &height, &found, channels),
      stbi_image_free);
  if (pixels == nullptr) user_error(fmt::format("{}: {}", name, stbi_failure_reason()));
  const std::size_t size = std::size_t(width) * std::size_t(height);
  if (size == 0) user_error(fmt::format("{}: an image without pixels", name));
  if (!is_whole({reinterpret_cast<const char*>(file.data()), file.size()},
                size * std::size_t(found)))
    user_error(fmt::format("{}: the file ends before the image does", name));
  if (channels == 0) channels = found;
  const std::size_t bytes = size * std::size_t(channels);
  Tensor image =
      Tensor::from_bytes(std::as_bytes(std::span(pixels.get(), bytes)), {height, width, channels},
                         {.dtype = dtypes::u8, .device = options.device});
  return options.dtype.is_void() ? image : image.cast(options.dtype);
}

}  // namespace

Tensor load_image(const std::string& path, int channels, const Options& options) {
  const Called called;
  return decoded(read_file(path), fmt::format("load_image: '{}'", path), channels, options);
}

Tensor decode_image(std::span<const std::byte> file, int channels, const Options& options) {
  const Called called;
  return decoded(file, "decode_image", channels, options);
}

namespace {

struct Picture {
  std::vector<std::uint8_t> pixels;
  int width, height, channels, quality;
};

using Write = int (*)(stbi_write_func*, void*, const Picture&);

int write_png(stbi_write_func* write, void* file, const Picture& p) {
  return stbi_write_png_to_func(write, file, p.width, p.height, p.channels, p.pixels.data(),
                                p.width * p.channels);
}
int write_jpg(stbi_write_func* write, void* file, const Picture& p) {
  return stbi_write_jpg_to_func(write, file, p.width, p.height, p.channels, p.pixels.data(),
                                p.quality);
}
int write_bmp(stbi_write_func* write, void* file, const Picture& p) {
  return stbi_write_bmp_to_func(write, file, p.width, p.height, p.channels, p.pixels.data());
}
int write_tga(stbi_write_func* write, void* file, const Picture& p) {
  return stbi_write_tga_to_func(write, file, p.width, p.height, p.channels, p.pixels.data());
}

constexpr std::pair<std::string_view, Write> writers[] = {{".png", write_png},
                                                          {".jpg", write_jpg},
                                                          {".jpeg", write_jpg},
                                                          {".bmp", write_bmp},
                                                          {".tga", write_tga}};

void append(void* file, void* data, int size) {
  const auto* bytes = static_cast<const std::byte*>(data);
  auto& all = *static_cast<std::vector<std::byte>*>(file);
  all.insert(all.end(), bytes, bytes + size);
}

Picture picture_of(const Tensor& image, int quality) {
  const std::vector<std::int64_t> shape = image.shape();
  const bool has_channels = shape.size() == 3;
  const std::int64_t channels = has_channels ? shape[2] : 1;
  const bool fits = (has_channels || shape.size() == 2) && channels >= 1 && channels <= 4 &&
                    shape[0] > 0 && shape[1] > 0;
  if (!fits || image.dtype() != dtypes::u8)
    user_error(
        fmt::format("save_image: {} of shape ({}) where an image is u8 of shape (height, width) or "
                    "(height, width, 1 to 4)",
                    image.dtype().str(), fmt::join(shape, ", ")));
  return {image.to_vector<std::uint8_t>(), static_cast<int>(shape[1]), static_cast<int>(shape[0]),
          static_cast<int>(channels), quality};
}

}  // namespace

void save_image(const std::string& path, const Tensor& image, int jpeg_quality) {
  const Called called;
  const auto* writer =
      std::ranges::find_if(writers, [&](const auto& each) { return path.ends_with(each.first); });
  if (writer == std::end(writers))
    user_error(fmt::format("save_image: '{}' ends in none of .png, .jpg, .bmp, .tga", path));
  const Picture picture = picture_of(image, jpeg_quality);
  std::vector<std::byte> file;
  if (writer->second(append, &file, picture) == 0) internal_error("an image could not be encoded");
  write_file(path, file);
}

}  // namespace weft
