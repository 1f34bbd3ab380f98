// Branches, loops and scans.
#include <algorithm>

#include <gtest/gtest.h>
#include <weft/weft.h>

#include "onnx_file.h"

namespace weft {
namespace {

using namespace onnx_file;  // NOLINT: what it writes reads as it is
using onnx::Model;
using onnx::Type;

using Floats = std::vector<float>;

Message branch(std::string_view op) {
  Graph graph;
  graph.nodes = {node(op, {"x", "x"}, {"r"})};
  graph.outputs = {port("r", Type::F32, {2})};
  return graph.message();
}

TEST(OnnxControl, OnlyTheBranchThatIsTakenRuns) {
  Graph graph;
  graph.inputs = {port("c", Type::Bool, {}), port("x", Type::F32, {2})};
  graph.outputs = {port("y", Type::F32, {2})};
  graph.nodes = {node("If", {"c"}, {"y"},
                      {graph_attribute("then_branch", branch("Add")),
                       graph_attribute("else_branch", branch("Mul"))})};
  const Model model = load(graph);
  for (const bool condition : {true, false, true, true, false}) {
    const Tensor c = Tensor::full({}, condition, {.dtype = dtypes::bool_});
    const Tensor y = model({{"c", c}, {"x", Tensor({3.F, 4.F})}}).at("y").tensor();
    EXPECT_EQ(y.to_vector<float>(), condition ? (Floats{6, 8}) : (Floats{9, 16}));
  }
}

// Whether the sum of x is above zero, and of what is not also whether its largest element is.
Graph two_decisions() {
  Graph inner;
  inner.nodes = {node("ReduceMax", {"x"}, {"m"}, {attribute("keepdims", 0)}),
                 node("Greater", {"m", "zero"}, {"d"}),
                 node("If", {"d"}, {"r"},
                      {graph_attribute("then_branch", branch("Mul")),
                       graph_attribute("else_branch", branch("Sub"))})};
  inner.outputs = {port("r", Type::F32, {2})};
  Graph graph;
  graph.inputs = {port("x", Type::F32, {2})};
  graph.initialisers = {tensor("zero", {}, Floats{0})};
  graph.outputs = {port("y", Type::F32, {2})};
  graph.nodes = {node("ReduceSum", {"x"}, {"s"}, {attribute("keepdims", 0)}),
                 node("Greater", {"s", "zero"}, {"c"}),
                 node("If", {"c"}, {"y"},
                      {graph_attribute("then_branch", branch("Add")),
                       graph_attribute("else_branch", inner.message())})};
  return graph;
}

TEST(OnnxControl, DecisionsByWhatIsComputed) {
  const Model model = load(two_decisions());
  for (int call = 0; call < 12; ++call) {
    const float first = float(call % 3 - 1) * 4, second = float(call % 4) - 2;
    const Tensor y = model({{"x", Tensor({first, second})}}).at("y").tensor();
    const auto wanted = [&](float x) {
      return first + second > 0 ? x + x : std::max(first, second) > 0 ? x * x : x - x;
    };
    EXPECT_EQ(y.to_vector<float>(), (Floats{wanted(first), wanted(second)})) << call;
  }
}

// A number that is drawn decides about itself.
TEST(OnnxControl, DecisionsByRandomNumbers) {
  Graph other;
  other.nodes = {node("Neg", {"r"}, {"n"})};
  other.outputs = {port("n", Type::F32, {})};
  Graph same;
  same.nodes = {node("Identity", {"r"}, {"n"})};
  same.outputs = {port("n", Type::F32, {})};
  Graph graph;
  graph.inputs = {port("x", Type::F32, {})};
  graph.initialisers = {tensor("zero", {}, Floats{0})};
  graph.outputs = {port("y", Type::F32, {})};
  graph.nodes = {node("RandomNormalLike", {"x"}, {"r"}), node("Greater", {"r", "zero"}, {"c"}),
                 node("If", {"c"}, {"y"},
                      {graph_attribute("then_branch", same.message()),
                       graph_attribute("else_branch", other.message())})};
  const Model model = load(graph);
  for (int call = 0; call < 20; ++call)
    EXPECT_GT(model({{"x", Tensor::full({}, 1.F)}}).at("y").tensor().item<float>(), 0);
}

// state = state + x and each state, `iterations` times or while the state is below 10.
Graph loop(bool until_ten) {
  Graph body;
  body.inputs = {port("i", Type::I64, {}), port("go", Type::Bool, {}), port("s", Type::F32, {1})};
  body.nodes = {
      node("Add", {"s", "x"}, {"t"}),
      until_ten ? node("Less", {"t", "ten"}, {"again"}) : node("Identity", {"go"}, {"again"}),
      node("Identity", {"t"}, {"each"})};
  body.outputs = {port("again", Type::Bool, {}), port("t", Type::F32, {1}),
                  port("each", Type::F32, {1})};
  Graph graph;
  graph.inputs = {port("x", Type::F32, {1}), port("iterations", Type::I64, {})};
  graph.initialisers = {tensor("start", {1}, Floats{0}), tensor("ten", {1}, Floats{10})};
  graph.outputs = {port("last", Type::F32, {1}), port("all", Type::F32, {-1, 1})};
  graph.nodes = {node("Loop", {"iterations", "", "start"}, {"last", "all"},
                      {graph_attribute("body", body.message())})};
  return graph;
}

TEST(OnnxControl, LoopsOfACountThatIsAnInput) {
  const Model model = load(loop(false));
  for (const std::int64_t iterations : {3, 0, 5}) {
    const auto values =
        model({{"x", Tensor({2.F})},
               {"iterations", Tensor::full({}, iterations, {.dtype = dtypes::i64})}});
    EXPECT_EQ(values.at("last").tensor().item<float>(), float(2 * iterations));
    EXPECT_EQ(values.at("all").tensor().shape(), (Sizes{iterations, 1}));
  }
}

TEST(OnnxControl, LoopsThatEndByWhatTheyCompute) {
  const Model model = load(loop(true));
  const Tensor most = Tensor::full({}, std::int64_t(1) << 60, {.dtype = dtypes::i64});
  for (const float step : {4.F, 1.F, 4.F}) {
    const auto values = model({{"x", Tensor(Floats{step})}, {"iterations", most}});
    const int iterations = step == 4 ? 3 : 10;
    EXPECT_EQ(values.at("last").tensor().item<float>(), step * float(iterations));
    EXPECT_EQ(values.at("all").tensor().numel(), iterations);
  }
}

TEST(OnnxControl, EndlessLoopsEnd) {
  const Model model = load(loop(false));
  const Tensor most = Tensor::full({}, std::int64_t(1) << 62, {.dtype = dtypes::i64});
  EXPECT_THROW(model({{"x", Tensor({2.F})}, {"iterations", most}}), Error);
}

TEST(OnnxControl, StringsOfEachIteration) {
  Graph body;
  body.inputs = {port("i", Type::I64, {}), port("go", Type::Bool, {}),
                 port("s", Type::String, {2})};
  body.nodes = {node("Identity", {"go"}, {"again"}), node("StringConcat", {"s", "x"}, {"t"}),
                node("Identity", {"s"}, {"each"})};
  body.outputs = {port("again", Type::Bool, {}), port("t", Type::String, {2}),
                  port("each", Type::String, {2})};
  Graph graph;
  graph.inputs = {port("x", Type::String, {2}), port("n", Type::I64, {})};
  graph.outputs = {port("all", Type::String, {-1, 2})};
  graph.nodes = {
      node("Loop", {"n", "", "x"}, {"", "all"}, {graph_attribute("body", body.message())})};
  const Model model = load(graph, 20);
  for (const std::int64_t n : {3, 0, 1}) {
    const std::vector<std::string> wanted{"a", "b", "aa", "bb", "aaa", "bbb"};
    const Tensor iterations = Tensor::full({}, n, {.dtype = dtypes::i64});
    const onnx::Text all =
        model({{"x", onnx::Text{{2}, {"a", "b"}}}, {"n", iterations}}).at("all").text();
    EXPECT_EQ(all.shape, (Sizes{n, 2}));
    EXPECT_EQ(all.values, std::vector<std::string>(wanted.begin(), wanted.begin() + 2 * n));
  }
}

TEST(OnnxControl, ScansCollectStringsFromTheLastOn) {
  Graph body;
  body.inputs = {port("s", Type::String, {}), port("v", Type::F32, {})};
  body.nodes = {node("StringConcat", {"s", "x"}, {"t"}), node("Identity", {"t"}, {"each"})};
  body.outputs = {port("t", Type::String, {}), port("each", Type::String, {})};
  Graph graph;
  graph.inputs = {port("x", Type::String, {}), port("v", Type::F32, {2})};
  graph.outputs = {port("y", Type::String, {2})};
  graph.nodes = {node("Scan", {"x", "v"}, {"", "y"},
                      {graph_attribute("body", body.message()), attribute("num_scan_inputs", 1),
                       attribute("scan_output_directions", Sizes{1})})};
  const onnx::Text x{{}, {"a"}};
  const onnx::Text y = load(graph, 20)({{"x", x}, {"v", Tensor::zeros({2})}}).at("y").text();
  EXPECT_EQ(y.shape, (Sizes{2}));
  EXPECT_EQ(y.values, (std::vector<std::string>{"aaa", "aa"}));
}

// Sums along axis 1 from the last to the first, collected backwards along axis 1.
TEST(OnnxControl, ScansInEitherDirection) {
  Graph body;
  body.inputs = {port("s", Type::F32, {2}), port("v", Type::F32, {2})};
  body.nodes = {node("Add", {"s", "v"}, {"t"}), node("Identity", {"t"}, {"each"})};
  body.outputs = {port("t", Type::F32, {2}), port("each", Type::F32, {2})};
  Graph graph;
  graph.inputs = {port("x", Type::F32, {2, 3})};
  graph.initialisers = {tensor("zero", {2}, Floats{0, 0})};
  graph.outputs = {port("last", Type::F32, {2}), port("y", Type::F32, {2, 3})};
  graph.nodes = {node(
      "Scan", {"zero", "x"}, {"last", "y"},
      {graph_attribute("body", body.message()), attribute("num_scan_inputs", 1),
       attribute("scan_input_axes", Sizes{1}), attribute("scan_input_directions", Sizes{1}),
       attribute("scan_output_axes", Sizes{1}), attribute("scan_output_directions", Sizes{1})})};
  const Model model = load(graph);
  for (int call = 0; call < 3; ++call) {
    const auto values = model({{"x", Tensor({{1.F, 2.F, 3.F}, {4.F, 5.F, 6.F}})}});
    EXPECT_EQ(values.at("y").tensor().to_vector<float>(), (Floats{6, 5, 3, 15, 11, 6}));
    EXPECT_EQ(values.at("last").tensor().to_vector<float>(), (Floats{6, 15}));
  }
}

}  // namespace
}  // namespace weft
