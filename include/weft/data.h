// Data sets in local files, as they are published.
#pragma once

#include <string>
#include <vector>

#include <weft/tensor.h>

namespace weft {

struct LabelledImages {
  Tensor images;  // u8 of shape (count, channels, height, width)
  Tensor labels;  // integers of shape (count)
};
struct DataSet {
  LabelledImages train, test;
};

// A tensor in the format of MNIST, as it is or packed by gzip.
Tensor load_idx(const std::string& path, const std::string& device = {});

// MNIST, Fashion-MNIST and others of four such files, plain or .gz. Without the two of t10k, the last 10,000 of train
// are for tests.
DataSet load_mnist(const std::string& folder, const std::string& device = {});

// The binary version, plain or .gz, or the one for Python.
DataSet load_cifar10(const std::string& folder, const std::string& device = {});
LabelledImages load_cifar10_batch(const std::string& path, const std::string& device = {});
const std::vector<std::string>& cifar10_classes();

// Images in folders that are their classes: folder/dog/1.png. Both are sorted by name.
struct ImageFolder {
  explicit ImageFolder(const std::string& folder);

  std::vector<std::string> classes;
  std::vector<std::string> files;    // their paths
  std::vector<std::int64_t> labels;  // of each, its place among the classes

  // So many of the files from `first` on, which have to be of one size.
  LabelledImages load(std::size_t first, std::size_t count, int channels = 3,
                      const std::string& device = {}) const;
};

// All of a file, unpacked where it is a .gz.
std::string load_text(const std::string& path);

}  // namespace weft
