// A graph gives the same before and after nodes are folded: training keeps them as they are.
#include <cmath>

#include <gtest/gtest.h>
#include <weft/weft.h>

#include "onnx_file.h"

namespace weft {
namespace {

using namespace onnx_file;  // NOLINT: what it writes reads as it is
using onnx::Model;
using onnx::Type;

using Floats = std::vector<float>;

Graph conv_graph(std::vector<Message> after) {
  Graph graph;
  graph.inputs = {port("x", Type::F32, {1, 1, 2, 2})};
  graph.outputs = {port("y", Type::F32, {1, 2, 2, 2})};
  graph.initialisers = {
      tensor("w", {2, 1, 1, 1}, Floats{2, -3}), tensor("scale", {2}, Floats{1.5F, 0.5F}),
      tensor("shift", {2}, Floats{1, 2}),       tensor("mean", {2}, Floats{0.25F, -0.5F}),
      tensor("variance", {2}, Floats{4, 9}),    tensor("addend", {2, 1, 1}, Floats{10, 20})};
  graph.nodes = {node("Conv", {"x", "w"}, {"c"})};
  for (Message& each : after) graph.nodes.push_back(std::move(each));
  return graph;
}

Floats run(const Graph& graph, bool trainable, std::int64_t version = 18) {
  const Model model = load(graph, version, {.trainable = trainable});
  return model({{"x", Tensor({1.F, 2.F, 3.F, 4.F}).reshape({1, 1, 2, 2})}})
      .at("y")
      .tensor()
      .to_vector<float>();
}

TEST(OnnxCleanup, BatchNormalizationAfterAConvolution) {
  const Graph graph =
      conv_graph({node("Identity", {"c"}, {"i"}),
                  node("BatchNormalization", {"i", "scale", "shift", "mean", "variance"}, {"y"})});
  const Floats folded = run(graph, false), plain = run(graph, true);
  for (std::size_t i = 0; i < 8; ++i) {
    const double x = double(i % 4 + 1) * (i < 4 ? 2 : -3);
    const double expected = i < 4 ? (x - 0.25) / std::sqrt(4 + 1e-5) * 1.5 + 1
                                  : (x + 0.5) / std::sqrt(9 + 1e-5) * 0.5 + 2;
    EXPECT_NEAR(folded[i], expected, 1e-5);
    EXPECT_NEAR(plain[i], expected, 1e-5);
  }
}

// What only the clean-up reads goes once it is done, and is there again for who asks.
TEST(OnnxCleanup, WeightsAreThoseOfTheFileBeforeAndAfter) {
  const Graph graph =
      conv_graph({node("BatchNormalization", {"c", "scale", "shift", "mean", "variance"}, {"y"})});
  const Tensor x = Tensor({1.F, 2.F, 3.F, 4.F}).reshape({1, 1, 2, 2});
  for (const bool asks_before : {false, true}) {
    const Model model = load(graph, 18);
    std::map<std::string, Tensor> before;
    if (asks_before) before = model.parameters();
    const auto first = model({{"x", x}}).at("y").tensor().to_vector<float>();
    for (const auto& [name, tensor] : before)
      EXPECT_EQ(tensor.to_vector<float>(), model.parameters().at(name).to_vector<float>()) << name;
    EXPECT_EQ(model.parameters().at("w").to_vector<float>(), (Floats{2, -3}));
    EXPECT_EQ(model.parameters().at("variance").to_vector<float>(), (Floats{4, 9}));
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(model({{"x", x}}).at("y").tensor().to_vector<float>(), first);
  }
}

TEST(OnnxCleanup, WhatIsAddedToEachChannel) {
  const Graph graph = conv_graph({node("Add", {"addend", "c"}, {"y"})});
  EXPECT_EQ(run(graph, false), (Floats{12, 14, 16, 18, 17, 14, 11, 8}));
}

// GELU as files have it; the division is one where others read it, or where weights are trained.
TEST(OnnxCleanup, ADivisionBeforeErfIsAProduct) {
  const auto graph_of = [](bool is_read_twice) {
    Graph graph;
    graph.inputs = {port("x", Type::F32, {1, 1, 2, 2})};
    graph.outputs = {port("y", Type::F32, {1, 1, 2, 2})};
    graph.initialisers = {tensor("root", {}, Floats{1.41421356F})};
    graph.nodes = {node("Div", {"x", "root"}, {"d"}), node("Erf", {"d"}, {"e"}),
                   node("Mul", {"e", is_read_twice ? "d" : "x"}, {"y"})};
    return graph;
  };
  for (const bool is_read_twice : {false, true})
    for (const bool trainable : {false, true}) {
      const Floats y = run(graph_of(is_read_twice), trainable);
      for (std::size_t i = 0; i < 4; ++i) {
        const double x = double(i + 1), d = x / std::sqrt(2.0);
        EXPECT_NEAR(y[i], std::erf(d) * (is_read_twice ? d : x), 1e-6);
      }
    }
}

TEST(OnnxCleanup, AValueThatOthersReadStays) {
  const Graph graph =
      conv_graph({node("Add", {"c", "addend"}, {"a"}), node("Add", {"a", "c"}, {"y"})});
  EXPECT_EQ(run(graph, false), (Floats{14, 18, 22, 26, 14, 8, 2, -4}));
}

// Of one element in the file: no kernel reads them, unless they are trained.
TEST(OnnxCleanup, FloatsThatStayAreConstants) {
  Graph graph =
      conv_graph({node("Mul", {"c", "half"}, {"h"}), node("Clip", {"h", "low", "high"}, {"y"})});
  const std::pair<std::string_view, float> numbers[] = {
      {"half", 0.5F}, {"low", -1.F}, {"high", 2.F}};
  for (const auto& [name, value] : numbers)
    graph.initialisers.push_back(tensor(name, {}, Floats{value}));
  EXPECT_EQ(run(graph, false), (Floats{1, 2, 2, 2, -1, -1, -1, -1}));
  EXPECT_EQ(run(graph, true), (Floats{1, 2, 2, 2, -1, -1, -1, -1}));
  const Tensor x = Tensor({1.F, 2.F, 3.F, 4.F}).reshape({1, 1, 2, 2});
  const Model model = load(graph, 18);
  model.parameters().at("half").assign(Tensor(1.F));
  for (int call = 0; call < 2; ++call) {  // after which it is another
    EXPECT_EQ(model({{"x", x}}).at("y").tensor().to_vector<float>(),
              call == 0 ? (Floats{2, 2, 2, 2, -1, -1, -1, -1}) : Floats(8, 0));
    model.parameters().at("half").assign(Tensor(0.F));
  }
  // Beside the image, the weights and what is given.
  const auto floats_beside = [&](bool trainable) {
    const Model counted = load(graph, 18, {.trainable = trainable});
    double floats = -4 - 2 - 8;
    for (const ScheduleItem& item : counted.cost({{"x", x}}).kernels)
      floats += item.work.bytes / sizeof(float);
    return floats;
  };
  EXPECT_EQ(floats_beside(false), 0);
  EXPECT_EQ(floats_beside(true), 3);
}

// A name that a graph within gives to a value of its own is another value there, whichever of the two an Identity makes
// or reads.
TEST(OnnxCleanup, NamesOfGraphsWithin) {
  const auto result_of = [](const std::vector<Message>& inner, std::vector<Message> before,
                            const Message& after) {
    Graph branch;
    branch.nodes = inner;
    branch.outputs = {port("p", Type::F32, {2})};
    const Message attributes[] = {graph_attribute("then_branch", branch.message()),
                                  graph_attribute("else_branch", branch.message())};
    Graph graph;
    graph.inputs = {port("x", Type::F32, {2}), port("c", Type::Bool, {})};
    graph.outputs = {port("y", Type::F32, {2})};
    graph.nodes = std::move(before);
    graph.nodes.push_back(node("If", {"c"}, {"u"}, {attributes[0], attributes[1]}));
    graph.nodes.push_back(after);
    const Tensor c = Tensor::full({}, true, {.dtype = dtypes::bool_});
    return load(graph)({{"x", Tensor({1.F, 2.F})}, {"c", c}}).at("y").tensor().to_vector<float>();
  };
  const std::vector<Message> square{node("Add", {"x", "x"}, {"t"}), node("Mul", {"t", "t"}, {"p"})};
  const Message copy = node("Identity", {"x"}, {"t"});
  EXPECT_EQ(result_of(square, {copy}, node("Add", {"u", "t"}, {"y"})), (Floats{5, 18}));
  const std::vector<Message> own{node("Neg", {"x"}, {"w"}), node("Sub", {"t", "w"}, {"p"})};
  const std::vector<Message> twice{node("Add", {"x", "x"}, {"w"}), node("Identity", {"w"}, {"t"})};
  EXPECT_EQ(result_of(own, twice, node("Relu", {"u"}, {"y"})), (Floats{3, 6}));
  Graph nested;
  nested.nodes = square;
  nested.outputs = {port("p", Type::F32, {2})};
  const std::vector<Message> deeper{node("If", {"c"}, {"p"},
                                         {graph_attribute("then_branch", nested.message()),
                                          graph_attribute("else_branch", nested.message())})};
  EXPECT_EQ(result_of(deeper, {copy}, node("Add", {"u", "t"}, {"y"})), (Floats{5, 18}));
}

// What such a node gives is not what its graph calls so.
TEST(OnnxCleanup, ANameThatTheGraphWithinHasAsWell) {
  Graph body;
  body.inputs = {port("i", Type::I64, {}), port("go", Type::Bool, {}), port("t", Type::F32, {2})};
  body.nodes = {node("Identity", {"go"}, {"again"}), node("Add", {"t", "x"}, {"v"})};
  body.outputs = {port("again", Type::Bool, {}), port("v", Type::F32, {2})};
  Graph graph;
  graph.inputs = {port("x", Type::F32, {2})};
  graph.outputs = {port("y", Type::F32, {2})};
  graph.initialisers = {tensor("n", Sizes{}, Sizes{3})};
  graph.nodes = {node("Loop", {"n", "", "x"}, {"u"}, {graph_attribute("body", body.message())}),
                 node("Identity", {"u"}, {"t"}), node("Neg", {"t"}, {"y"})};
  const Model model = load(graph);
  EXPECT_EQ(model({{"x", Tensor({1.F, 2.F})}}).at("y").tensor().to_vector<float>(),
            (Floats{-4, -8}));
}

TEST(OnnxCleanup, TransposesThatCancel) {
  const auto turn = [](std::string_view from, std::string_view to, const Sizes& order) {
    return node("Transpose", {from}, {to}, {attribute("perm", order)});
  };
  const Graph cancel = conv_graph(
      {turn("c", "a", {0, 2, 3, 1}), turn("a", "b", {0, 3, 1, 2}), node("Add", {"b", "b"}, {"y"})});
  EXPECT_EQ(run(cancel, false), (Floats{4, 8, 12, 16, -6, -12, -18, -24}));
  const Graph merge = conv_graph(
      {turn("c", "a", {0, 2, 1, 3}), turn("a", "b", {0, 1, 3, 2}), turn("b", "y", {0, 1, 2, 3})});
  EXPECT_EQ(run(merge, false), (Floats{2, -3, 4, -6, 6, -9, 8, -12}));
}

}  // namespace
}  // namespace weft
