// How graphs run: order, constants, sizes, calls that are captured, functions.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <weft/settings.h>
#include <weft/weft.h>

#include "../support/errors.h"
#include "../support/threads.h"
#include "onnx_file.h"

namespace weft {
namespace {

using namespace onnx_file;  // NOLINT: what it writes reads as it is
using onnx::LoadOptions;
using onnx::Model;
using onnx::NamedValues;
using onnx::Type;

using Floats = std::vector<float>;

Graph graph_of(std::vector<Message> nodes, const Sizes& x, const Sizes& y) {
  Graph graph;
  graph.nodes = std::move(nodes);
  graph.inputs = {port("x", Type::F32, x)};
  graph.outputs = {port("y", Type::F32, y)};
  return graph;
}

Tensor run(const Model& model, const Tensor& x) { return model({{"x", x}}).at("y").tensor(); }

TEST(OnnxRun, NodesInAnyOrder) {
  const Graph graph =
      graph_of({node("Add", {"a", "x"}, {"y"}), node("Mul", {"x", "x"}, {"a"})}, {2}, {2});
  EXPECT_EQ(run(load(graph), Tensor({2.F, 3.F})).to_vector<float>(), (Floats{6, 12}));
}

TEST(OnnxRun, WrongGraphsAreRefused) {
  const auto why = [](std::vector<Message> nodes) {
    return error_of([&] { run(load(graph_of(std::move(nodes), {2}, {2})), Tensor({2.F, 3.F})); });
  };
  EXPECT_NE(why({node("Add", {"b", "x"}, {"a"}), node("Add", {"a", "x"}, {"b"}),
                 node("Add", {"a", "b"}, {"y"})})
                .find("needs its own output"),
            std::string::npos);
  EXPECT_NE(why({node("Add", {"x", "x"}, {"y"}), node("Mul", {"x", "x"}, {"y"})})
                .find("there is another 'y'"),
            std::string::npos);
  EXPECT_NE(why({node("Add", {"x", "nothing"}, {"y"})}).find("'nothing'"), std::string::npos);
  const std::string missing =
      why({node("NoSuch", {"x"}, {"a"}), node("Other", {"a"}, {"y"}, {}, "d")});
  EXPECT_NE(missing.find("NoSuch of opset 18"), std::string::npos) << missing;
  EXPECT_NE(missing.find("d.Other of opset 1"), std::string::npos) << missing;
}

TEST(OnnxRun, ErrorsNameTheNode) {
  const Graph graph = graph_of({node("Add", {"x", "b"}, {"y"})}, {2}, {2});
  Graph with_b = graph;
  with_b.initialisers = {tensor("b", {3}, Floats{1, 2, 3})};
  const std::string why = error_of([&] { run(load(with_b), Tensor({2.F, 3.F})); });
  EXPECT_NE(why.find("node 'Add' (Add)"), std::string::npos) << why;
}

TEST(OnnxRun, InputsAreChecked) {
  const Model model = load(graph_of({node("Add", {"x", "x"}, {"y"})}, {2, -1}, {2, -1}));
  const auto why = [&](const NamedValues& inputs) { return error_of([&] { model(inputs); }); };
  EXPECT_NE(why({}).find("input 'x': it is not given"), std::string::npos);
  EXPECT_NE(why({{"x", Tensor::zeros({2, 3})}, {"z", Tensor::zeros({1})}}).find("no input 'z'"),
            std::string::npos);
  EXPECT_NE(why({{"x", Tensor::zeros({2, 3}, {.dtype = dtypes::i32})}}).find("int32"),
            std::string::npos);
  EXPECT_NE(why({{"x", Tensor::zeros({3, 3})}}).find("its shape is (3, 3) where (2, N)"),
            std::string::npos);
  EXPECT_EQ(why({{"x", Tensor::zeros({2, 3})}}), "no error");
}

TEST(OnnxRun, ShapesAndDimensionsCanBeGiven) {
  const Graph graph = graph_of({node("Add", {"x", "x"}, {"y"})}, {2, -1}, {2, -1});
  const Model wider = load(graph, 18, {.shapes = {{"x", {3, 3}}}});
  EXPECT_EQ(run(wider, Tensor::ones({3, 3})).numel(), 9);
  const Model fixed = load(graph, 18, {.dimensions = {{"N", 4}}});
  EXPECT_THROW(run(fixed, Tensor::ones({2, 3})), Error);
  EXPECT_EQ(run(fixed, Tensor::ones({2, 4})).numel(), 8);
}

// A reshape to sizes that are computed from the shape of the input.
TEST(OnnxRun, SizesAreKnownWithoutKernels) {
  Graph graph = graph_of({node("Shape", {"x"}, {"s"}), node("Gather", {"s", "one"}, {"n"}),
                          node("Mul", {"n", "two"}, {"m"}), node("Unsqueeze", {"m", "axis"}, {"l"}),
                          node("Concat", {"l", "rest"}, {"t"}, {attribute("axis", 0)}),
                          node("Reshape", {"x", "t"}, {"y"})},
                         {-1, -1}, {-1, -1});
  graph.initialisers = {tensor("one", Sizes{}, Sizes{1}), tensor("two", Sizes{}, Sizes{2}),
                        tensor("axis", Sizes{1}, Sizes{0}), tensor("rest", Sizes{1}, Sizes{-1})};
  const Model model = load(graph);
  const Tensor x = Tensor::arange(12).cast(dtypes::f32).reshape({4, 3}).realize();
  for (int i = 0; i < 4; ++i) {
    const Tensor y = run(model, x);
    EXPECT_EQ(y.shape(), (Sizes{6, 2}));
    EXPECT_EQ(y.to_vector<float>(), x.to_vector<float>());
  }
  EXPECT_EQ(run(model, Tensor::zeros({4, 5})).shape(), (Sizes{10, 2}));
}

TEST(OnnxRun, PartsOfSizesBeginInside) {
  Graph graph = graph_of(
      {node("Shape", {"x"}, {"s"}), node("Slice", {"s", "before", "far", "axis", "back"}, {"n"}),
       node("ConstantOfShape", {"n"}, {"y"})},
      {-1, -1}, {-1});
  graph.initialisers = {tensor("before", Sizes{1}, Sizes{-9}), tensor("far", Sizes{1}, Sizes{-99}),
                        tensor("axis", Sizes{1}, Sizes{0}), tensor("back", Sizes{1}, Sizes{-1})};
  EXPECT_EQ(run(load(graph), Tensor::zeros({4, 3})).shape(), (Sizes{4}));
}

// As floats, which have a zero of either sign.
TEST(OnnxRun, ZerosThatAreKnownKeepTheirSign) {
  const Message to_float = attribute("to", std::int64_t(Type::F32));
  Graph graph =
      graph_of({node("Size", {"x"}, {"n"}), node("Cast", {"n"}, {"f"}, {to_float}),
                node("Cast", {"minus"}, {"m"}, {to_float}), node("Neg", {"f"}, {"a"}),
                node("Mul", {"f", "m"}, {"b"}), node("Sub", {"f", "f"}, {"c"}),
                node("Unsqueeze", {"f", "axis"}, {"l"}), node("Unsqueeze", {"m", "axis"}, {"k"}),
                node("Concat", {"l", "k"}, {"lk"}, {attribute("axis", 0)}),
                node("ReduceProd", {"lk"}, {"d"}, {attribute("keepdims", 0)}),
                node("Unsqueeze", {"a", "axis"}, {"a1"}), node("Unsqueeze", {"b", "axis"}, {"b1"}),
                node("Unsqueeze", {"c", "axis"}, {"c1"}), node("Unsqueeze", {"d", "axis"}, {"d1"}),
                node("Concat", {"a1", "b1", "c1", "d1"}, {"z"}, {attribute("axis", 0)}),
                node("Reciprocal", {"z"}, {"y"})},
               {-1}, {4});
  graph.initialisers = {tensor("minus", Sizes{}, Sizes{-5}), tensor("axis", Sizes{1}, Sizes{0})};
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(run(load(graph), Tensor::zeros({0})).to_vector<float>(),
            (Floats{-inf, -inf, inf, -inf}));
}

TEST(OnnxRun, SymbolicSizesGoThrough) {
  Graph graph = graph_of({node("Shape", {"x"}, {"s"}), node("ConstantOfShape", {"s"}, {"z"}),
                          node("Add", {"z", "x"}, {"y"})},
                         {-1, -1}, {-1, -1});
  const Model model = load(graph);
  const UOp n = Variable("n", 1, 8).bind(3);
  const Tensor x = Tensor::arange(24).cast(dtypes::f32).reshape({8, 3}).shrink({{0, n}, {0, 3}});
  const Tensor y = run(model, x);
  EXPECT_TRUE(y.dims()[0].is_symbolic());
  EXPECT_EQ(y.sum().item<float>(), 36.F);
}

TEST(OnnxRun, LaterCallsSeeTheirOwnInputs) {
  Graph graph =
      graph_of({node("MatMul", {"x", "w"}, {"a"}), node("Relu", {"a"}, {"y"})}, {-1, 2}, {-1, 2});
  graph.initialisers = {tensor("w", {2, 2}, Floats{1, -1, 0, 1})};
  const Model model = load(graph);
  for (int call = 0; call < 5; ++call) {
    const auto c = static_cast<float>(call);
    EXPECT_EQ(run(model, Tensor({c, 1.F}).reshape({1, 2})).to_vector<float>(),
              (Floats{c, std::max(0.F, 1 - c)}));
    EXPECT_EQ(run(model, Tensor({{c, 1.F}, {-1.F, c}})).shape(), (Sizes{2, 2}));
  }
}

// Rows of ones and of twos, of several lengths, by a matrix of ones: calls that meet, of one form and of others.
TEST(OnnxRun, SeveralThreadsCallOneModel) {
  Graph graph = graph_of({node("MatMul", {"x", "w"}, {"a"}), node("MatMul", {"a", "w"}, {"b"}),
                          node("Add", {"b", "x"}, {"y"})},
                         {-1, 48}, {-1, 48});
  graph.initialisers = {tensor("w", {48, 48}, Floats(48 * 48, 1))};
  const Model model = load(graph);
  in_threads(4, [&](int thread) {
    const Context context{{"WEFT_THREADS", 1}};
    const float value = static_cast<float>(thread % 2 + 1);
    const Tensor x = Tensor::full({thread / 2 + 64, 48}, value).contiguous().realize();
    for (int round = 0; round < 60; ++round)
      for (const float found : run(model, x).to_vector<float>())
        ASSERT_EQ(found, value * (48 * 48 + 1)) << "thread " << thread << ", round " << round;
  });
}

// What the model has captured for itself is part of what is captured around it.
TEST(OnnxRun, FunctionsCaptureTheCallsOfAModel) {
  const Model model = load(graph_of({node("Mul", {"x", "x"}, {"y"})}, {2}, {2}));
  const auto given = [](int call) { return Tensor({static_cast<float>(call), 1.F}).realize(); };
  for (int call = 0; call < 3; ++call) run(model, given(call)).realize();
  auto twice = jit([&](const Tensor& x) { return run(model, x) * 2; });
  for (int call = 0; call < 5; ++call)
    EXPECT_EQ(twice(given(call)).to_vector<float>(),
              (Floats{2.F * static_cast<float>(call * call), 2}));
}

// How long the output is depends on values: no call can be replayed.
TEST(OnnxRun, ShapesThatDependOnValues) {
  Graph graph = graph_of({node("NonZero", {"x"}, {"places"}), node("Shape", {"places"}, {"s"}),
                          node("Cast", {"s"}, {"y"}, {attribute("to", 1)})},
                         {4}, {2});
  const Model model = load(graph);
  for (int call = 0; call < 4; ++call) {
    Floats x(4, 0.F);
    for (int i = 0; i <= call; ++i) x[static_cast<std::size_t>(i)] = 1;
    EXPECT_EQ(run(model, Tensor(x)).to_vector<float>(), (Floats{1, float(call + 1)}));
  }
}

Message triple() {  // f(a) = a + a + a
  return Message()
      .text(1, "Triple")
      .text(4, "a")
      .text(5, "b")
      .text(10, "mine")
      .message(7, node("Add", {"a", "a"}, {"t"}))
      .message(7, node("Add", {"t", "a"}, {"b"}))
      .message(9, opset(18));
}

// Masks as exports make them, of places and of an infinity that the file holds: nothing of them is memory.
TEST(OnnxRun, MasksByPlacesAreComputedWhereTheyAreUsed) {
  constexpr std::int64_t n = 80;  // more than small integers, which are known one by one
  const auto scalar = [](std::string_view name, std::int64_t value) {
    return tensor(name, Sizes{}, std::vector<std::int64_t>{value});
  };
  Graph by_range = graph_of(
      {node("Range", {"zero", "n", "one"}, {"key"}), node("Unsqueeze", {"key", "last"}, {"row"}),
       node("LessOrEqual", {"key", "row"}, {"seen"}), node("Where", {"seen", "x", "none"}, {"s"}),
       node("Softmax", {"s"}, {"y"}, {attribute("axis", std::int64_t{-1})})},
      {3, n, n}, {3, n, n});
  by_range.initialisers = {scalar("zero", 0), scalar("n", n), scalar("one", 1),
                           tensor("last", {1}, std::vector<std::int64_t>{-1}),
                           tensor("none", Sizes{}, Floats{-HUGE_VALF})};
  const Message value = Message().text(1, "value").message(5, tensor("", {1}, Floats{-HUGE_VALF}));
  Graph by_trilu =
      graph_of({node("ConstantOfShape", {"shape"}, {"all"}, {Message(value).integer(20, 4)}),
                node("Trilu", {"all", "one"}, {"mask"}, {attribute("upper", std::int64_t{1})}),
                node("Add", {"x", "mask"}, {"s"}),
                node("Softmax", {"s"}, {"y"}, {attribute("axis", std::int64_t{-1})})},
               {3, n, n}, {3, n, n});
  by_trilu.initialisers = {tensor("shape", {2}, std::vector<std::int64_t>{n, n}), scalar("one", 1)};
  const Tensor x = Tensor::randn({3, n, n}).realize();
  const auto given = x.to_vector<float>();
  for (const Graph& graph : {by_range, by_trilu}) {
    const Model model = load(graph);
    const auto kernels = model.cost({{"x", x}}).kernels;
    ASSERT_EQ(kernels.size(), 1U);
    EXPECT_EQ(kernels[0].buffers.size(), 2U) << kernels[0].str();  // x and y
    const Floats y = run(model, x).to_vector<float>();
    for (std::size_t row = 0; row < 3 * n; ++row) {
      const std::size_t seen = row % n + 1;
      double sum = 0;
      for (std::size_t key = 0; key < seen; ++key) sum += std::exp(double(given[row * n + key]));
      for (std::size_t key = 0; key < n; ++key)
        ASSERT_NEAR(y[row * n + key],
                    key < seen ? std::exp(double(given[row * n + key])) / sum : 0.0, 1e-5);
    }
  }
}

TEST(OnnxRun, FunctionsOfTheModel) {
  const Graph graph =
      graph_of({node("Triple", {"x"}, {"t"}, {}, "mine"), node("Triple", {"t"}, {"y"}, {}, "mine")},
               {2}, {2});
  const std::string bytes = model(graph, 18, {triple()});
  const Model tripled = Model::parse(bytes_of(bytes));
  EXPECT_EQ(run(tripled, Tensor({1.F, 2.F})).to_vector<float>(), (Floats{9, 18}));
  ASSERT_EQ(tripled.ops().size(), 1U);
  EXPECT_EQ(tripled.ops()[0].name, "Add");
}

TEST(OnnxRun, FunctionsThatCallThemselves) {
  const Message own = Message()
                          .text(1, "Own")
                          .text(4, "a")
                          .text(5, "b")
                          .text(10, "mine")
                          .message(7, node("Own", {"a"}, {"b"}, {}, "mine"));
  const std::string bytes =
      model(graph_of({node("Own", {"x"}, {"y"}, {}, "mine")}, {2}, {2}), 18, {own});
  EXPECT_THROW(Model::parse(bytes_of(bytes)), Error);
}

}  // namespace
}  // namespace weft
