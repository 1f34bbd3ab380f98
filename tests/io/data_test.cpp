// Data sets in folders.

#include <cstring>

#include <weft/data.h>
#include <weft/io.h>
#include <zlib.h>

#include "files.h"

namespace weft {
namespace {

class Data : public InFolder {
 protected:
  // A file of bytes 0, 1 and so on, of those sizes.
  std::string idx(const std::string& name, const std::vector<std::uint32_t>& sizes, int code = 8,
                  std::size_t width = 1) const {
    std::string bytes{0, 0, static_cast<char>(code), static_cast<char>(sizes.size())};
    std::size_t count = width;
    for (const std::uint32_t size : sizes) {
      for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(size >> shift & 255);
      count *= size;
    }
    for (std::size_t i = 0; i < count; ++i) bytes += static_cast<char>(i);
    return file(name, bytes);
  }
  void pack(const std::string& name) const {
    const std::vector<char> bytes = bytes_of(file(name));
    gzFile out = gzopen((file(name) + ".gz").c_str(), "wb");
    gzwrite(out, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(out);
    fs::remove(file(name));
  }
  std::string folder() const { return fs::path(file("x")).parent_path().string(); }
};

TEST_F(Data, IdxOfEveryDtype) {
  EXPECT_TRUE(holds<int>(load_idx(idx("u8", {2, 2})), {0, 1, 2, 3}, {2, 2}));
  EXPECT_TRUE(holds<int>(load_idx(idx("i8", {1}, 0x09)), {0}, {1}));
  EXPECT_TRUE(holds<int>(load_idx(idx("i16", {2}, 0x0b, 2)), {0x0001, 0x0203}, {2}));
  EXPECT_TRUE(holds<int>(load_idx(idx("i32", {1}, 0x0c, 4)), {0x00010203}, {1}));
  EXPECT_EQ(load_idx(idx("f32", {1}, 0x0d, 4)).dtype(), dtypes::f32);
  EXPECT_EQ(load_idx(idx("f64", {1}, 0x0e, 8)).dtype(), dtypes::f64);
}

TEST_F(Data, Mnist) {
  idx("train-images-idx3-ubyte", {3, 2, 2});
  idx("train-labels-idx1-ubyte", {3});
  idx("t10k-images-idx3-ubyte", {1, 2, 2});
  idx("t10k-labels-idx1-ubyte", {1});
  pack("train-images-idx3-ubyte");
  const DataSet set = load_mnist(folder());
  EXPECT_TRUE(holds<int>(set.train.images, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {3, 1, 2, 2}));
  EXPECT_TRUE(holds<int>(set.train.labels, {0, 1, 2}, {3}));
  EXPECT_TRUE(holds<int>(set.test.images, {0, 1, 2, 3}, {1, 1, 2, 2}));
}

TEST_F(Data, MnistWithoutTests) {
  idx("train-images-idx3-ubyte", {10'002, 1, 1});
  idx("train-labels-idx1-ubyte", {10'002});
  const DataSet set = load_mnist(folder());
  EXPECT_TRUE(holds<int>(set.train.labels, {0, 1}, {2}));
  EXPECT_EQ(set.test.images.shape(), (Sizes64{10'000, 1, 1, 1}));
  EXPECT_EQ(set.test.labels[0].item<int>(), 2);
}

TEST_F(Data, MnistErrors) {
  EXPECT_EQ(
      error_of([&] { return load_mnist(folder()).train.images; }),
      fmt::format("load_mnist: '{}': there is no train-images-idx3-ubyte in it, neither plain "
                  "nor as .gz: MNIST's are at "
                  "https://ossci-datasets.s3.amazonaws.com/mnist/, those of Fashion-MNIST at "
                  "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
                  folder()));
  idx("train-images-idx3-ubyte", {3, 2, 2});
  idx("train-labels-idx1-ubyte", {2});
  EXPECT_EQ(error_of([&] { return load_mnist(folder()).train.images; }),
            fmt::format("load_mnist: '{}': labels of shape (2) for images of shape (3, 2, 2)",
                        file("train-labels-idx1-ubyte")));
  idx("train-labels-idx1-ubyte", {3});
  EXPECT_EQ(
      error_of([&] { return load_mnist(folder()).train.images; }),
      fmt::format("load_mnist: '{}': there is no t10k-images-idx3-ubyte, and of 3 images none "
                  "can be spared",
                  folder()));
}

TEST_F(Data, IdxFilesThatLie) {
  const std::pair<std::string, const char*> cases[] = {
      {"hello", "it is no idx file"},
      {std::string("\0\0\7\1", 4), "there is no dtype for 0x07"},
      {std::string("\0\0\10\1", 4), "it is cut off, or damaged"},
      {std::string("\0\0\10\1\0\0\0\5abc", 11), "3 bytes of values where the shape asks for 5"},
      {std::string("\0\0\10\3\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 16),
       "no tensor has the shape (4294967295, 4294967295, 4294967295)"},
      {"\x1f\x8b\x08zzz", "it is cut off, or no gzip"},
  };
  for (const auto& [bytes, message] : cases)
    EXPECT_EQ(error_of([&] { return load_idx(file("lie", bytes)); }),
              fmt::format("load_idx: '{}': {}", file("lie"), message));
  idx("small", {2, 2});
  pack("small");
  fs::copy(file("small.gz"), file("whole"));
  expect_care(file("whole"), [](const std::string& path) { load_idx(path); });
}

std::vector<int> counted(int first, int count) {
  std::vector<int> values;
  for (int i = first; i < first + count; ++i) values.push_back(i & 255);
  return values;
}

TEST_F(Data, CifarOfPython) {
  for (const char* name : {"cifar_python2", "cifar_python3"}) {
    SCOPED_TRACE(name);
    const LabelledImages batch = load_cifar10_batch(data(name));
    EXPECT_TRUE(holds<int>(batch.labels, {3, 9}, {2}));
    EXPECT_TRUE(holds<int>(batch.images, counted(0, 2 * 3072), {2, 3, 32, 32}));
  }
}

TEST_F(Data, CifarInBytes) {
  std::string record(3073, '\0');
  for (const char* name : {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                           "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"}) {
    record[0] = static_cast<char>(record[0] + 1);
    record[3072] = static_cast<char>(record[0] * 10);
    file(name, record + record);
  }
  pack("data_batch_5.bin");
  const DataSet set = load_cifar10(folder());
  EXPECT_TRUE(holds<int>(set.train.labels, {1, 1, 2, 2, 3, 3, 4, 4, 5, 5}, {10}));
  EXPECT_EQ((set.train.images[{8, 2, 31, 31}].item<int>()), 50);
  EXPECT_TRUE(holds<int>(set.test.labels, {6, 6}, {2}));
  EXPECT_EQ(cifar10_classes()[9], "truck");
}

TEST_F(Data, CifarErrors) {
  std::string record(3073, '\0');
  record[0] = 10;
  const std::string no_data("\x80\x02}.");
  const std::pair<std::string, const char*> cases[] = {
      {"", "it has no whole number of images"},
      {record.substr(1), "it has no whole number of images"},
      {record, "it has a label 10"},
      {no_data, "it is a pickle without data and labels"},
      {"\x80\x02}(U\4dataNU\6labels](K\1eu.", "it is a pickle without data and labels"},
      {"\x80\x02"
       "cos\nsystem\n(U\2lstR.",
       "it names os.system, which is refused: files may build tensors, numbers, text, lists and "
       "dictionaries, and call nothing else"},
  };
  for (const auto& [bytes, message] : cases)
    EXPECT_EQ(error_of([&] { return load_cifar10_batch(file("lie", bytes)).labels; }),
              fmt::format("load_cifar10_batch: '{}': {}", file("lie"), message));
  EXPECT_NE(error_of([&] {
              return load_cifar10(folder()).train.labels;
            }).find("there is no data_batch_1.bin or data_batch_1 in it"),
            std::string::npos);
}

TEST_F(Data, ImageFolders) {
  EXPECT_EQ(error_of([&] { return ImageFolder(folder()).files; }),
            fmt::format("ImageFolder: '{}': there are no images in folders in it, as in "
                        "folder/dog/1.png",
                        folder()));
  const auto grey = [](int value, std::int64_t width = 2) {
    return Tensor::full({1, width, 3}, value, {.dtype = dtypes::u8});
  };
  for (const char* name : {"dog", "cat"}) fs::create_directory(file(name));
  save_image(file("dog/b.png"), grey(20));
  save_image(file("dog/a.png"), grey(10));
  save_image(file("cat/x.png"), grey(30));
  const ImageFolder images(folder());
  EXPECT_EQ(images.classes, (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(images.labels, (std::vector<std::int64_t>{0, 1, 1}));
  const LabelledImages all = images.load(0, 3, 1);
  EXPECT_TRUE(holds<int>(all.images, {30, 30, 10, 10, 20, 20}, {3, 1, 1, 2}));
  EXPECT_TRUE(holds<int>(images.load(1, 1).labels, {1}, {1}));
  EXPECT_EQ(error_of([&] { return images.load(2, 2).labels; }),
            "ImageFolder::load: 2 images from 2 on, of 3");
  save_image(file("dog/c.png"), grey(10, 4));
  EXPECT_EQ(
      error_of([&] { return ImageFolder(folder()).load(2, 2).labels; }),
      fmt::format("ImageFolder::load: '{}': its shape is (1, 4, 3), that of '{}' is (1, 2, 3)",
                  file("dog/c.png"), file("dog/b.png")));
}

TEST_F(Data, Text) {
  file("text", std::string("a\nb"));
  EXPECT_EQ(load_text(file("text")), "a\nb");
  pack("text");
  EXPECT_EQ(load_text(file("text.gz")), "a\nb");
}

}  // namespace
}  // namespace weft
