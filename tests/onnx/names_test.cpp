// What kernels and errors of a model are called: by its nodes, and by its file.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <unistd.h>
#include <weft/weft.h>

#include "../support/errors.h"
#include "onnx_file.h"

namespace weft {
namespace {

namespace fs = std::filesystem;
using namespace onnx_file;  // NOLINT: what it writes reads as it is
using onnx::LoadOptions;
using onnx::Model;
using onnx::NamedValues;
using onnx::Type;

using Floats = std::vector<float>;
using Lines = std::vector<std::string>;

// As node() makes it, but of another name, or of none.
Message named(std::string_view name, std::string_view op, const Names& inputs, const Names& outputs,
              const std::vector<Message>& attributes = {}, std::string_view domain = {}) {
  Message result;
  for (const std::string_view each : inputs) result.text(1, each);
  for (const std::string_view each : outputs) result.text(2, each);
  result.text(4, op);
  if (!name.empty()) result.text(3, name);
  for (const Message& each : attributes) result.message(5, each);
  return domain.empty() ? result : result.text(7, domain);
}

Graph graph_of(std::vector<Message> nodes, const Sizes& x, const Sizes& y) {
  Graph graph;
  graph.nodes = std::move(nodes);
  graph.inputs = {port("x", Type::F32, x)};
  graph.outputs = {port("y", Type::F32, y)};
  return graph;
}

// --- Kernels ----------------------------------------------------------------------------------------------

// The last column of DEBUG=2, of each kernel of a call that runs by its graph.
template <class Run>
Lines nodes_of_run(Run&& run) {
  testing::internal::CaptureStderr();
  {
    const Context loud{{"DEBUG", 2}, {"JIT", 0}};
    run();
  }
  Lines lines;
  std::istringstream text(testing::internal::GetCapturedStderr());
  for (std::string line; std::getline(text, line);)
    if (const auto rate = line.find(" GB/s"); rate != line.npos)
      lines.push_back(line.size() == rate + 5 ? "" : line.substr(rate + 7));
  return lines;
}

Lines nodes_of_call(const Model& model, const NamedValues& inputs) {
  return nodes_of_run([&] { model(inputs); });
}

// One kernel of three nodes, under the names of a prefix.
Model layer(const std::string& prefix) {
  const std::string names[] = {prefix + "product", prefix + "sum", prefix + "rectified"};
  Graph graph =
      graph_of({named(names[0], "MatMul", {"x", "w"}, {"a"}),
                named(names[1], "Add", {"a", "b"}, {"c"}), named(names[2], "Relu", {"c"}, {"y"})},
               {32, 64}, {32, 48});
  graph.initialisers = {tensor("w", {64, 48}, Floats(64 * 48, 0.5F)),
                        tensor("b", {48}, Floats(48, 0.25F))};
  return load(graph);
}

TEST(OnnxNames, KernelsAreOfNodes) {
  const Model model = layer("");
  const Tensor x = Tensor::ones({32, 64}).contiguous().realize();
  EXPECT_EQ(nodes_of_call(model, {{"x", x}}), Lines{"product ... rectified"});
}

// A plan and its kernels are found by structure: what they are called is the model's that runs.
TEST(OnnxNames, APlanOfOneModelRunsAnother) {
  const Model one = layer("one/"), other = layer("other/");
  const Tensor x = Tensor::ones({32, 64}).contiguous().realize();
  const auto names = [](const std::string& prefix) {
    return Lines{prefix + "product ... " + prefix + "rectified"};
  };
  EXPECT_EQ(nodes_of_call(one, {{"x", x}}), names("one/"));
  EXPECT_EQ(nodes_of_call(other, {{"x", x}}), names("other/"));
  EXPECT_EQ(nodes_of_call(one, {{"x", x}}), names("one/"));
}

TEST(OnnxNames, OfACallThatWasQuietBefore) {
  const Model model = layer("");
  const Tensor x = Tensor::ones({32, 64}).contiguous().realize();
  for (int i = 0; i < 3; ++i) model({{"x", x}});
  EXPECT_EQ(nodes_of_call(model, {{"x", x}}), Lines{"product ... rectified"});
  EXPECT_EQ(nodes_of_run([&] {
              const Context quiet{{"DEBUG", 1}};
              model({{"x", x}});
            }),
            Lines{});
}

TEST(OnnxNames, NodesWithoutANameAreOfTheirOutput) {
  const Model model = load(graph_of(
      {named("", "Softmax", {"x"}, {"a"}), named("", "Exp", {"a"}, {"y"})}, {4, 64}, {4, 64}));
  const Lines lines = nodes_of_call(model, {{"x", Tensor::ones({4, 64}).contiguous().realize()}});
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.back(), "a (Softmax) ... y (Exp)");
}

TEST(OnnxNames, OfFunctions) {
  Message function;
  function.text(1, "Scaled").text(4, "v").text(5, "w").text(10, "own").message(9, opset(18));
  function.message(7, named("summed", "ReduceSum", {"v"}, {"s"}))
      .message(7, named("squared", "Mul", {"s", "s"}, {"w"}));
  const Graph graph = graph_of({named("block", "Scaled", {"x"}, {"y"}, {}, "own")}, {4, 4}, {1, 1});
  const std::string bytes = Message()
                                .integer(1, 8)
                                .message(8, opset(18))
                                .message(8, opset(1, "own"))
                                .message(7, graph.message())
                                .message(25, function)
                                .bytes();
  const Model model = Model::parse(bytes_of(bytes));
  const Tensor x = Tensor::ones({4, 4}).contiguous().realize();
  const Lines lines = nodes_of_call(model, {{"x", x}});
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.back().substr(0, 6), "block/");
  EXPECT_NE(lines.back().find("block/squared"), std::string::npos) << lines.back();
}

