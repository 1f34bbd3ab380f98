// What some tools write otherwise than the standard says, and the gradients that graphs of training steps have as nodes.
#include "../tensor/tensor_test.h"
#include "onnx_file.h"

namespace weft::onnx {
namespace {

using namespace onnx_file;  // NOLINT: what it writes reads as it is
using onnx_file::Graph, onnx_file::Sizes;

Tensor reals(const std::vector<float>& values, const Sizes& shape) {
  return Tensor(values).reshape(shape);
}

// Inputs a, b ... of any shape.
Graph graph_of(std::vector<Message> nodes, const Names& inputs, const Names& outputs) {
  Graph graph;
  graph.nodes = std::move(nodes);
  for (const std::string_view name : inputs) {
    const Type type = name == "labels" ? Type::I64 : Type::F32;
    const Message element = Message().integer(1, static_cast<std::int64_t>(type));
    graph.inputs.push_back(Message().text(1, name).message(2, Message().message(1, element)));
  }
  for (const std::string_view name : outputs) graph.outputs.push_back(Message().text(1, name));
  return graph;
}

std::vector<Tensor> run(const Graph& graph, std::int64_t version, const NamedValues& inputs) {
  const Message all = Message()
                          .integer(1, 8)
                          .message(8, opset(version))
                          .message(8, opset(1, "com.microsoft"))
                          .message(7, graph.message());
  const Model model = Model::parse(bytes_of(all.bytes()));
  const NamedValues values = model(inputs);
  std::vector<Tensor> results;
  for (const Port& port : model.outputs()) results.push_back(values.at(port.name).tensor());
  return results;
}

Message real_attribute(std::string_view name, float value) {
  return Message().text(1, name).real(2, value).integer(20, 1);
}

TEST(OnnxRepair, AnOpsetHasTheOperatorsOfItsModel) {
  const Tensor x = reals({0, 0, 6, 6}, {1, 2, 2});
  const Graph plain = graph_of({node("Softmax", {"a"}, {"y"})}, {"a"}, {"y"});
  EXPECT_TRUE(near(run(plain, 10, {{"a", reals({1, 1, 1, 1}, {1, 2, 2})}})[0],
                   {0.25, 0.25, 0.25, 0.25}, {1, 2, 2}, 1e-6));
  const Graph later =
      graph_of({node("Softmax", {"b"}, {"y"}), node("HardSwish", {"a"}, {"b"})}, {"a"}, {"y"});
  EXPECT_TRUE(near(run(later, 10, {{"a", x}})[0], {0.5, 0.5, 0.5, 0.5}, {1, 2, 2}, 1e-6));
}

TEST(OnnxRepair, ALossThatIsItsLogarithms) {
  const Graph graph =
      graph_of({node("SoftmaxCrossEntropyLoss", {"a", "labels"}, {"p"}),
                node("SoftmaxCrossEntropyLossGrad", {"p", "labels"}, {"y"}, {}, "com.microsoft")},
               {"a", "labels"}, {"y", "p"});
  const auto found = run(
      graph, 12,
      {{"a", reals({0, 0, 0, 0}, {2, 2})}, {"labels", Tensor(std::vector<std::int64_t>{0, 1})}});
  EXPECT_TRUE(near(found[0], {-0.25, 0.25, 0.25, -0.25}, {2, 2}, 1e-6));
  const double half = -0.693147;
  EXPECT_TRUE(near(found[1], {half, half, half, half}, {2, 2}, 1e-5));
}

TEST(OnnxRepair, TheGradientOfALossHasItsOwn) {
  const Graph graph = graph_of(
      {node("SoftmaxCrossEntropyLoss", {"a", "labels"}, {"loss", "p"}),
       node("SoftmaxCrossEntropyLossGrad", {"b", "p", "labels"}, {"y"}, {}, "com.microsoft")},
      {"a", "b", "labels"}, {"y"});
  const auto found = run(graph, 12,
                         {{"a", reals({0, 0}, {1, 2})},
                          {"b", Tensor(3.F)},
                          {"labels", Tensor(std::vector<std::int64_t>{1})}});
  EXPECT_TRUE(near(found[0], {1.5, -1.5}, {1, 2}, 1e-6));
}

TEST(OnnxRepair, GradientsOfSoftmaxAndGelu) {
  const Graph softmax =
      graph_of({node("SoftmaxGrad", {"a", "b"}, {"y"}, {}, "com.microsoft")}, {"a", "b"}, {"y"});
  EXPECT_TRUE(
      near(run(softmax, 12, {{"a", reals({1, 0}, {1, 2})}, {"b", reals({0.5, 0.5}, {1, 2})}})[0],
           {0.25, -0.25}, {1, 2}, 1e-6));
  // The normal distribution up to x, and x times its density.
  const Graph gelu = graph_of({node("GeluGrad", {"a", "b"}, {"y"})}, {"a", "b"}, {"y"});
  EXPECT_TRUE(near(run(gelu, 12, {{"a", reals({1, 2}, {2})}, {"b", reals({0, 1}, {2})}})[0],
                   {0.5, 2 * 1.0833155}, {2}, 1e-6));
}

TEST(OnnxRepair, GradientsOfLayerNormalization) {
  const NamedValues inputs{{"dy", reals({1, 0, 0}, {1, 3})},
                           {"x", reals({-1, 0, 1}, {1, 3})},
                           {"scale", reals({1, 1, 1}, {3})},
                           {"mean", reals({0}, {1, 1})},
                           {"inverse", reals({1.2247449F}, {1, 1})}};
  const Message node_of_five =
      node("LayerNormalizationGrad", {"dy", "x", "scale", "mean", "inverse"},
           {"dx", "dscale", "dbias"}, {}, "com.microsoft");
  const Message node_of_four =
      node("LayerNormalizationGrad", {"dy", "x", "scale", "mean"}, {"dx", "dscale", "dbias"},
           {real_attribute("epsilon", 0)}, "com.microsoft");
  for (const Message& each : {node_of_five, node_of_four}) {
    const Graph graph =
        graph_of({each}, {"dy", "x", "scale", "mean", "inverse"}, {"dx", "dscale", "dbias"});
    const auto found = run(graph, 12, inputs);
    EXPECT_TRUE(near(found[0], {0.2041241, -0.4082483, 0.2041241}, {1, 3}, 1e-6));
    EXPECT_TRUE(near(found[1], {-1.2247449, 0, 0}, {3}, 1e-6));
    EXPECT_TRUE(near(found[2], {1, 0, 0}, {3}, 1e-6));
  }
}

TEST(OnnxRepair, ProductsOfManyMatrices) {
  const Graph graph =
      graph_of({node("Gemm", {"a", "b"}, {"y"}, {attribute("transB", 1)})}, {"a", "b"}, {"y"});
  const Tensor a = reals({1, 2, 3, 4}, {2, 1, 2});
  EXPECT_TRUE(near(run(graph, 12, {{"a", a}, {"b", reals({1, 0, 1, 1}, {2, 2})}})[0], {1, 3, 3, 7},
                   {2, 1, 2}));
  EXPECT_TRUE(near(run(graph, 12, {{"a", a}, {"b", reals({1, 1, 2, 2}, {2, 1, 2})}})[0], {3, 14},
                   {2, 1, 1}));
}

TEST(OnnxRepair, AStepOfDescent) {
  const Graph graph =
      graph_of({node("SGD", {"a", "b"}, {"y"}, {real_attribute("lr", 0.5F)})}, {"a", "b"}, {"y"});
  EXPECT_TRUE(near(run(graph, 12, {{"a", reals({1, 2}, {2})}, {"b", reals({2, -2}, {2})}})[0],
                   {0, 3}, {2}, 1e-6));
}

}  // namespace
}  // namespace weft::onnx
