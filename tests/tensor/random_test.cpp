#include <cmath>

#include "tensor_test.h"

namespace weft {
namespace {

// Threefry-2x32 of 20 rounds, as its authors define it: rotations 13 15 26 6 and 17 29 16 24, a key added
// after every 4 rounds.
std::uint64_t threefry(std::uint64_t counter, std::uint64_t key) {
  constexpr int rotations[8] = {13, 15, 26, 6, 17, 29, 16, 24};
  const std::uint32_t keys[3] = {
      static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32),
      0x1BD11BDAU ^ static_cast<std::uint32_t>(key) ^ static_cast<std::uint32_t>(key >> 32)};
  std::uint32_t a = static_cast<std::uint32_t>(counter) + keys[0];
  std::uint32_t b = static_cast<std::uint32_t>(counter >> 32) + keys[1];
  for (std::uint32_t round = 0; round < 20; ++round) {
    a += b;
    const int by = rotations[round % 8];
    b = (b << by | b >> (32 - by)) ^ a;
    if (round % 4 != 3) continue;
    const std::uint32_t turn = round / 4 + 1;
    a += keys[turn % 3];
    b += keys[(turn + 1) % 3] + turn;
  }
  return std::uint64_t{b} << 32 | a;
}

TEST(TensorRandom, TheReferenceHereIsRight) {  // known answers of the authors
  EXPECT_EQ(threefry(0, 0), 0x99ba4efe6b200159U);
  EXPECT_EQ(threefry(~0ULL, ~0ULL), 0xbb002be71cb996fcU);
  EXPECT_EQ(threefry(0x85a308d3243f6a88U, 0x0370734413198a2eU), 0x483df7a0c4923a9cU);
}

double unit(std::uint64_t seed, std::uint64_t position, std::uint64_t i) {
  const std::uint64_t block = threefry(position + i / 2, seed);
  return std::ldexp(static_cast<double>((block >> (i % 2 * 32) & 0xffffffffU) >> 8), -24);
}

TEST(TensorRandom, NumbersAreThreefryOfThePlaceInTheStream) {
  Tensor::manual_seed(42);
  const Tensor first = Tensor::rand({5}), second = Tensor::rand({2, 2});
  std::vector<double> expected;
  for (std::uint64_t i = 0; i < 5; ++i) expected.push_back(unit(42, 0, i));
  EXPECT_TRUE(holds<double>(first, expected, {5}));
  expected.clear();
  for (std::uint64_t i = 0; i < 4; ++i) expected.push_back(unit(42, 3, i));
  EXPECT_TRUE(holds<double>(second, expected, {2, 2}));
}

TEST(TensorRandom, SeedsRepeat) {
  Tensor::manual_seed(7);
  const std::vector<float> first = Tensor::randn({10}).to_vector<float>();
  const std::vector<float> next = Tensor::randn({10}).to_vector<float>();
  Tensor::manual_seed(7);
  EXPECT_EQ(Tensor::randn({10}).to_vector<float>(), first);
  EXPECT_NE(first, next);
}

TEST(TensorRandom, StaysTheSameWhenReadAgain) {
  const Tensor x = Tensor::rand({4});
  EXPECT_EQ(x.to_vector<float>(), (x + 0).to_vector<float>());
}

TEST(TensorRandom, Distributions) {
  Tensor::manual_seed(1);
  constexpr double count = 4000;
  const std::vector<double> normal = Tensor::randn({4000}).to_vector<double>();
  double mean = 0, variance = 0;
  for (double value : normal) mean += value / count;
  for (double value : normal) variance += (value - mean) * (value - mean) / count;
  EXPECT_NEAR(mean, 0, 3 / std::sqrt(count));
  EXPECT_NEAR(variance, 1, 3 * std::sqrt(2 / count));
  const Tensor u = Tensor::uniform({4000}, -2, 3);
  EXPECT_GE(u.min().item<float>(), -2);
  EXPECT_LT(u.max().item<float>(), 3);
  EXPECT_NEAR(u.mean().item<double>(), 0.5, 3 * 5 / std::sqrt(12 * count));
  EXPECT_NEAR(Tensor::normal({4000}, 5, 0.5).mean().item<double>(), 5, 3 * 0.5 / std::sqrt(count));
}

TEST(TensorRandom, Integers) {
  Tensor::manual_seed(3);
  const std::vector<int> values = Tensor::randint({3000}, -1, 2).to_vector<int>();
  int counts[3] = {};
  for (int value : values) {
    ASSERT_TRUE(value >= -1 && value < 2);
    ++counts[value + 1];
  }
  for (int found : counts) EXPECT_NEAR(found, 1000, 3 * std::sqrt(3000.0 * 2 / 9));
  EXPECT_EQ(error_of([] { Tensor::randint({2}, 5, 5); }),
            "randint: from 5 to below 5 are not 1 to 2^32 numbers");
}

TEST(TensorRandom, OtherDtypes) {
  for (DType dtype : {dtypes::f16, dtypes::bf16, dtypes::f64}) {
    const Tensor x = Tensor::rand({64}, {.dtype = dtype});
    EXPECT_EQ(x.dtype(), dtype);
    EXPECT_LT(x.max().item<double>(), 1);
    EXPECT_GE(x.min().item<double>(), 0);
  }
  EXPECT_EQ(error_of([] { Tensor::rand({2}, {.dtype = dtypes::i32}); }), "rand: i32 is no float");
}

TEST(TensorRandom, Weights) {
  EXPECT_LE(Tensor::glorot_uniform({8, 4}).abs().max().item<double>(), std::sqrt(6.0 / 12));
  EXPECT_LE(Tensor::kaiming_uniform({8, 4}, 0).abs().max().item<double>(), std::sqrt(6.0 / 4));
  EXPECT_LE(Tensor::scaled_uniform({8, 2}).abs().max().item<double>(), 0.25);
  EXPECT_NEAR(Tensor::kaiming_normal({200, 10}, 0).std().item<double>(), std::sqrt(0.2), 0.05);
}

// Of the authors of Random123, which JAX tests as well.
TEST(TensorRandom, ThreefryGivesTheKnownAnswers) {
  const std::vector<std::uint64_t> counters{0, ~0ULL, 0x85a308d3243f6a88U};
  const std::vector<std::uint64_t> keys{0, ~0ULL, 0x0370734413198a2eU};
  const std::vector<std::uint64_t> expected{0x99ba4efe6b200159U, 0xbb002be71cb996fcU,
                                            0x483df7a0c4923a9cU};
  EXPECT_TRUE(holds<std::uint64_t>(Tensor(counters).threefry(Tensor(keys)), expected, {3}));
  EXPECT_TRUE(holds<std::uint64_t>(Tensor(std::vector<std::uint64_t>{0}).threefry(0),
                                   {0x99ba4efe6b200159U}, {1}));
}

TEST(TensorRandom, BitsAreThreefryOfSuccessiveCounters) {
  const Tensor key(std::vector<std::uint64_t>{42}), counter(std::vector<std::uint64_t>{7});
  std::vector<std::uint32_t> expected;
  for (std::uint64_t i = 0; i < 5; ++i)
    expected.push_back(static_cast<std::uint32_t>(threefry(7 + i / 2, 42) >> (i % 2 * 32)));
  EXPECT_TRUE(holds<std::uint32_t>(Tensor::random_bits(key, counter, 5), expected, {5}));
  EXPECT_EQ(Tensor::random_bits(key, counter, 0).shape(), Sizes64{0});
}

TEST(TensorRandom, LikeAnother) {
  const Tensor x = Tensor::zeros({2, 3}, {.dtype = dtypes::f16});
  for (const Tensor& y : {x.rand_like(), x.randn_like()}) {
    EXPECT_EQ(y.shape(), x.shape());
    EXPECT_EQ(y.dtype(), dtypes::f16);
  }
  EXPECT_EQ(x.randn_like(dtypes::f64).dtype(), dtypes::f64);
  const Tensor digits = Tensor::zeros({50}, {.dtype = dtypes::u8}).randint_like(3, 5);
  EXPECT_EQ(digits.dtype(), dtypes::u8);
  EXPECT_EQ(digits.min().item<int>(), 3);
  EXPECT_EQ(digits.max().item<int>(), 4);
}

}  // namespace
}  // namespace weft