// What a rule puts in the place of nodes is of the one that it was made for.
TEST(OnnxNames, OfNodesThatWereRewritten) {
  Graph graph = graph_of(
      {named("conv", "Conv", {"x", "w"}, {"c"}),
       named("norm", "BatchNormalization", {"c", "scale", "shift", "mean", "variance"}, {"y"})},
      {1, 3, 8, 8}, {1, 2, 8, 8});
  graph.initialisers = {tensor("w", {2, 3, 1, 1}, Floats(6, 2)), tensor("scale", {2}, Floats{1, 2}),
                        tensor("shift", {2}, Floats{1, 2}), tensor("mean", {2}, Floats{0, 1}),
                        tensor("variance", {2}, Floats{4, 9})};
  const Tensor x = Tensor::ones({1, 3, 8, 8}).contiguous().realize();
  for (const auto precision : {onnx::Precision::F32, onnx::Precision::BF16, onnx::Precision::I8}) {
    const Model model = load(graph, 18, {.precision = precision});
    const Lines lines = nodes_of_call(model, {{"x", x}});
    ASSERT_FALSE(lines.empty());
    for (const std::string& line : lines)
      EXPECT_TRUE(line == "conv" || line == "norm" || line == "conv ... norm")
          << line << " in " << name_of(precision);
    EXPECT_TRUE(lines.back().ends_with("norm")) << lines.back();
  }
}

// --- Errors -----------------------------------------------------------------------------------------------

class OnnxErrors : public testing::Test {
 protected:
  OnnxErrors() : folder(fs::temp_directory_path() / ("weft_names_" + std::to_string(::getpid()))) {
    fs::create_directories(folder);
  }
  ~OnnxErrors() override { fs::remove_all(folder); }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder / name, std::ios::binary) << bytes;
    return (folder / name).string();
  }
  const fs::path folder;
};

