// Models that are written node by node.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <unistd.h>
#include <weft/weft.h>

#include "../support/errors.h"

namespace weft::onnx {
namespace {

namespace fs = std::filesystem;
using Ints = std::vector<std::int64_t>;
using Reals = std::vector<double>;

#define EXPECT_REFUSED(expression, words)                                        \
  EXPECT_NE(error_of([&] { return expression; }).find(words), std::string::npos) \
      << error_of([&] { return expression; })

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class OnnxWriter : public testing::Test {
 protected:
  OnnxWriter() : folder(fs::temp_directory_path() / ("weft_writer_" + std::to_string(::getpid()))) {
    fs::create_directories(folder);
  }
  ~OnnxWriter() override { fs::remove_all(folder); }
  std::string path(const std::string& name) const { return (folder / name).string(); }
  const fs::path folder;
};

// --- As other software writes it ------------------------------------------------------------------------

TEST_F(OnnxWriter, WritesTheBytesThatTheStandardsOwnSoftwareDoes) {
  const Value small = Tensor({-1, 0, 127}).cast(dtypes::i8);
  const Value text = Text{{2}, {"one", ""}};
  Writer net("written", 22);
  net.use("test.weft", 3);
  net.metadata("author", "nobody");
  const std::string x = net.input("x", Type::F32, {"batch", 1, 2});
  net.input("unnamed", Type::BF16, {"", 2});
  const std::string w = net.constant("w", Tensor({{1.F, -2.5F}, {0.1F, 3e38F}}));
  const std::string words = net.constant("words", text);
  const std::string scaled = net.node("Mul", {x, w});
  Graph branch = net.subgraph("branch");
  branch.input("b", Type::Bool, {});
  branch.node("Relu", {scaled});
  branch.output("inner", w);
  net.node_with({"first", "", "third"}, "Anything", {scaled, "", words},
                {{"int", -3},
                 {"bool", true},
                 {"real", 0.1},
                 {"string", "text"},
                 {"type", Type::F16},
                 {"tensor", small},
                 {"graph", branch},
                 {"ints", {1, -1, std::int64_t(1) << 40}},
                 {"reals", {0.5, 1, -2}},
                 {"strings", {"a", ""}},
                 {"tensors", {small, text}}},
                {.domain = "test.weft", .name = "of_every_kind"});
  net.output("scaled", scaled, Type::F32, {"batch", 2, 2});
  net.output("third", "third", Type::String, {});
  net.output("again", scaled, Type::F32, {"batch", 2, 2});
  EXPECT_EQ(text_of(net.bytes()), content_of(fs::path(WEFT_ONNX_TESTS) / "written.onnx"));
}

TEST(OnnxWritten, TheVersionOfTheFormatIsTheFirstThatHasAll) {
  const auto version = [](int opset, Type type) {
    Writer net("net", opset);
    net.output("y", net.node("Identity", {net.input("x", type, {2})}), type, {2});
    return static_cast<int>(net.bytes().at(1));  // behind the tag of the first field
  };
  EXPECT_EQ(version(7, Type::F32), 4);
  EXPECT_EQ(version(10, Type::F32), 5);
  EXPECT_EQ(version(13, Type::F32), 7);
  EXPECT_EQ(version(18, Type::F32), 8);
  EXPECT_EQ(version(22, Type::F32), 10);
  EXPECT_EQ(version(28, Type::F32), 14);
  EXPECT_EQ(version(13, Type::F8E5M2), 9);
  EXPECT_EQ(version(13, Type::I4), 10);
  EXPECT_EQ(version(13, Type::I2), 13);
}

// --- There and back ---------------------------------------------------------------------------------------

TEST(OnnxWritten, ElementsOfEveryType) {
  std::vector<Value> values = {Text{{2, 2}, {"a", "", "c", "\xC3\xA4"}}};
  for (int number = 1; number <= static_cast<int>(Type::F6E3M2); ++number) {
    const auto type = static_cast<Type>(number);
    if (type == Type::String || type == Type::C64 || type == Type::C128) continue;
    const Tensor held = Tensor({{0, 1, 0}, {1, 1, 0}}).cast(dtype_of(type));
    values.emplace_back(type == Type::I2 || type == Type::Bool ? held : held * 2, type);
    values.emplace_back(Tensor::zeros({0, 3}, {.dtype = dtype_of(type)}), type);
  }
  Writer net("types", 28);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string name = "v" + std::to_string(i);
    net.output(name + "_again", net.node("Identity", {net.constant(name, values[i])}));
  }
  const NamedValues found = Model::parse(net.bytes())({});
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Value& again = found.at("v" + std::to_string(i) + "_again");
    ASSERT_EQ(again.type(), values[i].type()) << i;
    if (again.is_text()) {
      EXPECT_EQ(again.text().values, values[i].text().values);
      EXPECT_EQ(again.text().shape, values[i].text().shape);
      continue;
    }
    EXPECT_EQ(again.tensor().shape(), values[i].tensor().shape());
    EXPECT_EQ(again.tensor().to_vector<double>(), values[i].tensor().to_vector<double>())
        << name_of(again.type());
  }
}

