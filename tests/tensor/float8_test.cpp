// Conversions from and to 8-bit floats, against what numpy and ml_dtypes make of the same: golden/make_float8.py.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "tensor_test.h"

namespace weft {
namespace {

constexpr DType fp8[] = {dtypes::f8e4m3, dtypes::f8e5m2};
constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

using Column = std::vector<std::uint32_t>;

// Each NaN as the positive quiet one.
std::uint32_t known(std::uint32_t bits, DType dtype) {
  const std::uint32_t sign = 1U << (dtype.bits() - 1);
  const auto [last, quiet] = dtype == dtypes::f8e4m3   ? std::pair(0x7eU, 0x7fU)
                             : dtype == dtypes::f8e5m2 ? std::pair(0x7cU, 0x7eU)
                                                       : std::pair(0x7f800000U, 0x7fc00000U);
  return (bits & (sign - 1)) > last ? quiet : bits;
}

Column bits_of(const Tensor& x) {
  const DType dtype = x.dtype(), word = dtype.bits() == 8 ? dtypes::u8 : dtypes::u32;
  Column bits = x.bitcast(word).cast(dtypes::u32).to_vector<std::uint32_t>();
  std::ranges::transform(bits, bits.begin(), [&](auto each) { return known(each, dtype); });
  return bits;
}

Tensor from_bits(const Column& bits, DType dtype, const std::string& device) {
  const DType word = dtype.bits() == 8 ? dtypes::u8 : dtypes::u32;
  return Tensor(bits).cast(word).realize().to(device).bitcast(dtype).realize();
}

class Float8 : public testing::TestWithParam<std::string> {
 protected:
  // The columns of the lines that start with this word.
  static std::vector<Column> table(const std::string& word, std::size_t count) {
    const auto path = std::filesystem::path(__FILE__).parent_path() / "golden" / "float8.txt";
    std::ifstream file(path);
    std::vector<Column> columns(count);
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string first;
      if (words >> first; first != word) continue;
      for (Column& column : columns) words >> std::hex >> column.emplace_back();
    }
    return columns;
  }

  static std::string device() { return GetParam().empty() ? default_device() : GetParam(); }
};

TEST_P(Float8, EveryCodeToF32) {
  const std::vector<Column> rows = table("code", 3);
  ASSERT_EQ(rows[0].size(), 256U);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(bits_of(from_bits(rows[0], fp8[i], device()).cast(dtypes::f32)), rows[1 + i])
        << fp8[i].str();
}

TEST_P(Float8, EveryCodeComesBack) {
  const Column codes = table("code", 3)[0];
  for (const DType dtype : fp8) {
    const Tensor x = from_bits(codes, dtype, device());
    Column same;
    for (const std::uint32_t code : codes) same.push_back(known(code, dtype));
    for (const DType through : {dtypes::f16, dtypes::bf16, dtypes::f32, dtypes::f64})
      EXPECT_EQ(bits_of(x.cast(through).realize().cast(dtype)), same)
          << dtype.str() << " " << through.str();
  }
}

TEST_P(Float8, FromF32AroundEveryTieAndLimit) {
  const std::vector<Column> rows = table("float", 5);
  ASSERT_GT(rows[0].size(), 700U);
  const Tensor x = from_bits(rows[0], dtypes::f32, device());
  for (const Tensor& from : {x, x.cast(dtypes::f64).realize()})
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(bits_of(from.cast(fp8[i])), rows[1 + i]) << fp8[i].str();
      EXPECT_EQ(bits_of(from.cast(fp8[i], {.saturate = true})), rows[3 + i]) << fp8[i].str();
    }
}

INSTANTIATE_TEST_SUITE_P(Devices, Float8, testing::Values("", "INTERP"), [](const auto& info) {
  return info.param.empty() ? "Default" : info.param;
});

