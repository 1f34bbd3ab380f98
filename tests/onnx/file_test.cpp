// Files that are whole, and files that are not.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>
#include <weft/dev/onnx/load_value.h>
#include <weft/weft.h>

#include "../support/errors.h"
#include "onnx_file.h"

namespace weft {
namespace {

namespace fs = std::filesystem;
using namespace onnx_file;  // NOLINT: what it writes reads as it is
using onnx::Model;
using onnx::Type;
using onnx::Value;

#define EXPECT_REFUSED(expression, words)                                        \
  EXPECT_NE(error_of([&] { return expression; }).find(words), std::string::npos) \
      << error_of([&] { return expression; })

class OnnxFolder : public testing::Test {
 protected:
  OnnxFolder() : path(fs::temp_directory_path() / ("weft_onnx_" + std::to_string(::getpid()))) {
    fs::create_directories(path / "model");
  }
  ~OnnxFolder() override { fs::remove_all(path); }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path / name, std::ios::binary) << bytes;
    return (path / name).string();
  }
  const fs::path path;
};

// y = x + the initialiser "b".
Graph sum_graph(const Message& b) {
  Graph graph;
  graph.initialisers = {b};
  graph.inputs = {port("x", Type::F32, {2})};
  graph.outputs = {port("y", Type::F32, {2})};
  graph.nodes = {node("SequenceConstruct", {"x", "b"}, {"s"}),
                 node("ConcatFromSequence", {"s"}, {"y"}, {attribute("axis", 0)})};
  return graph;
}

std::vector<float> run(const Model& model) {
  return model({{"x", Tensor({1.F, 2.F})}}).at("y").tensor().to_vector<float>();
}

Message external(const std::string& location, const std::string& offset,
                 const std::string& length) {
  const auto entry = [](std::string_view key, std::string_view value) {
    return Message().text(1, key).text(2, value);
  };
  return tensor("b", Type::F32, {2})
      .message(13, entry("location", location))
      .message(13, entry("offset", offset))
      .message(13, entry("length", length))
      .integer(14, 1);
}

TEST(OnnxFile, CutAnywhereItIsRefusedOrRuns) {
  const std::string whole = model(sum_graph(tensor("b", {2}, std::vector<float>{3, 4})));
  EXPECT_EQ(run(Model::parse(bytes_of(whole))), (std::vector<float>{1, 2, 3, 4}));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string part = whole.substr(0, size);
    const std::string why = error_of([&] { run(Model::parse(bytes_of(part))); });
    EXPECT_EQ(why.find("internal error"), std::string::npos) << why;
  }
}

TEST(OnnxFile, FieldsOfTheWrongKind) {
  Message wrong = Message().text(1, "eight");  // ir_version
  EXPECT_REFUSED(Model::parse(bytes_of(wrong.bytes())), "field 1 of a ModelProto");
  EXPECT_REFUSED(Model::parse({}), "no ONNX model");
}

TEST(OnnxFile, GraphsNestedTooDeep) {
  Message inner = Graph().message();
  for (int i = 0; i < 100; ++i) {
    Graph graph;
    graph.nodes = {node("If", {}, {}, {graph_attribute("then_branch", inner)})};
    inner = graph.message();
  }
  const std::string bytes = Message().message(7, inner).bytes();
  EXPECT_REFUSED(Model::parse(bytes_of(bytes)), "nested");
}

TEST(OnnxFile, ElementsThatDoNotFit) {
  const std::vector<float> three{1, 2, 3};
  EXPECT_REFUSED(run(load(sum_graph(tensor("b", {2}, three)))), "12 bytes where it takes 8");
  EXPECT_REFUSED(run(load(sum_graph(tensor("b", {-2}, three)))), "no tensor of this shape");
  const std::int64_t huge = std::int64_t(1) << 62;
  EXPECT_REFUSED(run(load(sum_graph(tensor("b", {huge, huge}, three)))), "no tensor of this shape");
  EXPECT_REFUSED(run(load(sum_graph(tensor("b", {huge}, three)))), "tensor 'b'");
}

TEST(OnnxFile, TypedFields) {
  Message b = tensor("b", Type::F32, {2});
  b.real(4, 3).real(4, 4);
  EXPECT_EQ(run(load(sum_graph(b))), (std::vector<float>{1, 2, 3, 4}));
  const Message packed = tensor("b", Type::F32, {2}).raw(4, std::vector<float>{5, 6});
  EXPECT_EQ(run(load(sum_graph(packed))), (std::vector<float>{1, 2, 5, 6}));
}

