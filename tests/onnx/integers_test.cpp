// Products of what DequantizeLinear gives, which are sums of integers.
#include <algorithm>
#include <cmath>
#include <deque>

#include <gtest/gtest.h>
#include <weft/dev/io/file.h>
#include <weft/dev/ir/graph.h>
#include <weft/weft.h>

#include "../../src/onnx/cleanup.h"

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

std::vector<std::byte> bytes_of(const Chain& chain) {
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
  return net.bytes();
}

Model model_of(const Chain& chain, bool trainable = false) {
  return Model::parse(bytes_of(chain), {.trainable = trainable});
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

// Bias that is counted in steps of the sums is added to them, another to the floats that they become.
TEST(OnnxIntegers, TheBiasOfAGemm) {
  for (const float scale : {0.125F, 0.0625F}) {
    const Model model = model_of({.bias_scale = scale});
    const double addend = static_cast<double>(scale) * bias;
    const auto exact = expected({0.25F, 0.25F, 0.25F}, {-5, -5, -5}, addend);
    const std::vector<double> found = run(model);
    for (std::size_t i = 0; i < exact.size(); ++i)
      EXPECT_NEAR(found.at(i), exact[i], scale == 0.125F ? 0 : 1);
    EXPECT_TRUE(reads_bytes(model));
  }
}

// The step of the sums and that of what they are quantised to are one factor, whatever zero points there are.
TEST(OnnxIntegers, SumsBecomeStepsByOneFactor) {
  for (const float bias_scale : {0.F, 0.125F}) {
    const std::vector<std::byte> bytes = bytes_of({.bias_scale = bias_scale});
    ModelProto model = parse_model(bytes, InFile{"chain"});
    std::deque<std::string> names;
    clean_up(model, names, {});
    const auto& nodes = model.graph.nodes;
    const auto last = std::ranges::find(nodes, "QuantizeByInverse", &NodeProto::op);
    ASSERT_NE(last, nodes.end());
    EXPECT_TRUE(last->inputs.at(1).empty()) << bias_scale << ": by " << last->inputs[1];
  }
}

// The values between -3 and 3 that bytes of a step of 1/64 from this zero point stand for, through a Relu on the way to bytes
// and around them.
struct Rounding {
  std::uint8_t zero;
  bool has_relu, is_float;
};

std::vector<std::byte> bytes_of(const Rounding& rounding) {
  Writer net("rounding", 17);
  const std::string x = net.input("x", Type::F32, {97});
  const Names by{net.constant("scale", Tensor({0.015625F}).reshape({})),
                 net.constant("zero", Tensor(std::vector{rounding.zero}).reshape({}))};
  const std::string before = rounding.has_relu ? net.node("Relu", {x}) : net.node("Neg", {x});
  std::string y = net.node("QuantizeLinear", {before, by[0], by[1]});
  if (rounding.is_float) y = net.node("DequantizeLinear", {y, by[0], by[1]});
  net.output("y", y);
  return net.bytes();
}

TEST(OnnxIntegers, WhatIsRoundedToBytesStaysFloats) {
  const Tensor x = (Tensor::arange(97) - 48) / 16.0 + 0.005;
  for (const Rounding rounding :
       {Rounding{0, true, true}, {7, true, true}, {7, false, true}, {0, true, false}}) {
    const std::vector<std::byte> bytes = bytes_of(rounding);
    const Tensor found = Model::parse(bytes)({{"x", x.cast(dtypes::f32)}}).at("y").tensor();
    const Tensor before = rounding.has_relu ? x.relu() : -x;
    const Tensor steps =
        (before.cast(dtypes::f32) * 64).round().clamp(-rounding.zero, 255 - rounding.zero);
    const Tensor expected = rounding.is_float ? steps / 64 : steps + rounding.zero;
    EXPECT_EQ(found.to_vector<double>(), expected.to_vector<double>()) << int(rounding.zero);

    ModelProto model = parse_model(bytes, InFile{"rounding"});
    std::deque<std::string> names;
    clean_up(model, names, {});
    const auto count = [&](std::string_view op) {
      return std::ranges::count(model.graph.nodes, op, &NodeProto::op);
    };
    EXPECT_EQ(count("Relu"), rounding.has_relu && rounding.zero != 0 ? 1 : 0);
    EXPECT_EQ(count("RoundByInverse"), rounding.is_float ? 1 : 0);
    EXPECT_EQ(count("QuantizeByInverse"), rounding.is_float ? 0 : 1);
  }
}

// NaN stands for the least there is, as the byte does.
TEST(OnnxIntegers, NaNIsRoundedToTheLeast) {
  const Tensor x = Tensor::full({97}, std::nan(""), {.dtype = dtypes::f32}).contiguous().realize();
  const Tensor found =
      Model::parse(bytes_of(Rounding{7, false, true}))({{"x", x}}).at("y").tensor();
  EXPECT_EQ(found.to_vector<float>(), Reals(97, -7.F / 64));
}

TEST(OnnxIntegers, ReluThatOthersReadStays) {
  for (const bool is_output : {false, true}) {
    Writer net("relu", 17);
    const std::string x = net.input("x", Type::F32, {97});
    const std::string scale = net.constant("scale", Tensor({0.015625F}).reshape({}));
    const std::string zero = net.constant("zero", Tensor(std::vector<std::uint8_t>{0}).reshape({}));
    const std::string relu = net.node("Relu", {x});
    net.output("y", net.node("QuantizeLinear", {relu, scale, zero}));
    net.output("other", is_output ? relu : net.node("Neg", {relu}));
    const Tensor given = ((Tensor::arange(97) - 48) / 64.0).cast(dtypes::f32);
    const auto found = Model::parse(net.bytes())({{"x", given}});
    const Tensor other = is_output ? given.relu() : -given.relu();
    EXPECT_EQ(found.at("other").tensor().to_vector<float>(), other.to_vector<float>());
    EXPECT_EQ(found.at("y").tensor().to_vector<float>(), (given.relu() * 64).to_vector<float>());
  }
}

TEST(OnnxIntegers, WhatReadsAProductIsNoMatter) {
  const Model model = model_of({.is_read_twice = true});
  EXPECT_EQ(run(model), expected({0.25F, 0.25F, 0.25F}, {-5, -5, -5}));
  EXPECT_TRUE(reads_bytes(model));
}

// The rounding of floats may move what lies between two steps.
TEST(OnnxIntegers, WhatIsTrainedStaysFloats) {
  const std::vector<double> exact = expected({0.25F, 0.25F, 0.25F}, {-5, -5, -5});
  const std::vector<double> found = run(model_of({}, true));
  for (std::size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(found.at(i), exact[i], 1);
}

// --- Convolutions ---------------------------------------------------------------------------------------

using Signed = std::vector<std::int8_t>;

struct Maps {
  static constexpr std::int64_t images = 2, outputs = 4, size = 6, kernel = 3;

  std::int64_t inputs = 8, groups = 1, stride = 1, dilation = 1;
  std::vector<std::int64_t> pads{1, 1, 1, 1};
  Signed zeros{0, 0, 0, 0};  // of the weights, for each channel
  enum Bias : char { None, OfSums, OfFloats } bias = OfSums;
  bool is_signed = false;  // what is read is, and less by 128, as its zero point
};

constexpr std::int64_t zero_of_x = 131;
constexpr float steps_of_x = 0.5F;
const Reals steps_of_w{0.25F, 0.5F, 1, 0.125F};  // of each channel

std::int64_t pixel(std::int64_t i) { return i * 37 % 256; }
std::int64_t coefficient(std::int64_t i) { return i * 53 % 255 - 127; }
std::int64_t addend_of(std::int64_t channel) { return 1000 * channel - 1700; }

Model model_of(const Maps& maps, const std::string& device = {}) {
  const std::int64_t depth = maps.inputs / maps.groups;
  Signed w;
  for (std::int64_t i = 0; i < Maps::outputs * depth * Maps::kernel * Maps::kernel; ++i)
    w.push_back(static_cast<std::int8_t>(coefficient(i)));
  std::vector<std::int32_t> integers;
  Reals scales, floats;
  for (std::int64_t channel = 0; channel < Maps::outputs; ++channel) {
    integers.push_back(static_cast<std::int32_t>(addend_of(channel)));
    scales.push_back(steps_of_x * steps_of_w[static_cast<std::size_t>(channel)]);
    floats.push_back(static_cast<float>(addend_of(channel)) * scales.back());
  }
  Writer net("maps", 17);
  const std::string x = net.input("x", maps.is_signed ? Type::I8 : Type::U8,
                                  {Maps::images, maps.inputs, Maps::size, Maps::size});
  const Tensor unsigned_zero(std::vector{static_cast<std::uint8_t>(zero_of_x)});
  const Tensor zero = maps.is_signed ? (unsigned_zero ^ 128).bitcast(dtypes::i8) : unsigned_zero;
  const std::string of_x =
      net.node("DequantizeLinear", {x, net.constant("x_scale", Tensor({steps_of_x}).reshape({})),
                                    net.constant("x_zero", zero.reshape({}))});
  const std::string of_w = net.node(
      "DequantizeLinear",
      {net.constant("w", Tensor(w).reshape({Maps::outputs, depth, Maps::kernel, Maps::kernel})),
       net.constant("w_scale", Tensor(steps_of_w)), net.constant("w_zero", Tensor(maps.zeros))},
      {{"axis", 0}});
  Names given{of_x, of_w};
  if (maps.bias == Maps::OfFloats) given.push_back(net.constant("b", Tensor(floats)));
  if (maps.bias == Maps::OfSums)
    given.push_back(
        net.node("DequantizeLinear",
                 {net.constant("b", Tensor(integers)), net.constant("b_scale", Tensor(scales))},
                 {{"axis", 0}}));
  const std::int64_t stride = maps.stride, dilation = maps.dilation;
  net.output("y", net.node("Conv", given,
                           {{"group", maps.groups},
                            {"pads", maps.pads},
                            {"strides", {stride, stride}},
                            {"dilations", {dilation, dilation}}}));
  return Model::parse(net.bytes(), {.device = device});
}

Tensor pixels(const Maps& maps = {}) {
  std::vector<std::uint8_t> values;
  for (std::int64_t i = 0; i < Maps::images * maps.inputs * Maps::size * Maps::size; ++i)
    values.push_back(static_cast<std::uint8_t>(pixel(i)));
  const Tensor x = Tensor(values).reshape({Maps::images, maps.inputs, Maps::size, Maps::size});
  return maps.is_signed ? (x ^ 128).bitcast(dtypes::i8) : x;
}

// Loop by loop, as whole numbers.
Reals convolved(const Maps& maps) {
  const std::int64_t depth = maps.inputs / maps.groups, reach = (Maps::kernel - 1) * maps.dilation;
  const std::int64_t height =
                         (Maps::size + maps.pads[0] + maps.pads[2] - reach - 1) / maps.stride + 1,
                     width =
                         (Maps::size + maps.pads[1] + maps.pads[3] - reach - 1) / maps.stride + 1;
  Reals result;
  for (std::int64_t i = 0; i < Maps::images * Maps::outputs * height * width; ++i) {
    const std::int64_t column = i % width, row = i / width % height,
                       channel = i / width / height % Maps::outputs,
                       image = i / width / height / Maps::outputs;
    const auto at = static_cast<std::size_t>(channel);
    std::int64_t sum = maps.bias == Maps::None ? 0 : addend_of(channel);
    for (std::int64_t k = 0; k < depth * Maps::kernel * Maps::kernel; ++k) {
      const std::int64_t from =
          channel / (Maps::outputs / maps.groups) * depth + k / Maps::kernel / Maps::kernel;
      const std::int64_t y = row * maps.stride + k / Maps::kernel % Maps::kernel * maps.dilation -
                             maps.pads[0],
                         x = column * maps.stride + k % Maps::kernel * maps.dilation - maps.pads[1];
      if (y < 0 || y >= Maps::size || x < 0 || x >= Maps::size) continue;
      const std::int64_t place = ((image * maps.inputs + from) * Maps::size + y) * Maps::size + x;
      sum += (pixel(place) - zero_of_x) *
             (coefficient(channel * depth * Maps::kernel * Maps::kernel + k) - maps.zeros[at]);
    }
    result.push_back(static_cast<float>(sum) * steps_of_x * steps_of_w[at]);
  }
  return result;
}

// Where there is an instruction for them, sums are integers, whatever the device of a test has.
TEST(OnnxIntegers, ConvolutionsOfBytes) {
  const Maps maps{.pads = {0, 0, 0, 0}, .zeros = {0, 3, -7, 1}, .bias = Maps::None};
  Signed w;
  for (std::int64_t i = 0; i < Maps::outputs * maps.inputs * Maps::kernel * Maps::kernel; ++i)
    w.push_back(static_cast<std::int8_t>(coefficient(i)));
  Writer net("maps", 17);
  net.use("weft", 1);
  const std::string x =
      net.input("x", Type::U8, {Maps::images, maps.inputs, Maps::size, Maps::size});
  const Shape sizes{Maps::outputs, maps.inputs, Maps::kernel, Maps::kernel};
  const Names given{
      x, net.constant("w", Tensor(w).reshape(sizes)),
      net.constant("step", Tensor(steps_of_w) * steps_of_x),
      net.constant("x_zero", Tensor(std::vector{std::uint8_t{zero_of_x}}).reshape({})),
      net.constant("w_zero", Tensor(maps.zeros))};
  net.output("y", net.node("ConvOfBytes", given, {}, {.domain = "weft"}));
  const Tensor y = Model::parse(net.bytes(), {})({{"x", pixels()}}).at("y").tensor();
  EXPECT_EQ(y.to_vector<float>(), convolved(maps));
}

// Every sum is a whole number of steps that are powers of two, and so is what is expected.
TEST(OnnxIntegers, Convolutions) {
  const Maps all[] = {{},
                      {.pads = {0, 2, 1, 0}, .bias = Maps::None},
                      {.stride = 2, .bias = Maps::OfFloats},
                      {.dilation = 2, .pads = {2, 2, 2, 2}, .zeros = {3, -7, 0, 127}},
                      {.groups = 4},
                      {.groups = 2, .stride = 2, .pads = {0, 0, 1, 1}},
                      {.inputs = 3, .stride = 2},
                      {.inputs = 3, .is_signed = true},
                      {.pads = {0, 2, 1, 0}, .bias = Maps::None, .is_signed = true},
                      {.bias = Maps::OfFloats, .is_signed = true},
                      {.zeros = {3, -7, 0, 127}, .is_signed = true}};
  for (const Maps& maps : all)
    for (const std::string& device : {std::string(), std::string("INTERP")})
      EXPECT_EQ(model_of(maps, device)({{"x", pixels(maps)}}).at("y").tensor().to_vector<float>(),
                convolved(maps))
          << device;
}

// --- Bytes that stay bytes -------------------------------------------------------------------------------

// What only moves bytes or compares them, between the same steps.
TEST(OnnxIntegers, MovedBytesAreNotComputed) {
  Writer net("moved", 17);
  const std::string x = net.input("x", Type::U8, {1, 4, 6, 6});
  const std::string scale = net.constant("scale", Tensor({0.1F}).reshape({})),
                    zero = net.constant("zero", Tensor(std::vector<std::uint8_t>{9}).reshape({}));
  const auto real = [&](const std::string& name) {
    return net.node("DequantizeLinear", {name, scale, zero});
  };
  const auto bytes = [&](const std::string& name) {
    return net.node("QuantizeLinear", {name, scale, zero});
  };
  const std::string pooled =
      bytes(net.node("MaxPool", {real(x)}, {{"kernel_shape", {2, 2}}, {"strides", {2, 2}}}));
  const std::string turned = bytes(net.node("Transpose", {real(pooled)}, {{"perm", {0, 2, 3, 1}}}));
  net.output("y", bytes(net.node("Concat", {real(turned), real(turned)}, {{"axis", 3}})));
  const Model model = Model::parse(net.bytes());
  const Tensor given = (Tensor::arange(144, {.dtype = dtypes::i32}) * 31 % 256)
                           .cast(dtypes::u8)
                           .reshape({1, 4, 6, 6})
                           .realize();
  const Tensor largest = given.max_pool({2, 2}).permute({0, 2, 3, 1});
  EXPECT_EQ(model({{"x", given}}).at("y").tensor().to_vector<int>(),
            Tensor::cat({largest, largest}, 3).to_vector<int>());
  for (const ScheduleItem& item : model.cost({{"x", given}}).kernels)
    for (const Node* node : toposort(item.kernel.node()))
      EXPECT_FALSE(node->dtype().is_float()) << item.str();
}

}  // namespace
}  // namespace weft::onnx
