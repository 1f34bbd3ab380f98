// Tensors in files.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>

#include <unistd.h>
#include <weft/dev/device/device.h>

#include "../tensor/tensor_test.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

class Disk : public ::testing::Test {
 protected:
  Disk() { fs::create_directories(folder_); }
  ~Disk() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ / name; }

  template <class T>
  std::string file_of(const std::string& name, const std::vector<T>& values) const {
    std::ofstream out(path(name), std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()),
              static_cast<std::streamsize>(values.size() * sizeof(T)));
    return path(name);
  }

  template <class T>
  static std::vector<T> contents(const std::string& file) {
    std::vector<T> values(fs::file_size(file) / sizeof(T));
    std::ifstream(file, std::ios::binary)
        .read(reinterpret_cast<char*>(values.data()),
              static_cast<std::streamsize>(values.size() * sizeof(T)));
    return values;
  }

  // 0 ... 23 as i32, of shape (2, 3, 4).
  Tensor counted() const {
    std::vector<std::int32_t> values(24);
    std::iota(values.begin(), values.end(), 0);
    return Tensor::from_file(file_of("counted", values)).bitcast(dtypes::i32).reshape({2, 3, 4});
  }

 private:
  fs::path folder_ = fs::temp_directory_path() / fmt::format("weft_disk_{}", ::getpid());
};

// What this process has read by calls such as read() so far.
std::uint64_t bytes_read() {
  std::ifstream io("/proc/self/io");
  std::string name;
  std::uint64_t count = 0;
  io >> name >> count;
  return count;
}

std::size_t kernels_in(const Tensor& tensor) {
  const auto items = tensor.schedule();
  return static_cast<std::size_t>(
      std::ranges::count_if(items, [](const auto& item) { return !item.kernel.is_null(); }));
}

TEST_F(Disk, HoldsTheBytesOfAFile) {
  const std::string file = file_of<std::uint8_t>("bytes", {1, 2, 250, 4});
  const Tensor tensor = Tensor::from_file(file);
  EXPECT_EQ(tensor.device(), "DISK:" + file);
  EXPECT_TRUE(holds<int>(tensor, {1, 2, 250, 4}, {4}));
  EXPECT_TRUE(holds<int>(tensor.to("CPU"), {1, 2, 250, 4}, {4}));
  EXPECT_TRUE(holds<int>(Tensor::from_file(file_of<char>("none", {})), {}, {0}));
}

TEST_F(Disk, ReadsBytesAsAnotherDtype) {
  const std::string file = file_of<float>("floats", {1.5F, -2.0F, 8.0F, 0.25F});
  const Tensor bytes = Tensor::from_file(file);
  EXPECT_TRUE(holds<float>(bytes.bitcast(dtypes::f32), {1.5F, -2, 8, 0.25F}, {4}));
  EXPECT_TRUE(holds<float>(bytes.slice(0, {4, 12}).bitcast(dtypes::f32).to("CPU"), {-2, 8}, {2}));
  EXPECT_TRUE(holds<std::uint32_t>(bytes.bitcast(dtypes::f32).bitcast(dtypes::u32).to("CPU"),
                                   {0x3FC00000, 0xC0000000, 0x41000000, 0x3E800000}, {4}));
  EXPECT_EQ(error_of([&] { return bytes.slice(0, {0, 7}).bitcast(dtypes::f32); }),
            "bitcast: rows of 7 bytes are no whole number of f32");
  EXPECT_EQ(error_of([&] { return bytes.reshape({4, 4}).transpose().bitcast(dtypes::f32); }),
            "bitcast: the bytes do not lie together: copy the tensor with to() first");
}

TEST_F(Disk, CopiesWhatLiesTogetherWithoutAKernel) {
  const Tensor tensor = counted();
  const Tensor rows = tensor[{1, Slice(1, 3)}];
  EXPECT_EQ(kernels_in(rows.to("CPU")), 0U);
  EXPECT_TRUE(holds<int>(rows.to("CPU"), {16, 17, 18, 19, 20, 21, 22, 23}, {2, 4}));
  EXPECT_TRUE(holds<int>(tensor.reshape({24}).slice(0, {5, 8}).to("INTERP"), {5, 6, 7}, {3}));
  EXPECT_TRUE(holds<int>(rows, {16, 17, 18, 19, 20, 21, 22, 23}, {2, 4}));
  EXPECT_EQ((rows.to("CPU") + 1).sum().item<int>(), 164);
}

