// Any bytes as an image of any kind.
#include <cstdlib>
#include <span>

#include "as_file.h"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

namespace weft {
namespace {

// A few bytes may stand for an image of gigabytes, which takes long and finds nothing more. Heights that are negative count as well.
bool is_small(std::string_view text) {
  constexpr std::int64_t most_pixels = 1 << 16;
  int width = 0, height = 0, channels = 0;
  const auto* const bytes = reinterpret_cast<const stbi_uc*>(text.data());
  return stbi_info_from_memory(bytes, static_cast<int>(text.size()), &width, &height, &channels) ==
             0 ||
         std::int64_t{width} * std::abs(std::int64_t{height}) <= most_pixels;
}

void run(std::string_view text) {
  if (!is_small(text)) return;
  const Tensor image = decode_image(std::as_bytes(std::span(text)), 0, {.device = "INTERP"});
  if (image.numel() == 0 || image.size(2) > 4) std::abort();
  touch(image);
}

}  // namespace
}  // namespace weft

WEFT_FUZZ(weft::run)
