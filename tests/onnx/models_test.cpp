// Trained networks compute what onnxruntime does, or what lies beside them. They are read from where they are.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <ostream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <weft/io.h>
#include <weft/onnx.h>

#include "../../bench/peers/input_values.h"

namespace weft::onnx {
namespace {

namespace fs = std::filesystem;
using Sizes = std::vector<std::int64_t>;

constexpr double most_difference = 1e-3;  // of an output's largest value,
constexpr double small = 1e-3;            // or of this one where all are smaller

std::vector<std::vector<std::string>> lines_of(const std::string& file) {
  std::vector<std::vector<std::string>> lines;
  std::ifstream in(fs::path(WEFT_ONNX_TESTS) / file);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream words(line);
    lines.emplace_back(std::istream_iterator<std::string>(words),
                       std::istream_iterator<std::string>());
  }
  return lines;
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) parts.push_back(part);
  return parts;
}

Sizes sizes_of(const std::string& text) {
  Sizes sizes;
  if (text == "-") return sizes;
  for (const std::string& size : split(text, 'x')) sizes.push_back(std::stoll(size));
  return sizes;
}

// --- Inputs -----------------------------------------------------------------------------------------------

// As networks.py makes them.
Tensor made_up(const Port& port, const std::string& given, std::uint32_t number) {
  const std::vector<std::string> parts = split(given, ':');
  Sizes sizes;
  if (!parts.empty() && !parts[0].empty())
    sizes = sizes_of(parts[0]);
  else
    for (const auto& size : port.shape) sizes.push_back(std::get<std::int64_t>(size));
  const DType dtype = dtype_of(port.type);
  double least = dtype.is_float() ? -1 : 0, most = dtype.is_float() ? 1 : 9;
  if (parts.size() == 3) least = std::stod(parts[1]), most = std::stod(parts[2]);
  const std::int64_t count =
      std::accumulate(sizes.begin(), sizes.end(), std::int64_t(1), std::multiplies<>());
  std::vector<double> values;
  for (const float value : bench::input_values(static_cast<std::size_t>(count), number)) {
    const double share = (static_cast<double>(value) + 1) / 2;
    values.push_back(dtype.is_float() ? least + share * (most - least)
                                      : std::floor(least + share * (most - least + 1)));
  }
  return Tensor::from_bytes(std::as_bytes(std::span(values)), sizes,
                            {.dtype = dtypes::f64, .device = "CPU"})
      .cast(dtype)
      .realize();
}

// Of one port: the array of its name, else of its number, else the only one.
Tensor array_of(const std::map<std::string, Tensor>& arrays, const Port& port, std::size_t number) {
  if (const auto found = arrays.find(port.name); found != arrays.end()) return found->second;
  for (const auto& [name, array] : arrays)
    if (name.ends_with("_" + std::to_string(number))) return array;
  return arrays.begin()->second;
}

// --- The networks -------------------------------------------------------------------------------------------

struct Trained {
  std::string name, file;
  std::map<std::string, std::string> given;  // of inputs

  fs::path path() const { return fs::path(WEFT_SHARED_DATA) / file; }
  NamedValues inputs(const Model& model) const;
};

void PrintTo(const Trained& network, std::ostream* out) { *out << network.file; }

NamedValues Trained::inputs(const Model& model) const {
  const fs::path beside = path().parent_path() / "inputs.npz";
  const bool has_own = fs::exists(beside);
  const auto own =
      has_own ? load_npz(beside.string(), {.device = "CPU"}) : std::map<std::string, Tensor>();
  NamedValues values;
  for (std::size_t i = 0; i < model.inputs().size(); ++i) {
    const Port& port = model.inputs()[i];
    const auto found = given.find(port.name);
    const std::string sizes = found == given.end() ? "" : found->second;
    values[port.name] = has_own ? array_of(own, port, i).cast(dtype_of(port.type))
                                : made_up(port, sizes, static_cast<std::uint32_t>(i));
  }
  return values;
}

std::vector<Trained> networks() {
  std::vector<Trained> all;
  for (const auto& words : lines_of("models.txt")) {
    Trained network{words.at(0), words.at(1), {}};
    for (std::size_t i = 2; i < words.size(); ++i) {
      const std::size_t middle = words[i].find('=');
      network.given.emplace(words[i].substr(0, middle), words[i].substr(middle + 1));
    }
    all.push_back(std::move(network));
  }
  return all;
}

// --- Results --------------------------------------------------------------------------------------------------

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
