// Models of floats made into models of integers.
#include <cmath>
#include <filesystem>

#include <unistd.h>

#include <gtest/gtest.h>
#include <weft/weft.h>

namespace weft::onnx {
namespace {

using Reals = std::vector<float>;

class OnnxQuantize : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("weft_quantize_" + std::to_string(::getpid()));
};

// y = x w
void write_product(const std::string& path, const Tensor& weights) {
  Writer net("product", 17);
  const std::string x = net.input("x", Type::F32, {"rows", weights.size(0)});
  net.output("y", net.node("MatMul", {x, net.constant("w", weights)}, {}, {.name = "product"}));
  net.save(path);
}

float parameter(const std::string& path, const std::string& name) {
  return Model::load(path).parameters().at(name).to_vector<float>().at(0);
}

Tensor column(const Reals& values) { return Tensor(values).reshape({-1, 1}); }

TEST_F(OnnxQuantize, StepsAreThoseOfWhatWasSeen) {
  write_product(path("f32.onnx"), Tensor({2.F}).reshape({1, 1}));
  const NamedValues calls[] = {{{"x", column({-1, 0.5F})}}, {{"x", column({0, 4.1F})}}};
  const Quantized done = quantize(path("f32.onnx"), path("i8.onnx"), calls);
  EXPECT_EQ(done.products, 1U);
  EXPECT_EQ(done.activations, 1U);
  EXPECT_FLOAT_EQ(parameter(path("i8.onnx"), "x_scale"), 5.1F / 255);
  EXPECT_EQ(parameter(path("i8.onnx"), "x_zero"), 50);
  EXPECT_FLOAT_EQ(parameter(path("i8.onnx"), "w_scale"), 2.F / 127);
  EXPECT_EQ(parameter(path("i8.onnx"), "w_bytes"), 127);
  // Steps of 0.02 from -1 on: in halves of one, and no further than they reach.
  const Tensor found =
      Model::load(path("i8.onnx"))({{"x", column({-3, 0, 1.013F, 9})}}).at("y").tensor();
  const Reals expected{-2, 0, 2 * 51 * 5.1F / 255, 8.2F};
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(found.to_vector<float>()[i], expected[i], 1e-5);
}

// One of a thousand is far away. Bins are 1/2048 of the largest magnitude.
TEST_F(OnnxQuantize, WhatIsRareNeedsNoSteps) {
  write_product(path("f32.onnx"), Tensor({1.F}).reshape({1, 1}));
  Reals values(1000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 100) / 100;
  values.back() = 64;
  const NamedValues calls[] = {{{"x", column(values)}}};
  const auto most = [&](RangeMethod method, double percentile = 99.8) {
    quantize(path("f32.onnx"), path("i8.onnx"), calls,
             {.method = method, .percentile = percentile});
    return 255 * parameter(path("i8.onnx"), "x_scale");
  };
  EXPECT_FLOAT_EQ(most(RangeMethod::MinMax), 64);
  EXPECT_FLOAT_EQ(most(RangeMethod::Percentile, 100), 64);
  EXPECT_NEAR(most(RangeMethod::Percentile), 0.99, 64. / 2048);
  EXPECT_NEAR(most(RangeMethod::Percentile, 50), 0.5, 64. / 2048);
}

// Magnitudes by e^-x and one of 100: 256 of its 2048 bins, which are the fewest that it takes, hold all the others. The
// divergences were computed by numpy as well: 0.0005 there, 0.006 with the last.
TEST_F(OnnxQuantize, EntropyGivesUpWhatIsRareToo) {
  write_product(path("f32.onnx"), Tensor({1.F}).reshape({1, 1}));
  constexpr int count = 20000;
  Reals values;
  for (int i = 0; i < count; ++i)
    values.push_back(static_cast<float>(-std::log(1 - (i + 0.5) / count)));
  values.push_back(100);
  const NamedValues calls[] = {{{"x", column(values)}}};
  quantize(path("f32.onnx"), path("i8.onnx"), calls, {.method = RangeMethod::Entropy});
  EXPECT_NEAR(255 * parameter(path("i8.onnx"), "x_scale"), 12.5, 0.5);
}

// A step is 0 whatever their width is: that half of the values are, as behind a Relu, is no reason to cut off others.
TEST_F(OnnxQuantize, ZerosDoNotCountForEntropy) {
  write_product(path("f32.onnx"), Tensor({1.F}).reshape({1, 1}));
  Reals values(8192);
  for (std::size_t i = 1; i <= 4096; ++i) values[i] = static_cast<float>(i) / 4096;
  const NamedValues calls[] = {{{"x", column(values)}}};
  quantize(path("f32.onnx"), path("i8.onnx"), calls, {.method = RangeMethod::Entropy});
  EXPECT_NEAR(255 * parameter(path("i8.onnx"), "x_scale"), 1, 1. / 128);
}

// All bins alike: what is cut off would have to be elsewhere.
TEST_F(OnnxQuantize, WhatIsEverywhereIsKept) {
  write_product(path("f32.onnx"), Tensor({1.F}).reshape({1, 1}));
  Reals values(4097);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 2048 - 1;
  const NamedValues calls[] = {{{"x", column(values)}}};
  quantize(path("f32.onnx"), path("i8.onnx"), calls, {.method = RangeMethod::Entropy});
  EXPECT_NEAR(255 * parameter(path("i8.onnx"), "x_scale"), 2, 2. / 128);
}

TEST_F(OnnxQuantize, ChannelsOfOtherMagnitudesHaveStepsOfTheirOwn) {
  write_product(path("f32.onnx"), Tensor({100.F, 0.25F}).reshape({1, 2}));
  const NamedValues calls[] = {{{"x", column({0, 1})}}};
  for (const bool by_channel : {false, true}) {
    quantize(path("f32.onnx"), path("i8.onnx"), calls, {.per_channel = by_channel});
    const auto found =
        Model::load(path("i8.onnx"))({{"x", column({1})}}).at("y").tensor().to_vector<float>();
    EXPECT_NEAR(found.at(0), 100, 1e-4);
    EXPECT_NEAR(found.at(1), by_channel ? 0.25 : 0, 1e-6);
  }
}

TEST_F(OnnxQuantize, WeightsAreNumbers) {
  write_product(path("f32.onnx"), Tensor({1.F, NAN}).reshape({1, 2}));
  const NamedValues calls[] = {{{"x", column({0, 1})}}};
  EXPECT_THROW(quantize(path("f32.onnx"), path("i8.onnx"), calls), Error);
}

// Scales in a file beside the model are not known to be the same.
TEST_F(OnnxQuantize, ScalesOfOtherFilesAreTheirOwn) {
  Writer net("steps", 17);
  const Tensor zero = Tensor(std::vector<std::uint8_t>{0}).reshape({});
  const std::string x = net.input("x", Type::U8, {3});
  const std::string from = net.constant("from", Tensor({1.F}).reshape({})),
                    to = net.constant("to", Tensor({2.F}).reshape({})),
                    none = net.constant("none", zero);
  const std::string real = net.node("DequantizeLinear", {x, from, none});
  net.output("y", net.node("QuantizeLinear", {real, to, none}));
  net.save(path("steps.onnx"), {.external_bytes = 1});
  const Tensor given = Tensor(std::vector<std::uint8_t>{2, 4, 100});
  const Tensor found = Model::load(path("steps.onnx"))({{"x", given}}).at("y").tensor();
  EXPECT_EQ(found.to_vector<float>(), (Reals{1, 2, 50}));
}

// It is added as floats.
TEST_F(OnnxQuantize, OneBiasForAllChannels) {
  Writer net("sums", 17);
  const std::string x = net.input("x", Type::F32, {"rows", 1});
  const std::string w = net.constant("w", Tensor({1.F, -2.F}).reshape({1, 2})),
                    b = net.constant("b", Tensor({10.F}));
  net.output("y", net.node("Gemm", {x, w, b}));
  net.save(path("f32.onnx"));
  const NamedValues calls[] = {{{"x", column({0, 1})}}};
  EXPECT_EQ(quantize(path("f32.onnx"), path("i8.onnx"), calls, {.per_channel = true}).products, 1U);
  const auto found =
      Model::load(path("i8.onnx"))({{"x", column({1})}}).at("y").tensor().to_vector<float>();
  EXPECT_NEAR(found.at(0), 11, 1e-5);
  EXPECT_NEAR(found.at(1), 8, 1e-5);
}

TEST_F(OnnxQuantize, WhatIsExcludedStays) {
  const Tensor weights = Tensor({0.123F}).reshape({1, 1});
  write_product(path("f32.onnx"), weights);
  const NamedValues calls[] = {{{"x", column({0, 1})}}};
  const Quantized done =
      quantize(path("f32.onnx"), path("same.onnx"), calls, {.exclude = {"product"}});
  EXPECT_EQ(done.products, 0U);
  EXPECT_EQ(done.others, 1U);
  EXPECT_EQ(parameter(path("same.onnx"), "w"), 0.123F);
  EXPECT_THROW(quantize(path("f32.onnx"), path("no.onnx"), calls, {.exclude = {"sum"}}), Error);
  EXPECT_THROW(quantize(path("f32.onnx"), path("no.onnx"), {}), Error);
}

// --- A network: sums, maps of channels of their own, pools, and a product at the end ---------------------

Tensor seeded(const Shape& shape, double scale) { return (Tensor::randn(shape) * scale).realize(); }

void write_network(const std::string& path) {
  Tensor::manual_seed(5);
  Writer net("network", 17);
  const auto conv = [&](const std::string& x, const std::string& name, std::int64_t outputs,
                        std::int64_t depth, std::int64_t groups) {
    const double scale = 1 / std::sqrt(9. * double(depth));
    const std::string w = net.constant(name + "_w", seeded({outputs, depth, 3, 3}, scale)),
                      b = net.constant(name + "_b", seeded({outputs}, 0.1));
    return net.node("Conv", {x, w, b}, {{"pads", {1, 1, 1, 1}}, {"group", groups}});
  };
  const std::string x = net.input("x", Type::F32, {1, 3, 8, 8});
  const std::string first = net.node("Relu", {conv(x, "first", 8, 3, 1)});
  const std::string second = conv(first, "second", 8, 8, 1);
  const std::string sum = net.node("Relu", {net.node("Add", {first, second})});
  const std::string own =
      net.node("Clip", {conv(sum, "own", 8, 1, 8), net.constant("least", Tensor({0.F}).reshape({})),
                        net.constant("most", Tensor({6.F}).reshape({}))});
  const std::string pooled =
      net.node("MaxPool", {own}, {{"kernel_shape", {2, 2}}, {"strides", {2, 2}}});
  const std::string all = net.node("Concat", {pooled, pooled}, {{"axis", 1}});
  const std::string flat = net.node("Flatten", {net.node("GlobalAveragePool", {all})});
  net.output("y", net.node("Gemm",
                           {flat, net.constant("w", seeded({5, 16}, 0.25)),
                            net.constant("b", seeded({5}, 0.1))},
                           {{"transB", 1}}));
  net.save(path);
}

// Noise below the values, as decibels.
double ratio(const Reals& expected, const Reals& found) {
  double power = 0, noise = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    power += double(expected[i]) * double(expected[i]);
    noise += std::pow(double(expected[i]) - double(found.at(i)), 2);
  }
  return 10 * std::log10(power / noise);
}

