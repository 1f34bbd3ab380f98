#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/data.h>
#include <weft/error.h>
#include <weft/io.h>

#include <weft/dev/base/folder.h>
#include <weft/dev/io/file.h>

namespace weft {
namespace {

namespace fs = std::filesystem;

// What is in a folder, by name; hidden files are not.
std::vector<fs::path> sorted(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::path& path : paths_in(folder, error))
    if (!path.filename().string().starts_with('.')) paths.push_back(std::move(path));
  if (error) InFile{folder.string()}.fail(error.message());
  std::ranges::sort(paths);
  return paths;
}

}  // namespace

ImageFolder::ImageFolder(const std::string& folder) {
  const Called called("ImageFolder");
  for (const fs::path& path : sorted(folder)) {
    if (std::error_code error; !fs::is_directory(path, error)) continue;
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
  std::vector<std::byte> bytes;
  std::vector<std::int64_t> shape, all_labels;
  for (std::size_t i = first; i < first + count; ++i) {
    const Tensor image = load_image(files[i], channels, {.device = "CPU"});
    if (i == first) shape = image.shape();
    if (image.shape() != shape)
      InFile{files[i]}.fail(fmt::format("its shape is ({}), that of '{}' is ({})",
                                        fmt::join(image.shape(), ", "), files[first],
                                        fmt::join(shape, ", ")));
    bytes.resize(bytes.size() + image.nbytes());
    image.to_bytes(std::span(bytes).last(image.nbytes()));
    all_labels.push_back(labels[i]);
  }
  shape.insert(shape.begin(), static_cast<std::int64_t>(count));
  const Tensor images =
      Tensor::from_bytes(bytes, Shape(shape), {.dtype = dtypes::u8, .device = device});
  return {images.permute({0, 3, 1, 2}), Tensor(all_labels, {.device = device})};
}

}  // namespace weft
