#include "model_outputs.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/dev/io/file.h>
#include <weft/error.h>
#include <weft/io.h>

#include "json.h"

namespace weft::cli {
namespace {

using onnx::Value;

constexpr std::size_t most_shown = 6;  // elements of an output

void add(const std::string& name, const Value& value, Outputs& outputs) {
  if (value.is_sequence()) {
    for (std::size_t i = 0; i < value.sequence().size(); ++i)
      add(fmt::format("{}[{}]", name, i), value.sequence()[i], outputs);
  } else if (value.is_map()) {
    for (const auto& [key, each] : value.map())
      std::visit([&, &part = each](
                     const auto& own) { add(fmt::format("{}[{}]", name, own), part, outputs); },
                 key);
  } else {
    outputs.emplace_back(name, value);
  }
}

// What is said of an output's elements.
struct Summary {
  std::vector<std::int64_t> shape;
  std::size_t elements = 0, nans = 0;
  double min = NAN, max = NAN, mean = NAN;  // of those that are numbers
  std::vector<double> first;
};

Summary summary_of(const Tensor& tensor) {
  Summary summary;
  summary.shape = tensor.shape();
  const auto values = tensor.to_vector<double>();
  summary.elements = values.size();
  double sum = 0;
  for (const double value : values) {
    if (std::isnan(value)) {
      ++summary.nans;
      continue;
    }
    summary.min = std::fmin(summary.min, value);
    summary.max = std::fmax(summary.max, value);
    sum += value;
  }
  if (summary.nans < values.size())
    summary.mean = sum / static_cast<double>(values.size() - summary.nans);
  const std::size_t shown = std::min(values.size(), most_shown);
  summary.first.assign(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(shown));
  return summary;
}

std::vector<std::string> first_texts(const onnx::Text& text) {
  std::vector<std::string> first;
  for (const std::string& each : text.values)
    if (first.size() < most_shown) first.push_back(json_text(each));
  return first;
}

std::string elements_text(const std::vector<std::string>& first, std::size_t elements) {
  return fmt::format("[{}{}]", fmt::join(first, ", "), elements > first.size() ? ", ..." : "");
}

std::string file_name(const std::string& output) {
  std::string name = output;
  for (char& c : name) {
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                          (c >= 'A' && c <= 'Z') || c == '-' || c == '.';
    if (!is_plain) c = '_';
  }
  return name.find_first_not_of('.') == name.npos ? "output" : name;
}

void save(const std::string& path, const Value& value) {
  if (value.is_text()) {
    std::string lines;
    for (const std::string& each : value.text().values) lines += each + "\n";
    write_file(path + ".txt", std::as_bytes(std::span(lines)));
  } else if (value.is_tensor()) {
    const Tensor tensor = value.tensor();
    const bool is_known = tensor.dtype() != dtypes::bf16 && !tensor.dtype().is_fp8();
    save_npy(path + ".npy", is_known ? tensor : tensor.cast(dtypes::f32));
  }
}

}  // namespace

Outputs outputs_of(const onnx::Model& model, const onnx::NamedValues& values) {
  Outputs outputs;
  for (const onnx::Port& port : model.outputs()) add(port.name, values.at(port.name), outputs);
  return outputs;
}

std::string line_of(const std::string& name, const Value& value) {
  if (value.is_text())
    return fmt::format("{}  {} ({})  {}", name, name_of(value.type()),
                       fmt::join(value.text().shape, ", "),
                       elements_text(first_texts(value.text()), value.text().values.size()));
  if (!value.is_tensor()) return fmt::format("{}  nothing", name);
  const Summary summary = summary_of(value.tensor());
  std::string line =
      fmt::format("{}  {} ({})", name, name_of(value.type()), fmt::join(summary.shape, ", "));
  if (summary.nans < summary.elements)
    line +=
        fmt::format("  min {:.6g} max {:.6g} mean {:.6g}", summary.min, summary.max, summary.mean);
  if (summary.nans > 0) line += fmt::format("  {} NaN", summary.nans);
  std::vector<std::string> first;
  for (const double element : summary.first) first.push_back(fmt::format("{:.6g}", element));
  return fmt::format("{}  {}", line, elements_text(first, summary.elements));
}

std::string json_of(const std::string& name, const Value& value) {
  std::vector<std::pair<std::string_view, std::string>> members = {
      {"name", json_text(name)}, {"type", json_text(name_of(value.type()))}};
  if (value.is_text()) {
    members.emplace_back("shape", fmt::format("[{}]", fmt::join(value.text().shape, ", ")));
    members.emplace_back("first", json_list(first_texts(value.text())));
  } else if (value.is_tensor()) {
    const Summary summary = summary_of(value.tensor());
    std::vector<std::string> first;
    for (const double element : summary.first) first.push_back(json_number(element));
    members.emplace_back("shape", fmt::format("[{}]", fmt::join(summary.shape, ", ")));
    members.emplace_back("min", json_number(summary.min));
    members.emplace_back("max", json_number(summary.max));
    members.emplace_back("mean", json_number(summary.mean));
    members.emplace_back("nans", fmt::to_string(summary.nans));
    members.emplace_back("first", json_list(first));
  }
  return json_object(members);
}

void save_outputs(const Outputs& outputs, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) user_error(fmt::format("the folder '{}' cannot be made: {}", folder, error.message()));
  std::set<std::string> taken;
  for (const auto& [name, value] : outputs) {
    std::string own = file_name(name);
    while (!taken.insert(own).second) own += "_";
    save((std::filesystem::path(folder) / own).string(), value);
  }
}

std::vector<Score> best_of(const Value& value, std::size_t count,
                           const std::vector<std::string>& labels) {
  if (!value.is_tensor() || value.tensor().numel() == 0)
    user_error("--top-k: the first output has no elements to choose from");
  Tensor row = value.tensor();
  while (row.ndim() > 1) row = row.select(0, 0);
  const auto scores = row.to_vector<double>();
  const auto above = [&](std::size_t a, std::size_t b) {  // NaN comes last
    if (std::isnan(scores[a]) || std::isnan(scores[b]))
      return !std::isnan(scores[a]) && std::isnan(scores[b]);
    return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
  };
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::ranges::sort(order, above);
  std::vector<Score> best;
  for (std::size_t i = 0; i < std::min(count, order.size()); ++i)
    best.push_back(
        {order[i], scores[order[i]], order[i] < labels.size() ? labels[order[i]] : std::string()});
  return best;
}

}  // namespace weft::cli