// What operators make of their attributes follows from their definitions.
TEST(OnnxWritten, AttributesDoWhatTheySay) {
  Writer net("attributes", 21);
  const std::string x = net.input("x", Type::F32, {1, 2});
  net.output("int", net.node("Concat", {x, x}, {{"axis", std::size_t{1}}}));
  net.output("real", net.node("LeakyRelu", {x}, {{"alpha", 0.25}}));
  net.output("string", net.node("Gelu", {x}, {{"approximate", "tanh"}}));
  net.output("type", net.node("Cast", {x}, {{"to", Type::I32}}));
  const Tensor nines = Tensor({9}).cast(dtypes::u8);
  const std::string shape = net.node("Shape", {x});
  net.output("tensor", net.node("ConstantOfShape", {shape}, {{"value", nines}}));
  net.output("ints", net.node("Transpose", {x}, {{"perm", {1, 0}}}));
  net.output("reals", net.node("Constant", {}, {{"value_floats", {0.5, 2}}}));
  net.output("strings", net.node("Constant", {}, {{"value_strings", {"a", "b"}}}));
  const NamedValues found = Model::parse(net.bytes())({{"x", Tensor({{-4.F, 8.F}})}});
  const auto numbers = [&](const std::string& name) {
    return found.at(name).tensor().to_vector<double>();
  };
  EXPECT_EQ(numbers("int"), (Reals{-4, 8, -4, 8}));
  EXPECT_EQ(numbers("real"), (Reals{-1, 8}));
  EXPECT_NEAR(numbers("string")[1], 8, 1e-6);
  EXPECT_EQ(found.at("type").type(), Type::I32);
  EXPECT_EQ(numbers("tensor"), (Reals{9, 9}));
  EXPECT_EQ(found.at("ints").tensor().shape(), (Ints{2, 1}));
  EXPECT_EQ(numbers("reals"), (Reals{0.5, 2}));
  EXPECT_EQ(found.at("strings").text().values, (Names{"a", "b"}));
}

TEST(OnnxWritten, GraphsReadWhatIsAroundThem) {
  Writer net("choice", 22);
  const std::string x = net.input("x", Type::F32, {"n"});
  const std::string is_wanted = net.input("is_wanted", Type::Bool, {});
  const std::string twice = net.node("Add", {x, x});
  Graph then = net.subgraph("then"), otherwise = net.subgraph("otherwise");
  then.output("y", then.node("Relu", {twice}));
  otherwise.output("y", otherwise.node("Sub", {twice, otherwise.constant("one", Tensor({1.F}))}));
  const Attributes branches = {{"then_branch", then}, {"else_branch", otherwise}};
  const std::string y = net.node("If", {is_wanted}, branches);
  net.output("y", y, Type::F32, {"n"});
  net.output("twice", twice);  // from now on it has another name in the file
  const Model model = Model::parse(net.bytes());
  const auto run = [&](bool wanted) {
    const Value yes = Tensor(std::vector<bool>{wanted}).reshape({});
    return model({{"x", Tensor({-1.F, 2.F})}, {"is_wanted", yes}}).at("y").tensor();
  };
  EXPECT_EQ(run(true).to_vector<double>(), (Reals{0, 4}));
  EXPECT_EQ(run(false).to_vector<double>(), (Reals{-3, 3}));
}

// The name of a value within, which later on is one of the graph around it as well, and an output by another name.
TEST(OnnxWritten, GraphsKeepNamesOfTheirOwn) {
  Writer net("loop", 22);
  const std::string x = net.input("x", Type::F32, {2});
  Graph body = net.subgraph("body");
  body.input("i", Type::I64, {});
  const std::string go = body.input("go", Type::Bool, {});
  const std::string state = body.input("Neg_1_out", Type::F32, {2});
  body.output("again", body.node("Identity", {go}));
  body.output("next", body.node("Add", {state, x}));
  net.output("y", net.node("Neg", {x}));  // Neg_1_out
  const std::string count = net.constant("count", Tensor(Ints{2}).reshape({}));
  net.output("z", net.node("Loop", {count, "", x}, {{"body", body}}), Type::F32, {2});
  const NamedValues found = Model::parse(net.bytes())({{"x", Tensor({1.F, 2.F})}});
  EXPECT_EQ(found.at("y").tensor().to_vector<double>(), (Reals{-1, -2}));
  EXPECT_EQ(found.at("z").tensor().to_vector<double>(), (Reals{3, 6}));
}

