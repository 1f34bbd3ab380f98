// Products between DequantizeLinear and QuantizeLinear, which are sums of integers.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <weft/weft.h>

namespace weft::onnx {
namespace {

using Reals = std::vector<float>;

constexpr std::int64_t rows = 4096, columns = 3;
constexpr std::int32_t bias = 100000000;

struct Chain {
  Value scale = Tensor({0.25F}).reshape({});  // of the weights
  Value zero = Tensor(std::vector<std::int8_t>{-5}).reshape({});
  float bias_scale = 0;  // of a Gemm; 0: a MatMul without
  bool is_read_twice = false;
};

// The largest sums that bytes give, which no float of 32 bits holds exactly.
Tensor left() { return Tensor::full({2, rows}, 255, {.dtype = dtypes::u8}); }
std::int64_t weight(std::int64_t row, std::int64_t column) { return 127 - row % (column + 2); }
Tensor weights() {
  std::vector<std::int8_t> values;
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t column = 0; column < columns; ++column)
      values.push_back(static_cast<std::int8_t>(weight(row, column)));
  return Tensor(values).reshape({rows, columns});
}

Model model_of(const Chain& chain, bool trainable = false) {
  Writer net("chain", 17);
  const auto number = [&](const std::string& name, const Tensor& value) {
    return net.constant(name, value.reshape({}));
  };
  const std::string x = net.input("x", Type::U8, {2, rows});
  const std::string x_scale = number("x_scale", Tensor({0.5F}));
  const std::string x_zero = number("x_zero", Tensor(std::vector<std::uint8_t>{3}));
  const std::string y_scale = number("y_scale", Tensor({131072.F}));
  const std::string y_zero = number("y_zero", Tensor(std::vector<std::uint8_t>{100}));
  const std::string w = net.constant("w", weights());
  const std::string scale = net.constant("scale", chain.scale);
  const std::string zero = net.constant("zero", chain.zero);
  const std::string a = net.node("DequantizeLinear", {x, x_scale, x_zero});
  const std::string b = net.node("DequantizeLinear", {w, scale, zero});
  std::string product;
  if (chain.bias_scale == 0) {
    product = net.node("MatMul", {a, b});
  } else {
    const std::string ints = net.constant("bias", Tensor(std::vector<std::int32_t>(3, bias)));
    const std::string scale_of_ints = number("bias_scale", Tensor({chain.bias_scale}));
    const std::string real = net.node("DequantizeLinear", {ints, scale_of_ints});
    product = net.node("Gemm", {a, b, real}, {{"alpha", 1.0}});
  }
  if (chain.is_read_twice) net.output("product", net.node("Neg", {product}));
  net.output("y", net.node("QuantizeLinear", {product, y_scale, y_zero}));
  return Model::parse(net.bytes(), {.trainable = trainable});
}

// In integers, rounded once.
std::vector<double> expected(const Reals& scales, const std::vector<std::int64_t>& zeros,
                             double addend = 0) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < 2 * columns; ++i) {
    const std::int64_t column = i % columns;
    const auto at = static_cast<std::size_t>(column);
    std::int64_t sum = 0;
    for (std::int64_t row = 0; row < rows; ++row)
      sum += (255 - 3) * (weight(row, column) - zeros[at]);
    const double value = static_cast<double>(sum) * 0.5 * static_cast<double>(scales[at]) + addend;
    result.push_back(std::clamp(std::nearbyint(value / 131072) + 100, 0.0, 255.0));
  }
  return result;
}

std::vector<double> run(const Model& model) {
  return model({{"x", left()}}).at("y").tensor().to_vector<double>();
}

// As floats, the weights alone would be more.
bool reads_bytes(const Model& model) {
  return model.cost({{"x", left()}}).run.bytes < 4 * rows * columns;
}

TEST(OnnxIntegers, SumsAreExact) {
  const Model model = model_of({});
  EXPECT_EQ(run(model), expected({0.25F, 0.25F, 0.25F}, {-5, -5, -5}));
  EXPECT_TRUE(reads_bytes(model));
}

TEST(OnnxIntegers, AScaleForEachColumn) {
  const Value scale = Tensor({0.25F, 0.125F, 1.F});
  const Value zero = Tensor(std::vector<std::int8_t>{-5, 0, 7});
  const Model model = model_of({.scale = scale, .zero = zero});
  EXPECT_EQ(run(model), expected({0.25F, 0.125F, 1.F}, {-5, 0, 7}));
  EXPECT_TRUE(reads_bytes(model));
}

// Bias is added to sums only where it is counted in their steps.
TEST(OnnxIntegers, TheBiasOfAGemm) {
  for (const float scale : {0.125F, 0.0625F}) {
    const Model model = model_of({.bias_scale = scale});
    const double addend = static_cast<double>(scale) * bias;
    const auto exact = expected({0.25F, 0.25F, 0.25F}, {-5, -5, -5}, addend);
    const std::vector<double> found = run(model);
    for (std::size_t i = 0; i < exact.size(); ++i)
      EXPECT_NEAR(found.at(i), exact[i], scale == 0.125F ? 0 : 1);
    EXPECT_EQ(reads_bytes(model), scale == 0.125F);
  }
}

// The rounding of floats may move what lies between two steps.
TEST(OnnxIntegers, OtherChainsStayFloats) {
  const std::vector<double> exact = expected({0.25F, 0.25F, 0.25F}, {-5, -5, -5});
  for (const Model& model : {model_of({.is_read_twice = true}), model_of({}, true)}) {
    const std::vector<double> found = run(model);
    for (std::size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(found.at(i), exact[i], 1);
  }
  EXPECT_FALSE(reads_bytes(model_of({.is_read_twice = true})));
}

}  // namespace
}  // namespace weft::onnx
