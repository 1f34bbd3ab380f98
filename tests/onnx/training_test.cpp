// ai.onnx.preview.training: gradients of what a graph computes.
#include <gtest/gtest.h>
#include <weft/weft.h>

#include "../support/errors.h"
#include "onnx_file.h"

namespace weft {
namespace {

using namespace onnx_file;  // NOLINT: what it writes reads as it is
using onnx::Model;
using onnx::NamedValues;
using onnx::Type;

using Floats = std::vector<float>;
using Strings = std::vector<std::string>;

constexpr std::string_view domain = "ai.onnx.preview.training";

// c = sum((a * a * b) + b), and what Gradient says of it with respect to these names.
Model model_of(const Names& inputs, const Strings& xs, const std::string& y) {
  Graph graph;
  graph.nodes = {
      node("Gradient", inputs, {"da", "db"}, {attribute("xs", xs), attribute("y", y)}, domain),
      node("Mul", {"a", "a"}, {"square"}), node("Mul", {"square", "b"}, {"product"}),
      node("Add", {"product", "b"}, {"sum"}), node("ReduceSum", {"sum"}, {"c"})};
  graph.inputs = {port("a", Type::F32, {2}), port("b", Type::F32, {2})};
  graph.outputs = {port("da", Type::F32, {2}), port("db", Type::F32, {2})};
  const Message all = Message()
                          .integer(1, 8)
                          .message(8, opset(18))
                          .message(8, opset(1, domain))
                          .message(7, graph.message());
  return Model::parse(bytes_of(all.bytes()));
}

TEST(OnnxTraining, GradientsOfTheGraph) {
  const Model model = model_of({"a", "b"}, {"a", "b"}, "c");
  for (const float more : {0.F, 1.F, 2.F}) {
    const NamedValues found = model({{"a", Tensor({2.F, 3.F + more})}, {"b", Tensor({5.F, 7.F})}});
    EXPECT_EQ(found.at("da").tensor().to_vector<float>(), (Floats{20, 2 * (3 + more) * 7}));
    EXPECT_EQ(found.at("db").tensor().to_vector<float>(), (Floats{5, (3 + more) * (3 + more) + 1}));
  }
}

TEST(OnnxTraining, GradientsOfNothingAreRefused) {
  const auto why = [](const Names& inputs, const Strings& xs, const std::string& y) {
    return error_of(
        [&] { model_of(inputs, xs, y)({{"a", Tensor({2.F, 3.F})}, {"b", Tensor({5.F, 7.F})}}); });
  };
  EXPECT_NE(why({"a", "b"}, {"a", "b"}, "nothing").find("'nothing'"), std::string::npos);
  EXPECT_NE(why({"a", "b"}, {"b", "a"}, "c").find("another tensor"), std::string::npos);
}

}  // namespace
}  // namespace weft