TEST(OnnxWritten, ConstantsAreWhatTheyAreWhenWritten) {
  Writer net("net", 22);
  Tensor w({1.F, 2.F});
  net.output("y", net.node("Add", {net.input("x", Type::F32, {2}), net.constant("w", w)}));
  w.assign(Tensor({10.F, 20.F}));
  const NamedValues found = Model::parse(net.bytes())({{"x", Tensor({1.F, 1.F})}});
  EXPECT_EQ(found.at("y").tensor().to_vector<double>(), (Reals{11, 21}));
}

// --- Shapes of outputs --------------------------------------------------------------------------------------

TEST(OnnxWritten, ShapesOfOutputsAreFound) {
  Writer net("shapes", 22);
  const std::string x = net.input("x", Type::F32, {"batch", 3, "", 4});
  const std::string image = net.input("image", Type::F32, {"batch", 3, 6, 4});
  net.output("same", net.node("Relu", {x}));
  net.output("flat", net.node("Flatten", {x}));
  net.output("most", net.node("ArgMax", {x}, {{"axis", 1}, {"keepdims", 0}}));
  net.output("half", net.node("MaxPool", {image}, {{"kernel_shape", {1, 2}}, {"strides", {1, 2}}}));
  net.output("sizes", net.node("Shape", {x}));
  const std::string sizes = net.constant("sizes_of_rows", Tensor(Ints{0, 18, -1}));
  net.output("rows", net.node("Reshape", {image, sizes}));
  const Model model = Model::parse(net.bytes());
  const std::vector<Port>& found = model.outputs();
  EXPECT_EQ(found.at(0).shape, (Sizes{"batch", 3, "", 4}));
  EXPECT_EQ(found.at(1).shape, (Sizes{"batch", ""}));
  EXPECT_EQ(found.at(2).shape, (Sizes{"batch", "", 4}));
  EXPECT_EQ(found.at(2).type, Type::I64);
  EXPECT_EQ(found.at(3).shape, (Sizes{"batch", 3, 6, 2}));
  EXPECT_EQ(found.at(4).shape, (Sizes{4}));
  EXPECT_EQ(found.at(5).shape, (Sizes{"batch", 18, 4}));
}

TEST(OnnxWritten, ShapesThatNobodyCanTellAreRefused) {
  Writer net("net", 22);
  const std::string x = net.input("x", Type::F32, {"n"});
  net.output("places", net.node("NonZero", {x}));
  EXPECT_REFUSED(net.bytes(), "nobody said what shapes its outputs have");
  Writer unknown("net", 22);
  unknown.use("com.example", 1);
  const std::string y =
      unknown.node("Secret", {unknown.input("x", Type::F32, {2})}, {}, {.domain = "com.example"});
  unknown.output("y", y);
  EXPECT_REFUSED(unknown.bytes(), "com.example.Secret");
}

// --- Files ----------------------------------------------------------------------------------------------------

TEST_F(OnnxWriter, LargeConstantsGoToAFileBesideIt) {
  Writer net("net", 22);
  const std::string x = net.input("x", Type::F32, {64});
  const std::string sum = net.node("Add", {x, net.constant("a", Tensor::arange(64).to_float())});
  const std::string product = net.node("Mul", {sum, net.constant("b", Tensor::full({64}, 2.F))});
  net.output("y", net.node("Sub", {product, net.constant("c", Tensor({1.F}))}));
  net.save(path("all.onnx"));
  EXPECT_FALSE(fs::exists(path("all.onnx.data")));
  net.save(path("net.onnx"), {.external_bytes = 256});
  EXPECT_EQ(fs::file_size(path("net.onnx.data")), 4096U + 256U);  // the second at the next page
  EXPECT_LT(fs::file_size(path("net.onnx")), fs::file_size(path("all.onnx")));
  for (const std::string name : {"all.onnx", "net.onnx"}) {
    const Model model = Model::load(path(name));
    EXPECT_EQ(model.outputs().at(0).shape, (Sizes{64}));
    const Tensor y = model({{"x", Tensor::ones({64})}}).at("y").tensor();
    EXPECT_EQ((y - (Tensor::arange(64) * 2 + 1)).abs().max().item<float>(), 0.F);
  }
}

