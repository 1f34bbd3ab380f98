// Sums of many terms: each term once, and little rounded off.

#include <numeric>
#include <random>

#include <weft/dev/ir/uop.h>

#include "tensor_test.h"

namespace weft {
namespace {

// Small integers, of which every sum in here is a float.
std::vector<float> whole_numbers(std::int64_t count) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(i * i % 11));
  return values;
}

float sum_of(const std::vector<float>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0F);
}

TEST(LongSums, AddEachTermOnce) {
  for (const int noopt : {0, 1}) {
    const Context context{{"NOOPT", noopt}};
    for (const std::int64_t count :
         {1024, 1025, 4096, 4097, 5000, 8191, 8192, 10007, 1 << 17, 300'001}) {
      const std::vector<float> values = whole_numbers(count);
      EXPECT_EQ(Tensor(values).sum().item<float>(), sum_of(values)) << count;
    }
  }
}

TEST(LongSums, AlongSomeOfManyLoops) {
  for (const int noopt : {0, 1}) {
    const Context context{{"NOOPT", noopt}};
    for (const auto& shape : {Sizes64{3, 5003}, {5003, 3}, {71, 73}, {9, 600, 3}, {2, 4999, 2}}) {
      const std::int64_t count =
          std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
      const std::vector<float> values = whole_numbers(count);
      const Tensor x = Tensor(values).reshape(Shape(std::vector<Dim>(shape.begin(), shape.end())));
      EXPECT_EQ(x.sum().item<float>(), sum_of(values));
      for (std::int64_t axis = 0; axis < x.ndim(); ++axis)
        EXPECT_EQ(x.sum(axis).sum().item<float>(), sum_of(values)) << axis;
      EXPECT_EQ((x.sum() + (x * 2).sum() - x.max()).item<float>(), 3 * sum_of(values) - 9);
    }
  }
}

// Partial results of all of them lie in the scratch memory of a kernel.
TEST(LongSums, OfSeveralKindsAlongFewRows) {
  const Tensor y = Tensor::ones({3, 262147}).contiguous().realize(), z = (y * 2).realize();
  const Tensor sum = y.sum(0), most = y.max(AxisList(0));
  Tensor::realize({sum, most});
  EXPECT_EQ((sum + most).min().item<float>(), 4);
  EXPECT_EQ((sum + most).max().item<float>(), 4);
  const Tensor cosine = (y * z).sum(0) / ((y * y).sum(0) * (z * z).sum(0)).sqrt();
  EXPECT_NEAR(cosine.realize().min().item<float>(), 1, 1e-6);
}

TEST(LongSums, OfSizesThatAreNotKnown) {
  const std::vector<float> values = whole_numbers(20'000);
  const Tensor x(values);
  x.realize();
  for (const std::int64_t count : {0, 1, 1024, 4097, 19'999}) {
    const UOp n = make(Op::Bind, {Variable("n", 0, 20'000), const_int(count)});
    const Tensor some = x.slice(0, {.stop = Dim(n)});
    EXPECT_EQ(some.sum().item<float>(), sum_of({values.begin(), values.begin() + count})) << count;
  }
}

// Halves are added up in single precision from the first part to the last.
TEST(LongSums, OfHalves) {
  const Tensor x = Tensor::full({1 << 13}, 1.0009765625, {.dtype = dtypes::f16}).contiguous();
  EXPECT_EQ(x.sum().item<float>(), 8200.0F);
}

class LongSum : public testing::TestWithParam<int> {
 protected:
  static constexpr std::size_t count = std::size_t{1} << 24;
  LongSum() : values_(count) {
    std::mt19937 random(7);
    std::uniform_real_distribution<float> between(0, 1);
    for (float& value : values_) value = between(random);
    x_ = Tensor(values_);
    for (const float value : values_) sum_ += value;
    for (const float value : values_) squares_ += (value - mean()) * (value - mean());
  }
  double mean() const { return sum_ / static_cast<double>(count); }

  const Context compiler_{{"CLANG", GetParam()}};
  std::vector<float> values_;
  Tensor x_;
  double sum_ = 0, squares_ = 0;
};

void expect_near(double found, double expected) {
  EXPECT_LE(std::abs(found - expected), 2e-6 * expected) << found << " instead of " << expected;
}

TEST_P(LongSum, RoundsLittle) {
  expect_near(x_.sum().item<float>(), sum_);
  expect_near(x_.mean().item<float>(), mean());
  expect_near(x_.var().item<float>(), squares_ / static_cast<double>(count - 1));
  expect_near((x_ * x_).sum().item<float>(), squares_ + mean() * sum_);
}

TEST_P(LongSum, OfSoftmax) {
  double all = 0, most = 0;
  for (const float value : values_) all += std::exp(static_cast<double>(value));
  const std::vector<float> found = x_.softmax(0).to_vector<float>();
  for (std::size_t i = 0; i < count; i += 4099) {
    const double expected = std::exp(static_cast<double>(values_[i])) / all;
    most = std::max(most, std::abs(found[i] - expected) / expected);
  }
  EXPECT_LE(most, 2e-6);
}

INSTANTIATE_TEST_SUITE_P(Compilers, LongSum, testing::Values(0, 1), [](const auto& info) {
  return std::string(info.param == 0 ? "LLVM" : "CLANG");
});

}  // namespace
}  // namespace weft
