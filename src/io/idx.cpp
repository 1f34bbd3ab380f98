// The format of MNIST: 0, 0, a number for the dtype, how many sizes, the sizes, and the values. Numbers have their
// first byte first.

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/data.h>

#include "cursor.h"
#include "data_files.h"
#include "npy.h"

namespace weft {
namespace {

constexpr std::pair<std::uint8_t, DType> coded[] = {{0x08, dtypes::u8},  {0x09, dtypes::i8},
                                                    {0x0b, dtypes::i16}, {0x0c, dtypes::i32},
                                                    {0x0d, dtypes::f32}, {0x0e, dtypes::f64}};

constexpr std::int64_t tests = 10'000;
constexpr std::string_view published =
    "MNIST's are at https://ossci-datasets.s3.amazonaws.com/mnist/, those of Fashion-MNIST at "
    "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/";

Tensor labels_for(const Tensor& images, const std::string& folder, const std::string& name,
                  const std::string& device) {
  const std::string path = data_file(folder, {name}, published);
  Tensor labels = load_idx(path, device);
  if (labels.ndim() != 1 || images.ndim() != 3 || labels.size(0) != images.size(0))
    InFile{path}.fail(fmt::format("labels of shape ({}) for images of shape ({})",
                                  fmt::join(labels.shape(), ", "),
                                  fmt::join(images.shape(), ", ")));
  return labels;
}

LabelledImages part(const std::string& folder, const std::string& part, const std::string& device) {
  const std::string path = data_file(folder, {part + "-images-idx3-ubyte"}, published);
  const Tensor images = load_idx(path, device);
  const Tensor labels = labels_for(images, folder, part + "-labels-idx1-ubyte", device);
  return {images.unsqueeze(1), labels};
}

LabelledImages between(const LabelledImages& all, const Slice& places) {
  return {all.images[places], all.labels[places]};
}

}  // namespace

Tensor load_idx(const std::string& path, const std::string& device) {
  const Called called;
  const InFile in{path};
  const std::vector<std::byte> file = read_data(path);
  Cursor from(file, in);
  if (from.number<std::uint16_t>() != 0) in.fail("it is no idx file");
  const auto code = from.number<std::uint8_t>();
  const auto* found = std::ranges::find(coded, code, &std::pair<std::uint8_t, DType>::first);
  if (found == std::end(coded)) in.fail(fmt::format("there is no dtype for 0x{:02x}", code));
  std::vector<std::int64_t> shape(from.number<std::uint8_t>());
  for (std::int64_t& size : shape) size = __builtin_bswap32(from.number<std::uint32_t>());
  return numpy_tensor({found->second, true, false, shape}, from.take(from.left()), path,
                      {.device = device});
}

DataSet load_mnist(const std::string& folder, const std::string& device) {
  const Called called;
  const LabelledImages train = part(folder, "train", device);
  if (has_data_file(folder, "t10k-images-idx3-ubyte")) return {train, part(folder, "t10k", device)};
  const std::int64_t count = train.labels.size(0);
  if (count <= tests)
    InFile{folder}.fail(
        fmt::format("there is no t10k-images-idx3-ubyte, and of {} images none can "
                    "be spared",
                    count));
  return {between(train, {.stop = count - tests}), between(train, {.start = count - tests})};
}

}  // namespace weft
