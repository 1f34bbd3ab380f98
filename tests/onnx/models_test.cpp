// Trained networks compute what onnxruntime does, or what lies beside them. They are read from where they are.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <weft/io.h>
#include <weft/onnx.h>

#include "trained.h"

namespace weft::onnx {
namespace {

namespace fs = std::filesystem;

constexpr double most_difference = 1e-3;  // of an output's largest value,
constexpr double small = 1e-3;            // or of this one where all are smaller

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

void expect_near(double value, double expected, double scale, const std::string& where) {
  EXPECT_NEAR(value, expected, most_difference * std::max(scale, small)) << where;
}

// A line of model_results.txt: the network, the output, its sizes, what is known of it.
void expect_known(const Tensor& output, const std::vector<std::string>& line) {
  constexpr std::size_t numbers = 3, samples = 16;
  ASSERT_EQ(output.shape(), sizes_of(line.at(2))) << line[1];
  const auto values = output.to_vector<double>();
  std::vector<double> known;
  for (std::size_t i = numbers; i < line.size(); ++i) known.push_back(std::stod(line[i]));
  const double scale = known.at(0), count = static_cast<double>(values.size());
  expect_near(largest(values), scale, scale, line[1] + ", the largest");
  expect_near(std::accumulate(values.begin(), values.end(), 0.0) / count, known.at(1), scale,
              line[1] + ", the mean");
  ASSERT_EQ(known.size() - 2, std::min(values.size(), samples));
  for (std::size_t i = 0; i + 2 < known.size(); ++i) {
    const std::size_t place = values.size() > samples ? i * (values.size() - 1) / (samples - 1) : i;
    expect_near(values[place], known[i + 2], scale, line[1] + " at " + std::to_string(place));
  }
}

void expect_all(const Tensor& output, const Tensor& expected, const std::string& name) {
  const auto values = output.to_vector<double>(), wanted = expected.to_vector<double>();
  ASSERT_EQ(values.size(), wanted.size()) << name;
  const double scale = largest(wanted);
  for (std::size_t i = 0; i < values.size(); ++i)
    expect_near(values[i], wanted[i], scale, name + " at " + std::to_string(i));
}

class OnnxModels : public testing::TestWithParam<Trained> {};

TEST_P(OnnxModels, ComputeWhatIsExpected) {
  const Trained& network = GetParam();
  if (!fs::exists(network.path())) GTEST_SKIP() << "there is no " << network.path();
  const Model model = Model::load(network.path().string(), {.device = "CPU"});
  const NamedValues outputs = model(network.inputs(model));
  const fs::path beside = network.path().parent_path() / "outputs.npz";
  if (fs::exists(beside)) {
    const auto expected = load_npz(beside.string());
    for (std::size_t i = 0; i < model.outputs().size(); ++i) {
      const Port& port = model.outputs()[i];
      expect_all(outputs.at(port.name).tensor(), array_of(expected, port, i), port.name);
    }
    return;
  }
  std::size_t compared = 0;
  for (const auto& line : lines_of("model_results.txt"))
    if (line.at(0) == network.name) {
      expect_known(outputs.at(line.at(1)).tensor(), line);
      ++compared;
    }
  EXPECT_EQ(compared, model.outputs().size());
}

std::string name_of(const testing::TestParamInfo<Trained>& network) {
  std::string name = network.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Trained, OnnxModels, testing::ValuesIn(networks()), name_of);

}  // namespace
}  // namespace weft::onnx