TEST_F(Disk, FinishesOtherViewsWhereTheCopyIs) {
  const Tensor tensor = counted();
  const Tensor column = tensor[{1, Slice(), Slice(1, 3)}];
  EXPECT_TRUE(holds<int>(column.to("CPU"), {13, 14, 17, 18, 21, 22}, {3, 2}));
  EXPECT_TRUE(holds<int>(column, {13, 14, 17, 18, 21, 22}, {3, 2}));
  const Tensor turned = tensor[{0}].transpose();
  EXPECT_TRUE(holds<int>(turned.to("CPU"), {0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}, {4, 3}));
  EXPECT_TRUE(holds<int>(turned.reshape({12}).slice(0, {2, 5}).to("CPU"), {8, 1, 5}, {3}));
  EXPECT_TRUE(holds<int>(tensor[{0, 0}].flip(0).slice(0, {1, 3}).to("CPU"), {2, 1}, {2}));
  EXPECT_TRUE(holds<float>(tensor.cast(dtypes::f32)[{1, 2}].to("CPU"), {20, 21, 22, 23}, {4}));
  EXPECT_TRUE(holds<int>(tensor[{0, 0}].pad({{1, 0}}).to("CPU"), {0, 0, 1, 2, 3}, {5}));
}

TEST_F(Disk, ReadsNoMoreThanIsAskedFor) {
  constexpr std::int64_t row = 1 << 20, rows = 8 << 10;
  const std::string file = file_of<std::uint8_t>("large", {});
  fs::resize_file(file, static_cast<std::uintmax_t>(row * rows));  // 8 GiB without a block
  {
    std::fstream out(file, std::ios::binary | std::ios::in | std::ios::out);
    out.seekp(5000 * row + 17) << 'x';
  }
  const Tensor large = Tensor::from_file(file).reshape({rows, row});
  const std::uint64_t before = bytes_read();
  const auto part = large[{Slice(4999, 5001), Slice(16, 19)}].to("CPU").to_vector<int>();
  const auto turned = large.transpose().cast(dtypes::i32)[{Slice(17, 18), Slice(5000, 5001)}];
  EXPECT_EQ(turned.to("CPU").item<int>(), 'x');
  EXPECT_EQ(part, (std::vector<int>{0, 0, 0, 0, 'x', 0}));
  EXPECT_LT(bytes_read() - before, 4U << 20);
}

TEST_F(Disk, WritesNewFiles) {
  const std::string file = path("written");
  const Tensor values = Tensor({{1, 2}, {3, 4}}, {.dtype = dtypes::f32}) * 0.5;
  const Tensor stored = values.transpose().to("DISK:" + file).realize();
  EXPECT_EQ(contents<float>(file), (std::vector<float>{0.5F, 1.5F, 1, 2}));
  EXPECT_TRUE(holds<float>(stored, {0.5F, 1.5F, 1, 2}, {2, 2}));
  EXPECT_TRUE(holds<float>(stored.to("CPU") + 1, {1.5F, 2.5F, 2, 3}, {2, 2}));
  EXPECT_EQ(
      error_of([&] { return values.to("DISK:" + file).realize(); }),
      fmt::format("realize: DISK: '{}' is there already: tensors go to new files only", file));
  EXPECT_EQ(contents<float>(file), (std::vector<float>{0.5F, 1.5F, 1, 2}));
}

TEST_F(Disk, CopiesFromFileToFile) {
  const Tensor part = counted()[{1, 0}];
  part.to("DISK:" + path("part")).realize();
  EXPECT_EQ(contents<int>(path("part")), (std::vector<int>{12, 13, 14, 15}));
}

TEST_F(Disk, SaysWhatIsWrongWithAFile) {
  EXPECT_EQ(error_of([&] { return Tensor::from_file(path("none")); }),
            fmt::format("from_file: '{}': No such file or directory", path("none")));
  const std::string file = file_of<std::uint8_t>("cut", {1, 2, 3, 4});
  const Tensor tensor = Tensor::from_file(file);
  fs::resize_file(file, 3);
  EXPECT_EQ(error_of([&] { return tensor.slice(0, {2, 4}).to("CPU").realize(); }),
            fmt::format("realize: DISK: '{}' has 3 bytes, fewer than the 4 of the tensor", file));
  fs::remove(file);
  const Tensor gone = Tensor::empty({4}, {.device = "DISK:" + file});
  EXPECT_EQ(error_of([&] { return gone.to_vector<float>(); }),
            fmt::format("to_vector: DISK: '{}': No such file or directory", file));
  EXPECT_EQ(error_of([&] { return counted().to("DISK:" + path("no/folder")).realize(); }),
            fmt::format("realize: DISK: '{}': No such file or directory", path("no/folder")));
  EXPECT_EQ(error_of([] { return find_device("DISK").name(); }),
            "'DISK' is not the name of a device: write DISK:path");
}

TEST_F(Disk, ComputesNothing) {
  const Tensor tensor = counted();
  const std::string message =
      " only stores tensors, it cannot run e_24: copy them first, as by to(\"CPU\")";
  EXPECT_EQ(error_of([&] { return (tensor.reshape({24}) + 1).realize(); }),
            "realize: " + tensor.device() + message);
  EXPECT_EQ(error_of([&] { return (tensor.reshape({24}) + 1).to("CPU").realize(); }),
            "realize: " + tensor.device() + message);
  EXPECT_NE(error_of([&] { return tensor + Tensor::ones({4}); }).find("move one with to()"),
            std::string::npos);
}

}  // namespace
}  // namespace weft
