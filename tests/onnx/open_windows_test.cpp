// Operators with windows along axes whose size is open compute what they do along an axis of that number.

#include <algorithm>
#include <ostream>
#include <string>

#include <gtest/gtest.h>
#include <weft/onnx.h>
#include <weft/onnx_writer.h>

#include "../support/errors.h"
#include "../support/open_sizes.h"

namespace weft::onnx {
namespace {

constexpr std::int64_t most_steps = 29;

struct WindowNode {
  std::string name, op;
  std::vector<std::pair<std::string, Attribute>> attributes;
  std::vector<std::int64_t> weight = {};
  std::int64_t opset = 22;
};

void PrintTo(const WindowNode& node, std::ostream* out) { *out << node.name; }

Model model_of(const WindowNode& node) {
  Tensor::manual_seed(11);
  Writer net("windows", node.opset);
  Names inputs{net.input("x", Type::F32, {2, 4, "time"})};
  if (!node.weight.empty())
    inputs.push_back(net.constant("w", (Tensor::rand(node.weight) - 0.5F).realize()));
  net.output("y", net.node(node.op, inputs, node.attributes), Type::F32, {2, "", ""});
  return Model::parse(net.bytes());
}

Tensor result_of(const Model& model, const Tensor& x) { return model({{"x", x}}).at("y").tensor(); }

class OpenWindowNodes : public testing::TestWithParam<WindowNode> {};

TEST_P(OpenWindowNodes, ComputeTheSame) {
  const Model model = model_of(GetParam());
  const Tensor whole = (Tensor::rand({2, 4, most_steps}) - 0.5F).realize();
  const std::vector<std::int64_t> most = result_of(model, whole).shape();
  for (const std::int64_t n : {4, 5, 6, 7, 8, 9, 16, 23, 28, 29}) {
    const Dim open = bound_size("time", 4, most_steps, n);
    const Tensor found = result_of(model, first(whole, open));
    const Tensor expected = result_of(model, first(whole, n));
    EXPECT_EQ(found.max_shape(), most);
    const std::vector<float> values = values_in_frame(found, most),
                             wanted = values_in_frame(expected, most);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      ASSERT_NEAR(values[i], wanted[i], 1e-5) << "of " << n << " at " << i;
  }
}

const std::vector<WindowNode>& window_nodes() {
  static const std::vector<WindowNode> nodes{
      {"conv", "Conv", {{"pads", {1, 1}}}, {6, 4, 3}},
      {"conv_strides", "Conv", {{"strides", {2}}, {"dilations", {2}}, {"pads", {1, 2}}}, {6, 4, 2}},
      {"conv_groups", "Conv", {{"group", 4}}, {4, 1, 4}},
      {"conv_valid", "Conv", {{"auto_pad", "VALID"}, {"strides", {3}}}, {6, 4, 3}},
      {"conv_same", "Conv", {{"auto_pad", "SAME_UPPER"}}, {6, 4, 4}},
      {"conv_same_lower", "Conv", {{"auto_pad", "SAME_LOWER"}}, {6, 4, 4}},
      {"conv_same_steps", "Conv", {{"auto_pad", "SAME_UPPER"}, {"strides", {2}}}, {6, 4, 3}},
      {"conv_same_lower_steps", "Conv", {{"auto_pad", "SAME_LOWER"}, {"strides", {3}}}, {6, 4, 4}},
      {"conv_same_of_one", "Conv", {{"auto_pad", "SAME_UPPER"}, {"strides", {2}}}, {6, 4, 1}},
      {"max", "MaxPool", {{"kernel_shape", {3}}, {"strides", {2}}, {"pads", {1, 1}}}},
      {"max_up", "MaxPool", {{"kernel_shape", {3}}, {"strides", {2}}, {"ceil_mode", 1}}},
      {"max_same", "MaxPool", {{"kernel_shape", {2}}, {"auto_pad", "SAME_UPPER"}}},
      {"max_same_steps",
       "MaxPool",
       {{"kernel_shape", {3}}, {"strides", {2}}, {"auto_pad", "SAME_LOWER"}}},
      {"average", "AveragePool", {{"kernel_shape", {2}}, {"strides", {2}}}},
      {"average_padded",
       "AveragePool",
       {{"kernel_shape", {3}}, {"strides", {2}}, {"pads", {1, 1}}}},
      {"average_of_pads",
       "AveragePool",
       {{"kernel_shape", {3}}, {"strides", {2}}, {"pads", {1, 1}}, {"count_include_pad", 1}}},
      {"average_up",
       "AveragePool",
       {{"kernel_shape", {4}}, {"strides", {3}}, {"pads", {1, 1}}, {"ceil_mode", 1}}},
      {"average_same", "AveragePool", {{"kernel_shape", {3}}, {"auto_pad", "SAME_UPPER"}}},
      {"average_same_steps",
       "AveragePool",
       {{"kernel_shape", {4}}, {"strides", {3}}, {"auto_pad", "SAME_UPPER"}}},
      {"lp", "LpPool", {{"kernel_shape", {2}}, {"strides", {2}}, {"p", 2}}},
      {"conv_transpose", "ConvTranspose", {{"strides", {2}}, {"pads", {1, 1}}}, {4, 3, 4}},
      {"conv_transpose_valid", "ConvTranspose", {{"auto_pad", "VALID"}}, {4, 3, 4}},
      {"conv_transpose_same",
       "ConvTranspose",
       {{"strides", {2}}, {"auto_pad", "SAME_UPPER"}},
       {4, 3, 3}},
      {"global_average", "GlobalAveragePool", {}},
      {"global_max", "GlobalMaxPool", {}},
      {"global_lp", "GlobalLpPool", {{"p", 2}}},
  };
  return nodes;
}

INSTANTIATE_TEST_SUITE_P(Nodes, OpenWindowNodes, testing::ValuesIn(window_nodes()),
                         [](const auto& info) { return info.param.name; });

// New elements by a whole number for each old one.
TEST(OpenWindowNodes, ResizeToSeveralTimesTheSize) {
  for (const auto& [coordinates, rounding] : std::vector<std::pair<std::string, std::string>>{
           {"asymmetric", "floor"}, {"half_pixel", "round_prefer_floor"}}) {
    Writer net("resize", 22);
    const std::string x = net.input("x", Type::F32, {2, 4, "time"});
    const std::string scales = net.constant("scales", Tensor({1.0F, 1.0F, 3.0F}));
    net.output(
        "y",
        net.node("Resize", {x, "", scales},
                 {{"coordinate_transformation_mode", coordinates}, {"nearest_mode", rounding}}),
        Type::F32, {2, 4, ""});
    const Model model = Model::parse(net.bytes());
    const Tensor whole = Tensor::rand({2, 4, most_steps}).realize();
    for (const std::int64_t n : {1, 8, 29}) {
      const std::vector<std::int64_t> most{2, 4, 3 * most_steps};
      EXPECT_EQ(values_in_frame(
                    result_of(model, first(whole, bound_size("time", 1, most_steps, n))), most),
                values_in_frame(result_of(model, first(whole, n)), most));
    }
  }
}

TEST(OpenWindowNodes, RefuseWhatDependsOnTheSize) {
  const auto error = [](const WindowNode& node) {
    const Model model = model_of(node);
    const Tensor x = Tensor::zeros({2, 4, most_steps}).realize();
    return error_of(
        [&] { return result_of(model, first(x, bound_size("time", 2, most_steps, 9))); });
  };
  for (const auto& [node, expected] : std::vector<std::pair<WindowNode, std::string>>{
           {{"", "MaxPool", {{"kernel_shape", {2}}, {"strides", {3}}, {"auto_pad", "SAME_UPPER"}}},
            "windows that span 2 in steps of 3 along an open axis"},
           {{"", "MaxPool", {{"kernel_shape", {2}}, {"strides", {3}}, {"ceil_mode", 1}}},
            "whether the last of windows that ceil_mode rounds up begins inside"},
           {{"", "MaxPool", {{"kernel_shape", {3}}}},
            "pads of 0 and 0 around at least 2 elements for a kernel that spans 3"},
           {{"", "Conv", {}, {4, 4, 3}}, "does not fit in bind(time, 9) elements, at least 2"}})
    EXPECT_NE(error(node).find(expected), std::string::npos) << error(node);
}

}  // namespace
}  // namespace weft::onnx
