#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/data.h>
#include <weft/error.h>
#include <weft/io.h>

#include "file.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

// What is in a folder, by name; hidden files are not.
std::vector<fs::path> sorted(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (const fs::directory_entry& each : fs::directory_iterator(folder, error))
    if (!each.path().filename().string().starts_with('.')) paths.push_back(each.path());
  if (error) InFile{folder.string()}.fail(error.message());
  std::ranges::sort(paths);
  return paths;
}

}  // namespace

ImageFolder::ImageFolder(const std::string& folder) {
  const Called called("ImageFolder");
  for (const fs::path& path : sorted(folder)) {
    if (!fs::is_directory(path)) continue;
    for (const fs::path& file : sorted(path)) {
      files.push_back(file.string());
      labels.push_back(static_cast<std::int64_t>(classes.size()));
    }
    classes.push_back(path.filename().string());
  }
  if (files.empty())
    InFile{folder}.fail("there are no images in folders in it, as in folder/dog/1.png");
}

LabelledImages ImageFolder::load(std::size_t first, std::size_t count, int channels,
                                 const std::string& device) const {
  const Called called("ImageFolder::load");
  if (first > files.size() || count > files.size() - first || count == 0)
    user_error(fmt::format("{} images from {} on, of {}", count, first, files.size()));
  std::vector<Tensor> images;
  std::vector<std::int64_t> places;
  for (std::size_t i = first; i < first + count; ++i) {
    images.push_back(load_image(files[i], channels, {.device = device}).permute({2, 0, 1}));
    places.push_back(labels[i]);
    if (images.back().shape() != images[0].shape())
      InFile{files[i]}.fail(fmt::format("its shape is ({}), that of '{}' is ({})",
                                        fmt::join(images.back().shape(), ", "), files[first],
                                        fmt::join(images[0].shape(), ", ")));
  }
  return {Tensor::stack(images), Tensor(places, {.device = device})};
}

}  // namespace weft
