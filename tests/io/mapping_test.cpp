// How much of a file is in memory, and that it stays what it is.
#include <weft/dev/io/mapping.h>

#include <cstring>
#include <numeric>

#include "files.h"

namespace weft {
namespace {

constexpr std::size_t megabyte = std::size_t{1} << 20, size = 16 * megabyte;

// Of what mappings of these tests' files have in memory, other than libraries.
double megabytes_of_files() {
  std::ifstream mappings("/proc/self/smaps");
  double kilobytes = 0;
  bool is_ours = false;
  for (std::string line; std::getline(mappings, line);) {
    if (line.find('-') < line.find(' ')) is_ours = line.ends_with("/numbers");
    if (is_ours && line.starts_with("Rss:")) kilobytes += std::stod(line.substr(4));
  }
  return kilobytes / 1024;
}

class Mappings : public InFolder {
 protected:
  // Numbers from 0 on as f32, behind so many bytes.
  std::shared_ptr<const Mapping> numbers(std::size_t begin) const {
    std::vector<float> values(size / sizeof(float));
    std::iota(values.begin(), values.end(), 0.F);
    std::vector<char> bytes(begin + size);
    std::memcpy(bytes.data() + begin, values.data(), size);
    return std::make_shared<const Mapping>(file("numbers", bytes));
  }
  static Tensor tensor(const std::shared_ptr<const Mapping>& file, std::size_t begin,
                       Memory::Assigned assigned = Memory::Assigned::Perhaps) {
    return Memory(file, "CPU", assigned)
        .tensor(file->bytes().subspan(begin), dtypes::f32,
                {static_cast<std::int64_t>(size / sizeof(float))});
  }
  // The sums of the rows, for each of many rows of ones, by a product whose kernel keeps the frozen rows packed.
  static std::vector<double> sums_by_product(const Tensor& numbers) {
    const Tensor rows = numbers.reshape({columns, -1});
    const Tensor ones = Tensor::ones({64, rows.size(1)}).contiguous().realize();
    return ones.matmul(rows.transpose()).cast(dtypes::f64).to_vector<double>();
  }
  static void expect_sums(const std::vector<double>& sums, double first) {
    const double length = size / sizeof(float) / static_cast<double>(columns);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const double begin = first + length * static_cast<double>(i % columns);
      const double expected = length * (begin + (length - 1) / 2);
      ASSERT_NEAR(sums[i], expected, 1e-5 * expected) << i;
    }
  }
  static constexpr std::int64_t columns = 1024;
  static bool are_all_there(const Tensor& tensor) {
    const auto values = tensor.to_vector<float>();
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i] != static_cast<float>(i)) return false;
    return values.size() == size / sizeof(float);
  }
};

TEST_F(Mappings, ForgetPagesAndNoContents) {
  const auto file = numbers(0);
  const std::vector<std::byte> all(file->bytes().begin(), file->bytes().end());
  const double before = megabytes_of_files();
  file->forget(file->bytes().subspan(100, size / 2));
  EXPECT_LT(megabytes_of_files(), before - 7);
  EXPECT_TRUE(std::ranges::equal(file->bytes(), all));
  file->forget(file->bytes().subspan(100, 200));
  file->forget({});
  EXPECT_TRUE(std::ranges::equal(file->bytes(), all));
}

// Tensors are copies of what begins at an odd place.
TEST_F(Mappings, AreNotInMemoryBesideACopy) {
  const auto file = numbers(1);
  const double before = megabytes_of_files();
  const Tensor copy = tensor(file, 1);
  EXPECT_LT(megabytes_of_files(), before + 4);
  EXPECT_TRUE(are_all_there(copy));
  EXPECT_TRUE(are_all_there(tensor(file, 1))) << "once more from the file";
}

TEST_F(Mappings, KeepWhatIsWrittenInPlace) {
  const auto file = numbers(sizeof(float));
  Tensor in_place = tensor(file, sizeof(float));
  in_place.assign(in_place + 1).realize();
  EXPECT_EQ(in_place.to_vector<float>()[41], 42.F);
  EXPECT_EQ(bytes_of(this->file("numbers"))[sizeof(float)], 0) << "the file itself";
}

TEST_F(Mappings, AreNotInMemoryBesideWhatKernelsKeepOfConstants) {
  const auto file = numbers(0);
  const double before = megabytes_of_files();
  Tensor weights = tensor(file, 0, Memory::Assigned::Never);
  weights.freeze();
  expect_sums(sums_by_product(weights), 0);
  EXPECT_LT(megabytes_of_files(), before + 4);
  EXPECT_TRUE(are_all_there(weights)) << "once more from the file";
}

TEST_F(Mappings, KeepWhatWasWrittenBeforeItIsConstant) {
  const auto file = numbers(0);
  Tensor weights = tensor(file, 0);
  weights.assign(weights + 1).realize();
  weights.freeze();
  expect_sums(sums_by_product(weights), 1);
  EXPECT_EQ(weights.to_vector<float>()[41], 42.F);
}

TEST(Mapping, OfTheProgramsOwnBytes) {
  const Mapping own(std::vector<std::byte>(3 * megabyte, std::byte{7}));
  own.forget(own.bytes());
  EXPECT_TRUE(
      std::ranges::all_of(own.bytes(), [](std::byte each) { return each == std::byte{7}; }));
}

TEST_F(Mappings, ForgetNothingThatLiesElsewhere) {
  const std::vector<std::byte> other(3 * megabyte, std::byte{7});
  const auto is_as_it_was = [&] {
    return std::ranges::all_of(other, [](std::byte each) { return each == std::byte{7}; });
  };
  const Mapping empty(std::vector<std::byte>{});
  empty.forget(other);
  EXPECT_TRUE(is_as_it_was());
  numbers(0)->forget(other);
  EXPECT_TRUE(is_as_it_was());
}

}  // namespace
}  // namespace weft
