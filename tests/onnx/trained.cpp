#include "trained.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <numeric>
#include <span>
#include <sstream>

#include "../../bench/peers/input_values.h"

namespace weft::onnx {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) parts.push_back(part);
  return parts;
}

// As networks.py makes them.
Tensor made_up(const Port& port, const std::string& given, std::uint32_t number,
               const std::string& device) {
  const std::vector<std::string> parts = split(given, ':');
  std::vector<std::int64_t> sizes;
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
                            {.dtype = dtypes::f64, .device = device})
      .cast(dtype)
      .realize();
}

}  // namespace

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

std::vector<std::int64_t> sizes_of(const std::string& text) {
  std::vector<std::int64_t> sizes;
  if (text == "-") return sizes;
  for (const std::string& size : split(text, 'x')) sizes.push_back(std::stoll(size));
  return sizes;
}

Tensor array_of(const std::map<std::string, Tensor>& arrays, const Port& port, std::size_t number) {
  if (const auto found = arrays.find(port.name); found != arrays.end()) return found->second;
  for (const auto& [name, array] : arrays)
    if (name.ends_with("_" + std::to_string(number))) return array;
  return arrays.begin()->second;
}

fs::path Trained::path() const { return fs::path(WEFT_SHARED_DATA) / file; }

void PrintTo(const Trained& network, std::ostream* out) { *out << network.file; }

NamedValues Trained::inputs(const Model& model, const std::string& device) const {
  const fs::path beside = path().parent_path() / "inputs.npz";
  const bool has_own = fs::exists(beside);
  const auto own =
      has_own ? load_npz(beside.string(), {.device = device}) : std::map<std::string, Tensor>();
  NamedValues values;
  for (std::size_t i = 0; i < model.inputs().size(); ++i) {
    const Port& port = model.inputs()[i];
    const auto found = given.find(port.name);
    const std::string sizes = found == given.end() ? "" : found->second;
    values[port.name] = has_own ? array_of(own, port, i).cast(dtype_of(port.type))
                                : made_up(port, sizes, static_cast<std::uint32_t>(i), device);
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

}  // namespace weft::onnx
