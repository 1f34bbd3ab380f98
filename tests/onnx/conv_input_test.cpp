// Inputs of convolutions that lie in memory as instructions for matrices read them. Whatever device a test has, sums of
// small whole numbers are exact.
#include <algorithm>
#include <deque>
#include <string>

#include <gtest/gtest.h>
#include <weft/dev/io/file.h>
#include <weft/onnx_writer.h>
#include <weft/weft.h>

#include "../../src/onnx/precision.h"

namespace weft::onnx {
namespace {

struct Window {
  std::int64_t channels, size = 9, outputs = 8, kernel = 3, stride = 1;
  std::vector<std::int64_t> pads = {1, 1, 1, 1};
};

constexpr std::int64_t most = 7;

Tensor whole_numbers(const std::vector<std::int64_t>& shape, DType dtype, int least) {
  const std::int64_t count = Tensor::empty(Shape(shape)).numel();
  std::vector<std::int32_t> values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<std::int32_t>(i * 37 % 11 % most) + least);
  return Tensor(values).reshape(Shape(shape)).cast(dtype).realize();
}

Tensor expected(const Window& sizes, const Tensor& x, const Tensor& weight, double around = 0) {
  const auto& pads = sizes.pads;
  const Tensor surrounded =
      x.cast(dtypes::f32)
          .pad(Tensor::Bounds{{0, 0}, {0, 0}, {pads[0], pads[2]}, {pads[1], pads[3]}}, around);
  return surrounded.conv(weight.cast(dtypes::f32), {}, {.stride = sizes.stride});
}

std::vector<float> result_of(const Writer& net, const Tensor& x) {
  return Model::parse(net.bytes(), {})({{"x", x}}).at("y").tensor().to_vector<float>();
}

const Window all_windows[] = {
    {3}, {16}, {3, 11, 8, 7, 2, {3, 3, 3, 3}}, {20, 8, 4, 3, 2, {0, 1, 2, 0}}};

TEST(OnnxConvInput, HasItsSurroundingsInMemory) {
  for (const Window& sizes : all_windows) {
    const Tensor x = whole_numbers({1, sizes.channels, sizes.size, sizes.size}, dtypes::f32, -3);
    const Tensor weight =
        whole_numbers({sizes.outputs, sizes.channels, sizes.kernel, sizes.kernel}, dtypes::f32, -2);
    Writer net("surrounded", 17);
    net.use("weft", 1);
    const std::string in = net.input("x", Type::F32, {1, sizes.channels, sizes.size, sizes.size});
    net.output("y", net.node("SurroundedConv", {in, net.constant("w", weight)},
                             {{"pads", sizes.pads},
                              {"strides", {sizes.stride, sizes.stride}},
                              {"to", static_cast<std::int64_t>(Type::BF16)},
                              {"has_few_channels", sizes.channels < 4 ? 1 : 0}},
                             {.domain = "weft"}));
    EXPECT_EQ(result_of(net, x), expected(sizes, x, weight).to_vector<float>()) << sizes.channels;
  }
}

// As Conv of the standard: steps of windows, groups of none, and pads that follow from sizes which are not known.
TEST(OnnxConvInput, IsPaddedAsAnyConvolution) {
  const Tensor x = whole_numbers({2, 3, 9, 8}, dtypes::f32, -3),
               weight = whole_numbers({4, 3, 3, 2}, dtypes::f32, -2),
               bias = whole_numbers({4}, dtypes::f32, -1);
  const auto result = [&](const std::string& op, const Attributes& more, bool is_open) {
    Writer net("padded", 17);
    net.use("weft", 1);
    Attributes attributes = more;
    if (op != "Conv") {
      attributes.emplace_back("to", static_cast<std::int64_t>(Type::BF16));
      attributes.emplace_back("has_few_channels", 1);
    }
    const std::string in = is_open ? net.input("x", Type::F32, {2, 3, "height", "width"})
                                   : net.input("x", Type::F32, {2, 3, 9, 8});
    net.output("y", net.node(op, {in, net.constant("w", weight), net.constant("b", bias)},
                             attributes, {.domain = op == "Conv" ? "" : "weft"}));
    return result_of(net, x);
  };
  const Attributes all[] = {{{"auto_pad", "SAME_UPPER"}, {"strides", {2, 2}}},
                            {{"auto_pad", "SAME_LOWER"}, {"strides", {2, 1}}},
                            {{"auto_pad", "VALID"}},
                            {{"pads", {2, 0, 1, 3}}, {"dilations", {2, 3}}}};
  for (const Attributes& attributes : all)
    for (const bool is_open : {false, true}) {
      const bool is_same = attributes.size() == 2 && attributes[0].first == "auto_pad";
      if (is_open && !is_same) continue;  // windows have to fit into the least size
      EXPECT_EQ(result("SurroundedConv", attributes, is_open), result("Conv", attributes, is_open));
    }
}

TEST(OnnxConvInput, OfBytesHasZeroPointsAround) {
  const std::uint8_t zero = 5;
  for (const Window& sizes : all_windows)
    for (const bool has_zero : {false, true}) {
      const Tensor x = whole_numbers({1, sizes.channels, sizes.size, sizes.size}, dtypes::u8, 0);
      const Tensor weight = whole_numbers(
          {sizes.outputs, sizes.channels, sizes.kernel, sizes.kernel}, dtypes::i8, -2);
      Writer net("bytes", 17);
      net.use("weft", 1);
      const std::string in = net.input("x", Type::U8, {1, sizes.channels, sizes.size, sizes.size});
      Names inputs{in, net.constant("w", weight),
                   net.constant("step", Tensor(std::vector<float>(
                                            static_cast<std::size_t>(sizes.outputs), 1)))};
      if (has_zero) inputs.push_back(net.constant("zero", Tensor(std::vector{zero}).reshape({})));
      net.output("y", net.node("ConvOfBytes", inputs,
                               {{"pads", sizes.pads},
                                {"strides", {sizes.stride, sizes.stride}},
                                {"zero_is_in_bias", has_zero ? 1 : 0},
                                {"surrounds", 1}},
                               {.domain = "weft"}));
      EXPECT_EQ(result_of(net, x),
                expected(sizes, x, weight, has_zero ? zero : 0).to_vector<float>())
          << sizes.channels;
    }
}

// Where tiles multiply bf16: windows over padded images of many channels, and those over colours.
TEST(OnnxConvInput, IsWantedByWindows) {
  Writer net("layers", 17);
  std::string y = net.input("x", Type::F32, {1, 3, 8, 8});
  const auto conv = [&](const std::string& name, std::int64_t from, std::int64_t to,
                        std::int64_t kernel, std::int64_t pad) {
    const Tensor weight = whole_numbers({to, from, kernel, kernel}, dtypes::f32, -2);
    y = net.node("Conv", {y, net.constant(name, weight)}, {{"pads", {pad, pad, pad, pad}}});
  };
  conv("colours", 3, 16, 3, 1);
  conv("window", 16, 16, 3, 1);
  conv("point", 16, 8, 1, 0);
  conv("few", 8, 16, 3, 1);
  conv("inside", 16, 16, 3, 0);
  net.output("y", y);
  const std::vector<std::byte> bytes = net.bytes();
  const auto lowered = [&](bool multiplies, bool has_tiles) {
    ModelProto model = parse_model(bytes, InFile{"layers"});
    std::deque<std::string> names;
    const Precisions layers;
    lower_precision(model, names,
                    {.all = Precision::BF16,
                     .layers = layers,
                     .multiplied = multiplies ? KindSet{Kind::BF16} : KindSet{},
                     .tiled = has_tiles ? KindSet{Kind::BF16} : KindSet{}});
    std::vector<std::string> ops;
    for (const NodeProto& node : model.graph.nodes)
      if (node.op.ends_with("Conv")) ops.emplace_back(node.op);
    std::ranges::sort(ops);
    return ops;
  };
  using Ops = std::vector<std::string>;
  EXPECT_EQ(lowered(false, false), (Ops{"Conv", "Conv", "Conv", "Conv", "Conv"}));
  EXPECT_EQ(lowered(true, false), (Ops{"Conv", "Conv", "Conv", "Conv", "SurroundedConv"}));
  EXPECT_EQ(lowered(true, true), (Ops{"Conv", "Conv", "Conv", "SurroundedConv", "SurroundedConv"}));
}

}  // namespace
}  // namespace weft::onnx