// x + b, which have the same shape where `size` is 2.
std::string sum(std::int64_t size) {
  Graph graph = graph_of({named("sum", "Add", {"x", "b"}, {"y"})}, {2}, {2});
  graph.initialisers = {tensor("b", {size}, Floats(static_cast<std::size_t>(size), 1))};
  return model(graph);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

void expect_file_once(const std::string& why, const std::string& file, const std::string& words) {
  EXPECT_TRUE(why.starts_with("'" + file + "': ")) << why;
  EXPECT_EQ(count(why, file), 1U) << why;
  EXPECT_NE(why.find(words), std::string::npos) << why;
}

TEST_F(OnnxErrors, NameTheFileOfANode) {
  const std::string good = write("good.onnx", sum(2)), bad = write("bad.onnx", sum(3));
  const Model models[] = {Model::load(good), Model::load(bad)};
  const NamedValues inputs{{"x", Tensor({1.F, 2.F})}};
  EXPECT_EQ(error_of([&] { return models[0](inputs); }), "no error");
  expect_file_once(error_of([&] { return models[1](inputs); }), bad, "': node 'sum' (Add): ");
  expect_file_once(error_of([&] { return models[1].cost(inputs); }), bad, "': node 'sum' (Add): ");
}

TEST_F(OnnxErrors, NameTheFileAsItIsGiven) {
  const std::string path = write("cut.onnx", sum(2).substr(0, 40));
  expect_file_once(error_of([&] { return Model::load(path); }), path, "cut short");
  const fs::path before = fs::current_path();
  fs::current_path(folder);
  const std::string why = error_of([&] { return Model::load("cut.onnx"); });
  fs::current_path(before);
  EXPECT_TRUE(why.starts_with("'cut.onnx': ")) << why;
}

TEST_F(OnnxErrors, NameTheFileOfInputsLayersAndGraphs) {
  const std::string path = write("sum.onnx", sum(2));
  const Model model = Model::load(path);
  expect_file_once(error_of([&] { return model({}); }), path, "': input 'x': it is not given");
  expect_file_once(
      error_of([&] { return model({{"x", Tensor({1.F, 2.F})}, {"z", Tensor({1.F})}}); }), path,
      "there is no input 'z'");
  const LoadOptions shapes{.shapes = {{"z", {2}}}};
  expect_file_once(error_of([&] { return Model::load(path, shapes); }), path, "no input 'z'");
  const LoadOptions layers{.layer_precisions = {{"none", onnx::Precision::BF16}}};
  expect_file_once(error_of([&] { return Model::load(path, layers); }), path, "no layer 'none'");
  const std::string unknown =
      write("unknown.onnx", onnx_file::model(graph_of({node("No", {"x"}, {"y"})}, {2}, {2})));
  expect_file_once(error_of([&] { return Model::load(unknown)({{"x", Tensor({1.F, 2.F})}}); }),
                   unknown, "not supported: No of opset 18");
  const std::string twice = write(
      "twice.onnx",
      onnx_file::model(graph_of({node("Exp", {"x"}, {"y"}), node("Log", {"x"}, {"y"})}, {2}, {2})));
  expect_file_once(error_of([&] { return Model::load(twice); }), twice, "there is another 'y'");
}

// Of an error within a node that says the file by itself.
TEST_F(OnnxErrors, NameTheFileOnceWhereAnAttributeIsWrong) {
  const Message value =
      Message().text(1, "value").message(5, tensor("c", {2}, Floats{1, 2, 3})).integer(20, 4);
  const std::string path = write(
      "constant.onnx", onnx_file::model(graph_of({named("two", "Constant", {}, {"c"}, {value}),
                                                  node("Add", {"x", "c"}, {"y"})},
                                                 {2}, {2})));
  expect_file_once(error_of([&] { return Model::load(path)({{"x", Tensor({1.F, 2.F})}}); }), path,
                   "': node 'two' (Constant): tensor 'c'");
}

TEST_F(OnnxErrors, NodesWithoutANameAreOfTheirOutput) {
  Graph graph = graph_of({named("", "Add", {"x", "b"}, {"y"})}, {2}, {2});
  graph.initialisers = {tensor("b", {3}, Floats{1, 2, 3})};
  const std::string why = error_of([&] { return load(graph)({{"x", Tensor({1.F, 2.F})}}); });
  EXPECT_NE(why.find("node 'y' (Add): "), std::string::npos) << why;
}

TEST_F(OnnxErrors, OfModelsInMemorySaySo) {
  const auto why = [](const LoadOptions& options) {
    const Model model = Model::parse(bytes_of(sum(3)), options);
    return error_of([&] { return model({{"x", Tensor({1.F, 2.F})}}); });
  };
  expect_file_once(why({}), "a model in memory", "': node 'sum' (Add): ");
  expect_file_once(why({.name = "the sum"}), "the sum", "': node 'sum' (Add): ");
}

TEST_F(OnnxErrors, OfComparisonsNameTheFile) {
  const std::string path = write("bad.onnx", sum(3));
  const NamedValues inputs{{"x", Tensor({1.F, 2.F})}};
  expect_file_once(error_of([&] { return onnx::compare(path, inputs, {}); }), path,
                   "': node 'sum' (Add): ");
}

}  // namespace
}  // namespace weft