TEST_F(OnnxQuantize, ANetworkComputesNearlyTheSame) {
  write_network(path("f32.onnx"));
  std::vector<NamedValues> calls;
  for (int i = 0; i < 4; ++i) calls.push_back({{"x", seeded({1, 3, 8, 8}, 1)}});
  const auto scores = [&](const std::string& name) {
    Reals all;
    const Model model = Model::load(path(name));
    for (const NamedValues& call : calls) {
      const Reals one = model(call).at("y").tensor().to_vector<float>();
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  };
  const Reals expected = scores("f32.onnx");
  for (const bool by_channel : {false, true}) {
    const QuantizeOptions options{.per_channel = by_channel};
    const Quantized done = quantize(path("f32.onnx"), path("i8.onnx"), calls, options);
    EXPECT_EQ(done.products, 4U);
    EXPECT_GT(ratio(expected, scores("i8.onnx")), 25);
    for (const RangeMethod method : {RangeMethod::Percentile, RangeMethod::Entropy}) {
      quantize(path("f32.onnx"), path("less.onnx"), calls,
               {.method = method, .per_channel = by_channel});
      EXPECT_GT(ratio(expected, scores("less.onnx")), 15);
    }
    EXPECT_EQ(quantize_dynamically(path("f32.onnx"), path("dynamic.onnx"), options).products, 4U);
    EXPECT_GT(ratio(expected, scores("dynamic.onnx")), 25);
  }
}

// --- Digits -------------------------------------------------------------------------------------------------

Tensor in_floats(const Tensor& images) { return (images.to_float() / 255).realize(); }

// The share of the images that a model reads right.
double accuracy(const Model& model, const LabelledImages& images) {
  double right = 0;
  DataLoader loader({images.images, images.labels}, {.batch_size = 100});
  for (const std::vector<Tensor>& batch : loader) {
    const Tensor scores = model({{"image", in_floats(batch[0])}}).at("probabilities").tensor();
    right += (scores.argmax(1) == batch[1]).sum().item<double>();
  }
  return right / static_cast<double>(images.images.size(0));
}

// Of 10,000 images that neither training nor calibration has seen.
TEST_F(OnnxQuantize, AsManyDigitsAreReadRight) {
  constexpr double least = 0.99, most_lost = 0.003;
  const std::string folder = std::string(WEFT_SHARED_DATA) + "/mnist";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "there is no " << folder;
  const DataSet data = load_mnist(folder);
  std::vector<NamedValues> calls;
  for (std::int64_t i = 0; i < 256; i += 64)
    calls.push_back({{"image", in_floats(data.train.images[{Slice{i, i + 64}}])}});
  const std::string from = std::string(WEFT_MODELS) + "/digits.onnx";
  const double before = accuracy(Model::load(from), data.test);
  EXPECT_GT(before, least);
  for (const RangeMethod method : {RangeMethod::MinMax, RangeMethod::Percentile}) {
    const Quantized done =
        quantize(from, path("i8.onnx"), calls, {.method = method, .per_channel = true});
    EXPECT_EQ(done.others, 0U);
    EXPECT_GT(accuracy(Model::load(path("i8.onnx")), data.test), before - most_lost);
  }
  EXPECT_GT(accuracy(Model::load(from, {.precision = Precision::I8}), data.test),
            before - most_lost);
}

// The digits that are shipped, read by integers.
TEST_F(OnnxQuantize, DigitsAreReadAsBefore) {
  const std::string models = WEFT_MODELS, from = models + "/digits.onnx";
  std::vector<NamedValues> calls;
  for (int digit = 0; digit < 10; ++digit) {
    const Tensor image = load_image(models + "/" + std::to_string(digit) + ".png", 1);
    const Tensor pixels = image.to_float().permute({2, 0, 1}).unsqueeze(0);
    calls.push_back(
        {{"image", (pixels.interpolate({28, 28}, {.antialias = true}) / 255).realize()}});
  }
  for (const RangeMethod method : {RangeMethod::MinMax, RangeMethod::Percentile}) {
    quantize(from, path("digits.onnx"), calls, {.method = method, .per_channel = true});
    const Model model = Model::load(path("digits.onnx"));
    for (std::size_t digit = 0; digit < 10; ++digit) {
      const auto scores = model(calls[digit]).at("probabilities").tensor().to_vector<float>();
      EXPECT_GT(scores.at(digit), 0.9F) << digit;
    }
  }
}

}  // namespace
}  // namespace weft::onnx
