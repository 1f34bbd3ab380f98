// ai.onnx.ml where golden files hold no answer: maps, and what is refused.
#include <gtest/gtest.h>
#include <weft/weft.h>

#include "../support/errors.h"
#include "onnx_file.h"

namespace weft {
namespace {

using namespace onnx_file;  // NOLINT: what it writes reads as it is
using onnx::Map;
using onnx::Model;
using onnx::NamedValues;
using onnx::Sequence;
using onnx::Text;
using onnx::Type;
using onnx::Value;

using Floats = std::vector<float>;
using Strings = std::vector<std::string>;

constexpr std::string_view domain = "ai.onnx.ml";

// A map from keys of that type to such elements.
Message map_port(std::string_view name, Type key, Type value) {
  const Message element =
      Message().message(1, Message().integer(1, static_cast<std::int64_t>(value)));
  const Message map = Message().integer(1, static_cast<std::int64_t>(key)).message(2, element);
  return Message().text(1, name).message(2, Message().message(5, map));
}

Model model_of(const Message& input, const Message& one, const Message& output) {
  Graph graph;
  graph.nodes = {one};
  graph.inputs = {input};
  graph.outputs = {output};
  const Message all = Message()
                          .integer(1, 8)
                          .message(8, opset(18))
                          .message(8, opset(3, domain))
                          .message(7, graph.message());
  return Model::parse(bytes_of(all.bytes()));
}

Value run(const Model& model, const Value& x) { return model({{"x", x}}).at("y"); }

TEST(OnnxLearning, ZipMapNamesColumns) {
  const Message keys = attribute("classlabels_strings", Strings{"b", "a"});
  const Model model =
      model_of(port("x", Type::F32, {2, 2}), node("ZipMap", {"x"}, {"y"}, {keys}, domain),
               Message().text(1, "y"));
  for (const float more : {0.F, 10.F}) {
    const Value rows = run(model, Tensor({{1.F + more, 2.F}, {3.F, 4.F}}));
    ASSERT_EQ(rows.sequence().size(), 2U);
    EXPECT_EQ(rows.sequence()[0].map().at("b").tensor().item<float>(), 1 + more);
    EXPECT_EQ(rows.sequence()[1].map().at("a").tensor().item<float>(), 4);
  }
}

TEST(OnnxLearning, CastMapOrdersByKeys) {
  const Map map = {{7, Tensor({2.5F})}, {1, Tensor({4.F})}};
  const auto cast = [&](const std::vector<Message>& attributes, Type type) {
    return run(model_of(map_port("x", Type::I64, Type::F32),
                        node("CastMap", {"x"}, {"y"}, attributes, domain), port("y", type, {})),
               map);
  };
  EXPECT_EQ(cast({}, Type::F32).tensor().to_vector<float>(), (Floats{4, 2.5F}));
  EXPECT_EQ(cast({attribute("map_form", "SPARSE"), attribute("max_map", 9)}, Type::F32)
                .tensor()
                .to_vector<float>(),
            (Floats{0, 4, 0, 0, 0, 0, 0, 2.5F, 0}));
  EXPECT_EQ(cast({attribute("cast_to", "TO_STRING")}, Type::String).text().values,
            (Strings{"4", "2.5"}));
  EXPECT_NE(error_of([&] {
              cast({attribute("map_form", "SPARSE"), attribute("max_map", 7)}, Type::F32);
            }).find("a key is not from 0 to 6"),
            std::string::npos);
}

TEST(OnnxLearning, DictVectorizerPutsZerosWhereNothingIs) {
  const Model model =
      model_of(map_port("x", Type::String, Type::I64),
               node("DictVectorizer", {"x"}, {"y"},
                    {attribute("string_vocabulary", Strings{"a", "c", "b", "z"})}, domain),
               port("y", Type::I64, {}));
  const Map map = {{"a", Tensor(std::vector<std::int64_t>{4})},
                   {"c", Tensor(std::vector<std::int64_t>{8})}};
  const Tensor y = run(model, map).tensor();
  EXPECT_EQ(y.shape(), (Sizes{1, 4}));
  EXPECT_EQ(y.to_vector<std::int64_t>(), (Sizes{4, 8, 0, 0}));
}

std::string why_no_forest(const Sizes& yes, const Sizes& no, const Sizes& features) {
  const std::vector<Message> attributes = {
      attribute("n_targets", 1),
      attribute("nodes_treeids", Sizes{0, 0, 0}),
      attribute("nodes_nodeids", Sizes{0, 1, 2}),
      attribute("nodes_featureids", features),
      attribute("nodes_truenodeids", yes),
      attribute("nodes_falsenodeids", no),
      attribute("nodes_modes", Strings{"BRANCH_LEQ", "BRANCH_LEQ", "LEAF"}),
      attribute("nodes_values", Floats{0, 1, 0}),
      attribute("target_treeids", Sizes{0}),
      attribute("target_nodeids", Sizes{2}),
      attribute("target_ids", Sizes{0}),
      attribute("target_weights", Floats{1})};
  return error_of([&] {
    const Model model = model_of(port("x", Type::F32, {1, 2}),
                                 node("TreeEnsembleRegressor", {"x"}, {"y"}, attributes, domain),
                                 port("y", Type::F32, {}));
    run(model, Tensor({{0.F, 0.F}}));
  });
}

TEST(OnnxLearning, TreesThatAreNoneAreRefused) {
  EXPECT_EQ(why_no_forest({1, 2, 0}, {2, 2, 0}, {0, 1, 0}), "no error");
  EXPECT_NE(why_no_forest({1, 0, 0}, {2, 2, 0}, {0, 1, 0}).find("lead to the same node"),
            std::string::npos);
  EXPECT_NE(why_no_forest({1, 5, 0}, {2, 2, 0}, {0, 1, 0}).find("no node 5 in tree 0"),
            std::string::npos);
  EXPECT_NE(why_no_forest({1, 2, 0}, {2, 2, 0}, {0, 2, 0}).find("feature 2 of 2"),
            std::string::npos);
}

}  // namespace
}  // namespace weft