TEST(SaturatingCast, OfFloats) {
  const Tensor x({1e300, -1e300, inf, -inf, 449.0, nan, -0.5}, {.dtype = dtypes::f64});
  const auto cast = [](const Tensor& from, DType to) { return from.cast(to, {.saturate = true}); };
  EXPECT_TRUE(near(cast(x, dtypes::f8e4m3), {448, -448, 448, -448, 448, nan, -0.5}, {7}, 0));
  EXPECT_TRUE(
      near(cast(x, dtypes::f8e5m2), {57344, -57344, 57344, -57344, 448, nan, -0.5}, {7}, 0));
  EXPECT_TRUE(near(cast(x, dtypes::f16), {65504, -65504, 65504, -65504, 449, nan, -0.5}, {7}, 0));
  const double most = std::numeric_limits<float>::max();
  EXPECT_TRUE(near(cast(x, dtypes::f32), {most, -most, most, -most, 449, nan, -0.5}, {7}, 0));

  // A dtype that holds less than the result, and results of the same dtype.
  const Tensor half = x.cast(dtypes::f16).realize(), least = x.cast(dtypes::f8e5m2).realize();
  const double largest = finfo(dtypes::bf16).max;
  EXPECT_TRUE(near(cast(half, dtypes::bf16).slice(0, {2, 4}), {largest, -largest}, {2}, 0));
  EXPECT_TRUE(near(cast(least, dtypes::f8e5m2).slice(0, {2, 4}), {57344, -57344}, {2}, 0));
  EXPECT_TRUE(near(cast(least, dtypes::f8e4m3).slice(0, {2, 5}), {448, -448, 448}, {3}, 0));
}

TEST(SaturatingCast, OfIntegers) {
  using Long = std::numeric_limits<std::int64_t>;
  const Tensor x(std::vector<std::int64_t>{Long::max(), Long::min(), 65520, 16777217, -5, 464});
  const auto cast = [](const Tensor& from, DType to) { return from.cast(to, {.saturate = true}); };
  EXPECT_TRUE(near(x.cast(dtypes::f8e4m3), {nan, nan, nan, nan, -5, 448}, {6}, 0));
  EXPECT_TRUE(near(cast(x, dtypes::f8e4m3), {448, -448, 448, 448, -5, 448}, {6}, 0));
  EXPECT_TRUE(near(cast(x, dtypes::f8e5m2), {57344, -57344, 57344, 57344, -5, 448}, {6}, 0));
  EXPECT_TRUE(near(cast(x, dtypes::f16), {65504, -65504, 65504, 65504, -5, 464}, {6}, 0));
  EXPECT_TRUE(cast(x, dtypes::bf16).equal(x.cast(dtypes::bf16)));
  EXPECT_TRUE(
      holds<double>(cast(Tensor({255}, {.dtype = dtypes::u8}), dtypes::f8e4m3), {256}, {1}));
  EXPECT_TRUE(holds<int>(cast(Tensor({300.0}), dtypes::u8), {255}, {1}));
}

// What is known before anything runs goes another way than what is in memory.
TEST(SaturatingCast, OfConstants) {
  const Tensor x = Tensor::full({2}, -480.0);
  EXPECT_TRUE(near(x.cast(dtypes::f8e4m3), {nan, nan}, {2}));
  EXPECT_TRUE(near(x.cast(dtypes::f8e4m3, {.saturate = true}), {-448, -448}, {2}, 0));
  EXPECT_TRUE(near(Tensor::full({1}, 61440.0).cast(dtypes::f8e5m2), {inf}, {1}));
}

TEST(SaturatingCast, HasTheGradientOfAClamp) {
  for (const bool saturate : {false, true}) {
    const Tensor x({1.0, 500.0}, {.requires_grad = true});
    x.cast(dtypes::f8e4m3, {.saturate = saturate}).cast(dtypes::f32).sum().backward();
    EXPECT_TRUE(holds<double>(x.grad(), {1, saturate ? 0.0 : 1.0}, {2}));
  }
}

// 2^20000 is too large for every float on the way.
TEST(Float8Arithmetic, Overflows) {
  for (const DType dtype : fp8) {
    const double most = finfo(dtype).max, over = dtype == dtypes::f8e4m3 ? nan : inf;
    const Tensor x({most, -most}, {.dtype = dtype});
    EXPECT_TRUE(near(x + x, {over, -over}, {2})) << dtype.str();
    EXPECT_TRUE(near(x * 1, {most, -most}, {2}, 0)) << dtype.str();
    EXPECT_TRUE(near(x.exp2(), {over, 0}, {2})) << dtype.str();
    EXPECT_TRUE(near(Tensor({most, 0.5}, {.dtype = dtype}).pow(x), {over, over}, {2}))
        << dtype.str();
  }
}

}  // namespace
}  // namespace weft