// From the definitions of the types: bits, least first.
TEST_F(OnnxFolder, SmallTypes) {
  const auto values = [&](Type type, std::vector<std::uint8_t> bytes, std::int64_t count) {
    const Message file = tensor("t", type, {count}).raw(9, bytes);
    const Value value = onnx::load_value(write("t.pb", file.bytes()), {.kind = "tensor"});
    EXPECT_EQ(value.type(), type);
    onnx::save_value((path / "again.pb").string(), value, "t");
    const Value again = onnx::load_value((path / "again.pb").string(), {.kind = "tensor"});
    EXPECT_EQ(again.tensor().to_vector<double>(), value.tensor().to_vector<double>());
    return value.tensor().to_vector<double>();
  };
  using Reals = std::vector<double>;
  EXPECT_EQ(values(Type::U4, {0x21, 0x0F}, 3), (Reals{1, 2, 15}));
  EXPECT_EQ(values(Type::I4, {0x8F, 0x07}, 3), (Reals{-1, -8, 7}));
  EXPECT_EQ(values(Type::U2, {0xE4}, 4), (Reals{0, 1, 2, 3}));
  EXPECT_EQ(values(Type::I2, {0xE4}, 4), (Reals{0, 1, -2, -1}));
  EXPECT_EQ(values(Type::F4E2M1, {0x21, 0xF7}, 4), (Reals{0.5, 1, 6, -6}));
  EXPECT_EQ(values(Type::F6E2M3, {0x5F, 0x08, 0x80}, 4), (Reals{7.5, -0.125, 0, -0.0}));
  EXPECT_EQ(values(Type::F6E3M2, {0x1F}, 1), (Reals{28}));
}

TEST_F(OnnxFolder, ExternalData) {
  write("model/data.bin", std::string(4, '\0') + std::string("\0\0\x40\x40\0\0\x80\x40", 8));
  const auto load_with = [&](const Message& b) {
    return run(Model::load(write("model/m.onnx", model(sum_graph(b)))));
  };
  EXPECT_EQ(load_with(external("data.bin", "4", "8")), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_REFUSED(load_with(external("data.bin", "8", "8")), "which has 12");
  EXPECT_REFUSED(load_with(external("data.bin", "18446744073709551615", "8")), "which has 12");
  EXPECT_REFUSED(load_with(external("data.bin", "-4", "8")), "is no number");
  EXPECT_REFUSED(load_with(external("data.bin", "4", "4")), "where it takes 8");
  EXPECT_REFUSED(load_with(external("none.bin", "0", "8")), "No such file");
}

TEST_F(OnnxFolder, ExternalDataStayInTheFolder) {
  write("outside.bin", std::string(8, 'a'));
  write("model/inside.bin", std::string(8, 'a'));
  fs::create_symlink(path / "outside.bin", path / "model" / "link.bin");
  fs::create_directory_symlink(path, path / "model" / "up");
  const auto load_with = [&](const std::string& location) {
    return run(Model::load(write("model/m.onnx", model(sum_graph(external(location, "0", "8"))))));
  };
  EXPECT_EQ(load_with("./inside.bin").size(), 4U);
  for (const std::string& location :
       {std::string("../outside.bin"), std::string("link.bin"), std::string("up/outside.bin"),
        (path / "outside.bin").string(), std::string("../model/inside.bin")})
    EXPECT_REFUSED(load_with(location), "not within the folder");
  const std::string bytes = model(sum_graph(external("inside.bin", "0", "8")));
  EXPECT_REFUSED(run(Model::parse(bytes_of(bytes))), "no folder");
}

TEST_F(OnnxFolder, SavedItIsWhatTrainingMadeOfIt) {
  const Model before =
      load(sum_graph(tensor("b", {2}, std::vector<float>{3, 4})), 18, {.trainable = true});
  Tensor b = before.parameters().at("b");
  before({{"x", Tensor({1.F, 2.F})}}).at("y").tensor().square().sum().backward();
  EXPECT_EQ(b.grad().to_vector<float>(), (std::vector<float>{6, 8}));
  b.assign(Tensor({7.F, 8.F}));
  EXPECT_EQ(run(before), (std::vector<float>{1, 2, 7, 8}));
  before.save((path / "after.onnx").string());
  EXPECT_EQ(run(Model::load((path / "after.onnx").string())), (std::vector<float>{1, 2, 7, 8}));
}

}  // namespace
}  // namespace weft
