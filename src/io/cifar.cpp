// CIFAR-10. In the binary version an image is a byte for its label, then its 3 planes of 32 by 32; the one for
// Python is a pickle of a dictionary with all labels and all planes.

#include <fmt/format.h>
#include <weft/data.h>

#include "cursor.h"
#include "data_files.h"
#include "pickle.h"

namespace weft {
namespace {

constexpr std::int64_t pixels = std::int64_t{3} * 32 * 32;
constexpr std::byte pickled{0x80};
constexpr std::string_view published =
    "CIFAR-10 is at https://www.cs.toronto.edu/~kriz/cifar.html, as cifar-10-binary.tar.gz and "
    "cifar-10-python.tar.gz";

LabelledImages labelled(const Tensor& planes, const std::vector<std::int64_t>& labels,
                        const std::string& device, const InFile& in) {
  std::vector<std::uint8_t> bytes;
  for (const std::int64_t label : labels) {
    if (label < 0 || label >= std::ssize(cifar10_classes()))
      in.fail(fmt::format("it has a label {}", label));
    bytes.push_back(static_cast<std::uint8_t>(label));
  }
  return {planes.reshape({-1, 3, 32, 32}),
          Tensor::from_bytes(std::as_bytes(std::span(bytes)), {std::ssize(bytes)},
                             {.dtype = dtypes::u8, .device = device})};
}

LabelledImages from_records(std::span<const std::byte> file, const std::string& device,
                            const InFile& in) {
  const auto count = static_cast<std::int64_t>(file.size()) / (pixels + 1);
  if (file.empty() || count * (pixels + 1) != std::ssize(file))
    in.fail("it has no whole number of images");
  std::vector<std::byte> planes;
  std::vector<std::int64_t> labels;
  planes.reserve(static_cast<std::size_t>(count * pixels));
  for (Cursor from(file, in); from.left() > 0;) {
    labels.push_back(from.number<std::uint8_t>());
    const auto image = from.take(pixels);
    planes.insert(planes.end(), image.begin(), image.end());
  }
  const Options options{.dtype = dtypes::u8, .device = device};
  return labelled(Tensor::from_bytes(planes, {count, pixels}, options), labels, device, in);
}

LabelledImages from_pickle(std::span<const std::byte> file, const std::string& device,
                           const InFile& in) {
  Cursor from(file, in);
  const Object batch = Pickle(from).object(device, {});
  const Object* data = batch.is<Object::Dict>() ? batch.find("data") : nullptr;
  const Object* list = data != nullptr ? batch.find("labels") : nullptr;
  if (list == nullptr || !data->is<Tensor>() || !list->is<Object::List>())
    in.fail("it is a pickle without data and labels");
  const Tensor& planes = data->as<Tensor>();
  const auto count = static_cast<std::int64_t>(list->size());
  if (planes.dtype() != dtypes::u8 || planes.shape() != std::vector<std::int64_t>{count, pixels})
    in.fail("its data are not bytes of 32 by 32 pixels in 3 colours, one row for each label");
  std::vector<std::int64_t> labels;
  for (const Object& label : list->as<Object::List>()) labels.push_back(label.as<std::int64_t>());
  return labelled(planes, labels, device, in);
}

}  // namespace

LabelledImages load_cifar10_batch(const std::string& path, const std::string& device) {
  const Called called;
  const InFile in{path};
  const std::vector<std::byte> file = read_data(path);
  const bool is_pickle = !file.empty() && file[0] == pickled;  // which is no label
  return is_pickle ? from_pickle(file, device, in) : from_records(file, device, in);
}

DataSet load_cifar10(const std::string& folder, const std::string& device) {
  const Called called;
  const auto batch = [&](const std::string& name) {
    return load_cifar10_batch(data_file(folder, {name + ".bin", name}, published), device);
  };
  std::vector<Tensor> images, labels;
  for (const char* name :
       {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5"}) {
    const LabelledImages part = batch(name);
    images.push_back(part.images);
    labels.push_back(part.labels);
  }
  return {{Tensor::cat(images), Tensor::cat(labels)}, batch("test_batch")};
}

const std::vector<std::string>& cifar10_classes() {
  static const std::vector<std::string> classes = {
      "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"};
  return classes;
}

}  // namespace weft
