// Layers in cheaper numbers: what they give, what they hold, what they cost, and which of them an error allows.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include <gtest/gtest.h>
#include <weft/dev/base/temporary_folder.h>
#include <weft/dev/device/mma.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/onnx/load_value.h>
#include <weft/dev/schedule/plan.h>
#include <weft/onnx_writer.h>
#include <weft/weft.h>

#include "../support/errors.h"
#include "../support/plan_for.h"
#include "onnx_file.h"

namespace weft {
namespace {

namespace fs = std::filesystem;
using onnx::Comparison;
using onnx::LoadOptions;
using onnx::Model;
using onnx::NamedValues;
using onnx::Precision;
using onnx::Precisions;
using onnx::Type;
using onnx::Writer;

using Floats = std::vector<float>;

constexpr Precision cheaper[] = {Precision::BF16, Precision::F16, Precision::I8};

// How far rounding takes a number, of itself; of int8, of the largest.
double rounding_of(Precision precision) {
  return precision == Precision::BF16 ? 0x1p-9 : precision == Precision::F16 ? 0x1p-12 : 0.5 / 127;
}

Tensor numbers(const std::vector<std::int64_t>& shape, int seed) {
  const Tensor places = Tensor::arange(Tensor::empty(Shape(shape)).numel(), {.dtype = dtypes::f32});
  return ((places * 12.9898 + seed).sin() * 1.3).reshape(Shape(shape)).realize();
}

Floats run(const Writer& net, const NamedValues& inputs, const LoadOptions& options) {
  return Model::parse(net.bytes(), options)(inputs).at("y").tensor().to_vector<float>();
}

double largest(const Floats& values) {
  double most = 0;
  for (const float value : values) most = std::max(most, std::abs(double(value)));
  return most;
}

double furthest(const Floats& values, const Floats& others) {
  double most = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    most = std::max(most, std::abs(double(values[i]) - double(others.at(i))));
  return most;
}

// --- Values -----------------------------------------------------------------------------------------------

Writer product() {
  Writer net("product", 18);
  const auto x = net.input("x", Type::F32, {2, 3});
  const auto w =
      net.constant("w", Tensor({1.234F, -0.777F, 7.77F, 0.0625F, -3.21F, 19.9F}).reshape({3, 2}));
  net.output("y", net.node("MatMul", {x, w}, {}, {.name = "layer"}), Type::F32, {2, 2});
  return net;
}

const Floats factors{0.1F, -2.7F, 3.3F, 100.7F, 0.013F, -5.55F};

class PrecisionOn : public testing::TestWithParam<const char*> {};

// By Python: factors rounded by struct, halves to even, or to steps of the largest through 127; sums exact.
TEST_P(PrecisionOn, FactorsAreRoundedAndSumsAreNot) {
  const std::pair<Precision, std::vector<double>> expected[] = {
      {Precision::BF16,
       {-31.470436096191406, 65.27863502502441, 141.97323036193848, -188.67692184448242}},
      {Precision::F16,
       {-31.44685935974121, 65.45980900526047, 142.2103521823883, -188.71406173706055}},
      {Precision::I8,
       {-28.573163612266505, 63.11590238916595, 140.87685421056355, -189.34770716749787}}};
  const Tensor x = Tensor(factors, {.device = GetParam()}).reshape({2, 3});
  for (const auto& [precision, values] : expected) {
    const Floats found = run(product(), {{"x", x}}, {.device = GetParam(), .precision = precision});
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(found.at(i), values[i], 2e-5 * std::abs(values[i])) << name_of(precision);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, PrecisionOn,
                         testing::Values("CPU", "CPU:LLVM:x86-64-v3", "INTERP"),
                         [](const auto& device) { return std::to_string(device.index); });

// Operators that are also of integers, in the forms that decide where their channels are.
std::vector<Writer> nets_of_integers() {
  std::vector<Writer> nets;
  const auto add = [&](const std::string& op, const onnx::Sizes& x,
                       const std::vector<std::int64_t>& w, const std::vector<std::int64_t>& bias,
                       const onnx::Attributes& attributes) {
    Writer& net = nets.emplace_back(op, 18);
    onnx::Names inputs{net.input("x", Type::F32, x), net.constant("w", numbers(w, 1))};
    if (!bias.empty()) inputs.push_back(net.constant("b", numbers(bias, 2)));
    net.output("y", net.node(op, inputs, attributes, {.name = "layer"}));
  };
  add("Conv", {2, 4, 6, 6}, {6, 2, 3, 3}, {6}, {{"group", 2}, {"pads", {1, 1, 1, 1}}});
  add("ConvTranspose", {2, 4, 5, 5}, {4, 3, 3, 3}, {3}, {{"strides", {2, 2}}});
  add("Gemm", {5, 7}, {4, 7}, {4}, {{"transB", 1}, {"alpha", 0.5}, {"beta", 3.0}});
  add("Gemm", {7, 5}, {7, 4}, {5, 1}, {{"transA", 1}});
  add("MatMul", {3, 5, 7}, {3, 7, 4}, {}, {});
  add("MatMul", {5, 7}, {7}, {}, {});
  return nets;
}

TEST(Precision, ErrorsAreThoseOfRoundedFactors) {
  for (const Writer& net : nets_of_integers()) {
    const Model plain = Model::parse(net.bytes());
    std::vector<std::int64_t> shape;
    for (const auto& size : plain.inputs().at(0).shape) shape.push_back(std::get<0>(size));
    const NamedValues inputs{{"x", numbers(shape, 3)}};
    const Floats exact = plain(inputs).at("y").tensor().to_vector<float>();
    constexpr double most = 1.3 * 1.3 * 36;  // of the sum of 36 products at most, without signs
    for (const Precision precision : cheaper) {
      const double found = furthest(run(net, inputs, {.precision = precision}), exact);
      EXPECT_GT(found, 0) << plain.layers().at(0).op;
      EXPECT_LE(found, most * 2.01 * rounding_of(precision)) << plain.layers().at(0).op;
    }
  }
}

// --- What is held -----------------------------------------------------------------------------------------

std::int64_t elements_of(const UOp& buffer) {
  std::int64_t count = 1;
  for (const Node* size : buffer->dims()) count *= static_cast<std::int64_t>(size->bounds().hi);
  return count;
}

// Of the memory of a call's kernels: how much has this type, and so many elements.
std::size_t buffers(const Model& model, const NamedValues& inputs, DType dtype,
                    std::int64_t elements) {
  std::set<const Node*> seen;
  for (const ScheduleItem& item : model.cost(inputs).kernels)
    for (const UOp& buffer : item.buffers)
      if (buffer->dtype() == dtype && elements_of(buffer) == elements) seen.insert(buffer.node());
  return seen.size();
}

TEST(Precision, WeightsAreHeldInIt) {
  constexpr std::int64_t weights = 96 * 128;
  Writer net("one", 18);
  const auto x = net.input("x", Type::F32, {64, 96});
  net.output("y", net.node("MatMul", {x, net.constant("w", numbers({96, 128}, 1))}));
  const NamedValues inputs{{"x", numbers({64, 96}, 2)}};
  EXPECT_EQ(buffers(Model::parse(net.bytes()), inputs, dtypes::f32, weights), 1U);
  const DType held[] = {dtypes::bf16, dtypes::f16, dtypes::i8};
  for (std::size_t i = 0; i < std::size(held); ++i) {
    const Model model = Model::parse(net.bytes(), {.precision = cheaper[i]});
    EXPECT_EQ(buffers(model, inputs, held[i], weights), 1U) << name_of(cheaper[i]);
    EXPECT_EQ(buffers(model, inputs, dtypes::f32, weights), 0U) << name_of(cheaper[i]);
  }
}

// What lies between two products, in the dtype that it has there.
std::vector<DType> memory_between(const Target& target) {
  const Tensor x = Tensor::empty({64, 96}), w = Tensor::empty({96, 128});
  const Tensor factor = x.matmul(w).relu().cast(dtypes::bf16).cast(dtypes::f32);
  const Tensor sums[] = {factor.matmul(Tensor::empty({128, 80})),
                         factor.matmul(Tensor::empty({128, 72}))};
  Arena arena;
  const InternerScope scope(arena);
  const std::vector<UOp> tensors{sums[0].uop(), sums[1].uop()};
  std::vector<Root> roots;
  for (const UOp& tensor : import_graph(nodes_of(tensors), shared_graph(), arena))
    roots.push_back({tensor, Symbol("CPU")});
  const Plan plan = make_plan(roots, target);
  std::vector<DType> dtypes;
  for (const Slot& slot : plan.slots)
    if (!slot.input && elements_of(slot.buffer) == 64 * 128) dtypes.push_back(slot.buffer->dtype());
  return dtypes;
}

TEST(Precision, MemoryBetweenIsShortWhereInstructionsTakeIt) {
  Target target = fixed_target();
  EXPECT_EQ(memory_between(target), (std::vector<DType>{dtypes::f32}));
  target.mma.assign(mma_shapes().begin(), mma_shapes().end());
  EXPECT_EQ(memory_between(target), (std::vector<DType>{dtypes::bf16}));
}

// --- Which layers there are -------------------------------------------------------------------------------

TEST(Precision, LayersByNameAlsoInsideOfBranches) {
  Writer net("branch", 18);
  const auto x = net.input("x", Type::F32, {2, 3});
  const auto w = net.constant("w", numbers({3, 2}, 1));
  onnx::Graph yes = net.subgraph("yes"), no = net.subgraph("no");
  yes.output("a", yes.node("MatMul", {x, w}, {}, {.name = "inner"}), Type::F32, {2, 2});
  no.output("b", no.node("Einsum", {x, w}, {{"equation", "ik,kj->ij"}}, {.name = "sum"}), Type::F32,
            {2, 2});
  const auto which = net.input("which", Type::Bool, {1});
  const auto either = net.node("If", {which}, {{"then_branch", yes}, {"else_branch", no}});
  net.output(
      "y",
      net.node("MatMul", {either, net.constant("v", numbers({2, 2}, 2))}, {}, {.name = "outer"}),
      Type::F32, {2, 2});
  const Model model = Model::parse(
      net.bytes(), {.precision = Precision::I8, .layer_precisions = {{"outer", Precision::BF16}}});
  std::map<std::string, std::tuple<Precision, bool, bool>> found;
  for (const onnx::Layer& layer : model.layers())
    found[layer.name] = {layer.precision, layer.has_i8, layer.is_inside};
  const std::map<std::string, std::tuple<Precision, bool, bool>> expected{
      {"inner", {Precision::I8, true, true}},
      {"sum", {Precision::F32, false, true}},
      {"outer", {Precision::BF16, true, false}}};
  EXPECT_EQ(found, expected);
  const NamedValues inputs{{"x", numbers({2, 3}, 3)}, {"which", Tensor({true})}};
  const Floats exact = run(net, inputs, {});
  for (const Precision precision : cheaper) {
    const double off =
        furthest(run(net, inputs, {.layer_precisions = {{"inner", precision}}}), exact);
    EXPECT_GT(off, 0);
    EXPECT_LT(off, 20 * rounding_of(precision));
  }
  const auto why = [&](const std::string& layer, Precision precision) {
    return error_of([&] { run(net, inputs, {.layer_precisions = {{layer, precision}}}); });
  };
  EXPECT_NE(why("none", Precision::BF16).find("no layer 'none'; the layers are inner, sum, outer"),
            std::string::npos)
      << why("none", Precision::BF16);
  EXPECT_NE(why("sum", Precision::I8).find("'sum' (Einsum) has no form of integers"),
            std::string::npos);
}

// Twice a value between two of bf16 is what a layer multiplies, what is added to it, an output and what a layer in f32 reads.
TEST(Precision, OthersReadWhatALayerMultiplies) {
  constexpr float between = 0x1.03p0F, rounded = 0x1.04p0F;
  Writer net("shared", 18);
  const auto x = net.input("x", Type::F32, {1, 1});
  const auto twice = net.node("Add", {x, x}, {}, {.name = "twice"});
  const auto one = net.constant("one", Tensor({1.F}).reshape({1, 1}));
  const auto layer = net.node("MatMul", {twice, one}, {}, {.name = "layer"});
  const auto other = net.node("MatMul", {twice, one}, {}, {.name = "other"});
  net.output("product", layer, Type::F32, {1, 1});
  net.output("sum", net.node("Add", {twice, one}), Type::F32, {1, 1});
  net.output("other", other, Type::F32, {1, 1});
  const auto found = [&](const onnx::LoadOptions& options) {
    const Model model = Model::parse(net.bytes(), options);
    const NamedValues all = model({{"x", Tensor({between}).reshape({1, 1})}});
    Floats values;
    for (const char* name : {"product", "sum", "other"})
      values.push_back(all.at(name).tensor().to_vector<float>()[0]);
    return values;
  };
  const Floats exact{2 * between, 2 * between + 1, 2 * between};
  EXPECT_EQ(found({}), exact);
  EXPECT_EQ(found({.precision = Precision::BF16}),
            (Floats{2 * rounded, 2 * rounded + 1, 2 * rounded}));
  EXPECT_EQ(found({.precision = Precision::BF16, .layer_precisions = {{"other", Precision::F32}}}),
            (Floats{2 * rounded, 2 * rounded + 1, 2 * between}));
  EXPECT_EQ(found({.layer_precisions = {{"layer", Precision::BF16}}}),
            (Floats{2 * rounded, 2 * between + 1, 2 * between}))
      << "of one layer nobody else takes any notice";
}

// It is rounded differently near the middle of two bf16, by a unit; not where others see it.
TEST(Precision, ErfHasFewDigitsWhereAllOfThemAreRounded) {
  std::vector<float> values(2000), rounded;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) * 0.002F - 2;
  for (const float x : values) rounded.push_back(std::erf(x));
  const Tensor exact = Tensor(rounded).cast(dtypes::bf16).cast(dtypes::f32);
  const auto differing = [&](bool is_seen) {
    Writer net("erf", 20);
    const auto x = net.input("x", Type::F32, {2000, 1});
    const auto half = net.node("Div", {net.node("Erf", {x}), net.constant("two", Tensor({2.F}))});
    const auto one = net.constant("one", Tensor({2.F}).reshape({1, 1}));
    net.output("y", net.node("MatMul", {half, one}), Type::F32, {2000, 1});
    if (is_seen) net.output("half", half, Type::F32, {2000, 1});
    const Model model = Model::parse(net.bytes(), {.precision = Precision::BF16});
    const Tensor y = model({{"x", Tensor(values).reshape({2000, 1})}}).at("y").tensor().flatten();
    EXPECT_LE(((y - exact) / exact.abs().maximum(0x1p-20)).abs().max().item<float>(), 0x1p-7F);
    return (y != exact).sum().item<int>();
  };
  EXPECT_GT(differing(false), 20);
  EXPECT_EQ(differing(true), 0);
}

// In its own type, whatever that is.
TEST(Precision, GeluOfOtherTypesKeepsTheirDigits) {
  const Tensor x = Tensor::linspace(-4, 4, 200).reshape({200, 1});
  for (const auto& [type, dtype] :
       {std::pair(Type::F64, dtypes::f64), std::pair(Type::F16, dtypes::f16)}) {
    Writer net("gelu", 20);
    const auto gelu = net.node("Gelu", {net.input("x", type, {200, 1})});
    const auto one = net.constant("one", Tensor({1.F}).reshape({1, 1}).cast(dtype));
    net.output("y", net.node("MatMul", {gelu, one}), type, {200, 1});
    const Model model = Model::parse(net.bytes(), {.precision = Precision::BF16});
    const Tensor y = model({{"x", x.cast(dtype)}}).at("y").tensor().cast(dtypes::f32),
                 exact = x.cast(dtype).gelu(Gelu::Exact).cast(dtypes::bf16).cast(dtypes::f32);
    EXPECT_LE(((y - exact).abs() / exact.abs().maximum(0x1p-14)).max().item<float>(), 0x1p-6F)
        << dtype.str();
  }
}

// What calls a function gives it the weights, which it does not know to be constant.
TEST(Precision, LayersOfFunctions) {
  using namespace onnx_file;  // NOLINT: what it writes reads as it is
  Graph graph;
  graph.inputs = {port("x", Type::F32, {1, 2})};
  graph.outputs = {port("y", Type::F32, {1, 1})};
  graph.initialisers = {tensor("w", {2, 1}, Floats{1, 0x1.01p0F})};
  graph.nodes = {node("f", {"x", "w"}, {"y"}, {}, "d")};
  const Message function = Message()
                               .text(1, "f")
                               .text(4, "a")
                               .text(4, "b")
                               .text(5, "c")
                               .message(7, node("MatMul", {"a", "b"}, {"c"}))
                               .message(9, opset(18))
                               .text(10, "d");
  const std::string bytes = onnx_file::model(graph, 18, {function});
  const Model model = Model::parse(bytes_of(bytes), {.precision = Precision::BF16});
  ASSERT_EQ(model.layers().size(), 1U);
  EXPECT_TRUE(model.layers()[0].is_inside);
  const Tensor x =
      Tensor({0x1.03p0F, 1.F}).reshape({1, 2});  // in the middle of two: to the even one
  EXPECT_EQ(model({{"x", x}}).at("y").tensor().to_vector<float>(), (Floats{0x1.04p0F + 1}));
}

// --- What it costs ----------------------------------------------------------------------------------------

// Three layers. What the second is given has one number that is far larger than the others, which it does not look at.
TEST(Precision, ALayerOfHugeRangeIsFound) {
  const TemporaryFolder folder;
  const std::string file = folder / "net.onnx";
  std::vector<float> far(32, 1.F), blind(32, 1.F);
  far[5] = 1e4F, blind[5] = 0.F;
  Writer net("net", 18);
  const auto layer = [&](const std::string& name, const std::string& x, const Tensor& w) {
    return net.node("MatMul", {x, net.constant(name + " w", w)}, {}, {.name = name});
  };
  const auto x = net.input("x", Type::F32, {4, 16});
  const auto spread =
      net.node("Mul", {layer("first", x, numbers({16, 32}, 1)), net.constant("far", Tensor(far))});
  const auto second = layer("second", spread, numbers({32, 24}, 2) * Tensor(blind).unsqueeze(1));
  net.output("y", layer("third", net.node("Relu", {second}), numbers({24, 8}, 3)));
  net.save(file);
  const Comparison found =
      onnx::compare(file, {{"x", numbers({4, 16}, 4)}}, {.precision = Precision::I8});
  ASSERT_EQ(found.layers.size(), 3U);
  EXPECT_EQ(found.layers[1].layer.name, "second");
  EXPECT_EQ(found.layers[1].products, 4 * 32 * 24);
  for (const std::size_t other : {0U, 2U})
    EXPECT_GT(found.layers[1].alone.rms, 5 * found.layers[other].alone.rms) << other;
  EXPECT_GT(found.layers[2].together.rms, 0.2);
  EXPECT_GT(found.error(), 0.2);
}

// Convolutions with fewer products round more, in f32 as well: by less than WINOGRAD_ERROR, which is 64 units of 2^-24.
TEST(Precision, FewerProductsAreAnErrorOfTheirLayer) {
  constexpr double bound = 0x1p-18;
  const TemporaryFolder folder;
  const std::string file = folder / "net.onnx";
  Tensor::manual_seed(1);
  Writer net("net", 18);
  const auto conv = [&](const std::string& name, const std::string& x, int window) {
    const auto w = net.constant(name + " w", Tensor::randn({64, 64, window, window}).realize());
    const std::int64_t pad = window / 2;
    return net.node("Conv", {x, w}, {{"pads", {pad, pad, pad, pad}}}, {.name = name});
  };
  const auto x = net.input("x", Type::F32, {1, 64, 40, 40});
  net.output("y", conv("points", conv("windows", x, 3), 1));
  net.save(file);
  const NamedValues inputs{{"x", Tensor::randn({1, 64, 40, 40}).realize()}};
  const auto errors = [&](int outputs) {
    const Context context{{"WINOGRAD", outputs}, {"WEFT_THREADS", 1}};
    return onnx::compare(file, inputs, {}).layers;
  };
  const auto fewer = errors(4), all = errors(0);
  ASSERT_EQ(fewer.size(), 2U);
  EXPECT_GT(fewer[0].alone.rms, 0x1p-23);
  EXPECT_LT(fewer[0].alone.rms, bound);
  EXPECT_EQ(fewer[1].alone.rms, 0);
  EXPECT_GT(fewer[1].together.rms, 0);
  EXPECT_LT(fewer[1].together.rms, bound);
  for (const onnx::LayerComparison& row : all) {
    EXPECT_EQ(row.alone.largest, 0) << row.layer.name;
    EXPECT_EQ(row.together.largest, 0) << row.layer.name;
  }
}

const std::string digits = std::string(WEFT_MODELS) + "/digits.onnx";

NamedValues digit(int which) {
  const Tensor image =
      load_image(std::string(WEFT_MODELS) + "/" + std::to_string(which) + ".png", 1);
  const Tensor pixels = image.to_float().permute({2, 0, 1}).unsqueeze(0);
  return {{"image", (pixels.interpolate({28, 28}, {.antialias = true}) / 255).realize()}};
}

TEST(Precision, OfSeveralCallsTheLargestErrorCounts) {
  const LoadOptions options{.precision = Precision::I8};
  const std::vector<NamedValues> calls{digit(3), digit(8), digit(1)};
  const Comparison all = onnx::compare(digits, calls, options);
  std::vector<double> alone(all.layers.size()), together(all.layers.size());
  double error = 0;
  for (const NamedValues& inputs : calls) {
    const Comparison one = onnx::compare(digits, inputs, options);
    error = std::max(error, one.error());
    for (std::size_t i = 0; i < alone.size(); ++i) {
      alone[i] = std::max(alone[i], one.layers.at(i).alone.largest);
      together[i] = std::max(together[i], one.layers.at(i).together.rms);
    }
  }
  EXPECT_EQ(all.error(), error);
  for (std::size_t i = 0; i < alone.size(); ++i) {
    EXPECT_EQ(all.layers[i].alone.largest, alone[i]) << i;
    EXPECT_EQ(all.layers[i].together.rms, together[i]) << i;
  }
  const std::vector<NamedValues> none;
  EXPECT_NE(error_of([&] { onnx::compare(digits, none, options); }).find("there is none"),
            std::string::npos);
}

TEST(Precision, WhatIsChosenKeepsToItsBound) {
  const std::vector<NamedValues> inputs{digit(3), digit(8)};
  const std::size_t layers = Model::load(digits).layers().size();
  const onnx::PrecisionSearch loose{{Precision::BF16, Precision::I8}, 1};
  const Precisions all = onnx::choose_precisions(digits, inputs, {}, loose);
  EXPECT_EQ(all.size(), layers);
  for (const auto& [name, precision] : all) EXPECT_EQ(precision, Precision::I8) << name;
  EXPECT_TRUE(onnx::choose_precisions(digits, inputs, {}, {{Precision::BF16}, 1e-12}).empty());
  const double whole = onnx::compare(digits, inputs, {.layer_precisions = all}).error();
  const onnx::PrecisionSearch tight{{Precision::BF16, Precision::I8}, whole / 2};
  const Precisions some = onnx::choose_precisions(digits, inputs, {}, tight);
  EXPECT_FALSE(some.empty());
  EXPECT_NE(some, all);
  EXPECT_LE(onnx::compare(digits, inputs, {.layer_precisions = some}).error(), tight.max_error);
}

TEST(Precision, DigitsAreReadInEach) {
  for (const Precision precision : cheaper) {
    const Model model = Model::load(digits, {.precision = precision});
    for (int which = 0; which < 10; ++which) {
      const Floats scores = model(digit(which)).at("probabilities").tensor().to_vector<float>();
      EXPECT_EQ(std::ranges::max_element(scores) - scores.begin(), which) << name_of(precision);
    }
  }
}

// --- Trained networks, where they are ---------------------------------------------------------------------

// Each layer rounds both of its factors; what one gives is a factor of the next.
double bound_of(const Model& model, Precision precision) {
  return static_cast<double>(model.layers().size()) * 2 * rounding_of(precision);
}

TEST(Precision, MnistGivesWhatIsExpected) {
  const fs::path folder = fs::path(WEFT_SHARED_DATA) / "mnist-8";
  if (!fs::exists(folder)) GTEST_SKIP() << "there is no " << folder;
  const fs::path data = folder / "test_data_set_0";
  for (const Precision precision : cheaper) {
    const Model model = Model::load((folder / "model.onnx").string(), {.precision = precision});
    const auto value = [&](const char* file, const onnx::Port& port) {
      return onnx::load_value((data / file).string(), port);
    };
    const Floats expected = value("output_0.pb", model.outputs()[0]).tensor().to_vector<float>();
    const Floats found = model({{"Input3", value("input_0.pb", model.inputs()[0])}})
                             .at(model.outputs()[0].name)
                             .tensor()
                             .to_vector<float>();
    EXPECT_LT(furthest(found, expected), bound_of(model, precision) * largest(expected))
        << name_of(precision);
  }
}

// The size of a step is one number for all loops around a stage of what is summed.
TEST(Precision, StepsOfFacesAreScheduled) {
  const fs::path file = fs::path(WEFT_SHARED_DATA) / "ultraface/version-slim-320.onnx";
  if (!fs::exists(file)) GTEST_SKIP() << "there is no " << file;
  const Model model = Model::load(file.string(), {.layer_precisions = {{"188", Precision::I8}}});
  const NamedValues inputs{{"input", Tensor::zeros({1, 3, 240, 320})}};
  EXPECT_GT(model.cost(inputs).run.kernels, 20U);
}

TEST(Precision, NetworksOfSpeechAndFilesStayNear) {
  const std::pair<const char*, NamedValues> networks[] = {
      {"magika/model.onnx",
       {{"bytes", (numbers({1, 2048}, 1).abs() * 190).floor().cast(dtypes::i32)}}},
      {"silero-vad/silero_vad_16k_op15.onnx",
       {{"input", numbers({1, 512}, 2)},
        {"state", Tensor::zeros({2, 1, 128})},
        {"sr", Tensor(16000, {.dtype = dtypes::i64})}}}};
  for (const auto& [name, inputs] : networks) {
    const fs::path file = fs::path(WEFT_SHARED_DATA) / name;
    if (!fs::exists(file)) GTEST_SKIP() << "there is no " << file;
    const Model plain = Model::load(file.string());
    for (const Precision precision : {Precision::BF16, Precision::F16})
      EXPECT_LT(onnx::compare(file.string(), inputs, {.precision = precision}).error(),
                bound_of(plain, precision))
          << name << " " << name_of(precision);
  }
}

}  // namespace
}  // namespace weft