TEST_F(OnnxWriter, AFileStaysAsItWasWhereTheModelCannotBeWritten) {
  std::ofstream(path("net.onnx")) << "before";
  Writer net("net", 22);
  net.output("y", net.node("NonZero", {net.input("x", Type::F32, {"n"})}));
  EXPECT_REFUSED((net.save(path("net.onnx")), 0), "what shapes its outputs have");
  EXPECT_EQ(content_of(path("net.onnx")), "before");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
}

// --- What is refused --------------------------------------------------------------------------------------------

TEST(OnnxWritten, NamesThatNothingGives) {
  Writer net("net", 22);
  const std::string x = net.input("x", Type::F32, {2});
  EXPECT_REFUSED(net.node("Relu", {"y"}), "graph 'net': 'Relu_1' reads 'y', which nothing");
  EXPECT_REFUSED((net.output("z", "y"), 0), "the output 'z' is 'y', which nothing gives");
  EXPECT_REFUSED(net.bytes(), "it has no outputs");
  Graph inner = net.subgraph("inner");
  const std::string hidden = inner.node("Relu", {x});
  EXPECT_REFUSED(net.node("Relu", {hidden}), "which nothing before it gives");
}

TEST(OnnxWritten, NamesThatAreTaken) {
  Writer net("net", 22);
  const std::string x = net.input("x", Type::F32, {2});
  EXPECT_REFUSED(net.input("x", Type::F32, {2}), "there is a value 'x' already");
  EXPECT_REFUSED(net.constant("x", Tensor({1.F})), "there is a value 'x' already");
  EXPECT_REFUSED(net.node_with({"x"}, "Relu", {x}), "there is a value 'x' already");
  EXPECT_REFUSED(net.subgraph("inner").constant("x", Tensor({1.F})), "a value 'x' already");
  EXPECT_REFUSED((net.output("x", x), 0), "needs another name");
  net.output("y", net.node("Relu", {x}));
  EXPECT_REFUSED((net.output("y", x), 0), "there is an output 'y' already");
  // A number is passed over where the user has given its name to another.
  net.constant("Neg_1_out", Tensor({1.F}));
  EXPECT_EQ(net.node("Neg", {x}), "Neg_2_out");
}

TEST(OnnxWritten, AttributesThatNoFileCanHold) {
  Writer net("net", 22);
  const std::string x = net.input("x", Type::F32, {2});
  const auto with = [&](const Attribute& value) { return net.node("Relu", {x}, {{"a", value}}); };
  EXPECT_REFUSED(with(Attribute({1, "two"})), "several kinds");
  EXPECT_REFUSED(with(std::uint64_t{1} << 63), "9223372036854775808 is beyond");
  EXPECT_REFUSED(with(Attribute(std::initializer_list<Attribute::Element>{})), "an empty list");
  EXPECT_REFUSED(with(Value(Sequence{})), "neither a tensor nor strings");
  EXPECT_REFUSED(net.node("Relu", {x}, {{"a", 1}, {"a", 2}}), "is given twice");
  EXPECT_REFUSED(with(net.subgraph("empty")), "has no outputs");
  Writer other("other", 22);
  Graph foreign = other.subgraph("foreign");
  foreign.output("y", foreign.node("Constant", {}, {{"value_int", 1}}));
  EXPECT_REFUSED(with(foreign), "no subgraph() of this graph");
}

TEST(OnnxWritten, VersionsShapesAndValues) {
  EXPECT_REFUSED(Writer("net", 0), "opsets 1 to 28");
  EXPECT_REFUSED(Writer("net", 29), "opsets 1 to 28");
  EXPECT_REFUSED(Writer("", 22), "needs a name");
  Writer net("net", 22);
  const NodeOptions elsewhere{.domain = "com.microsoft"};
  EXPECT_REFUSED(net.node("Gelu", {}, {}, elsewhere), "use() has to say");
  EXPECT_REFUSED((net.use("ai.onnx", 21), 0), "known already");
  EXPECT_REFUSED((net.use("com.microsoft", 0), 0), "no opset 0");
  EXPECT_REFUSED(net.input("x", Type::F32, {-1, 2}), "'x' has the size -1");
  EXPECT_REFUSED(net.input("x", Type::Undefined, {2}), "'x' has no type");
  EXPECT_REFUSED(net.constant("c", Value()), "constant 'c' is neither");
  net.metadata("key", "value");
  EXPECT_REFUSED((net.metadata("key", "other"), 0), "have 'key' already");
}

}  // namespace
}  // namespace weft::onnx
