#include "onnx_cases.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/dev/onnx/load_value.h>
#include <weft/error.h>

namespace weft::cli {
namespace {

namespace fs = std::filesystem;
using onnx::Model;
using onnx::name_of;
using onnx::Port;
using onnx::Value;

bool is_light(const fs::path& file) {
  return file.filename().string().starts_with("light_") && file.extension() == ".onnx";
}

void add_cases(const fs::path& folder, std::vector<OnnxCase>& cases) {
  if (fs::exists(folder / "model.onnx")) {
    cases.push_back({folder.filename().string(), folder / "model.onnx"});
    return;
  }
  std::vector<fs::path> entries;
  for (const auto& entry : fs::directory_iterator(folder)) entries.push_back(entry.path());
  std::ranges::sort(entries);
  for (const fs::path& entry : entries)
    if (fs::is_directory(entry))
      add_cases(entry, cases);
    else if (is_light(entry))
      cases.push_back({entry.stem().string(), entry});
}

// --- What is different ----------------------------------------------------------------------------

// As numpy's assert_allclose.
bool is_near(double value, double expected, double rtol, double atol) {
  if (std::isnan(value) || std::isnan(expected)) return std::isnan(value) && std::isnan(expected);
  if (value == expected) return true;
  return std::abs(value - expected) <= atol + rtol * std::abs(expected);
}

// Empty where all is near.
std::string difference(const Tensor& value, const Tensor& expected,
                       const OnnxTestOptions& options) {
  if (value.shape() != expected.shape())
    return fmt::format("shape ({}) where ({}) is expected", fmt::join(value.shape(), ", "),
                       fmt::join(expected.shape(), ", "));
  const auto values = value.to_vector<double>(), wanted = expected.to_vector<double>();
  // Two neighbouring numbers of bf16 are further apart: the standard's own runner allows for that.
  const double rtol =
      expected.dtype() == dtypes::bf16 ? std::max(options.rtol, 1 / 64.) : options.rtol;
  std::size_t wrong = 0, first = 0;
  for (std::size_t i = values.size(); i-- > 0;)
    if (!is_near(values[i], wanted[i], rtol, options.atol)) ++wrong, first = i;
  if (wrong == 0) return {};
  return fmt::format("{} of {} elements differ, element {} is {} where {} is expected", wrong,
                     values.size(), first, values[first], wanted[first]);
}

std::string difference(const Value& value, const Value& expected, const OnnxTestOptions& options) {
  if (value.type() != expected.type())
    return fmt::format("{} where {} is expected", name_of(value.type()), name_of(expected.type()));
  if (expected.is_tensor()) return difference(value.tensor(), expected.tensor(), options);
  if (expected.is_text()) {
    const bool same = value.text().shape == expected.text().shape &&
                      value.text().values == expected.text().values;
    return same ? ""
                : fmt::format("\"{}\" where \"{}\" is expected",
                              fmt::join(value.text().values, "\", \""),
                              fmt::join(expected.text().values, "\", \""));
  }
  std::vector<std::pair<Value, Value>> pairs;
  if (expected.is_sequence()) {
    if (value.sequence().size() != expected.sequence().size())
      return fmt::format("a sequence of {} where {} are expected", value.sequence().size(),
                         expected.sequence().size());
    for (std::size_t i = 0; i < value.sequence().size(); ++i)
      pairs.emplace_back(value.sequence()[i], expected.sequence()[i]);
  } else if (expected.is_map()) {
    if (value.map().size() != expected.map().size()) return "a map of another size";
    for (const auto& [key, one] : expected.map()) {
      const auto found = value.map().find(key);
      if (found == value.map().end()) return "a map of other keys";
      pairs.emplace_back(found->second, one);
    }
  } else {
    return value.is_empty() ? "" : "something where nothing is expected";
  }
  for (const auto& [one, other] : pairs)
    if (std::string found = difference(one, other, options); !found.empty()) return found;
  return {};
}

// --- The data of a case -----------------------------------------------------------------------------

onnx::NamedValues inputs_of(const Model& model, const fs::path& folder) {
  onnx::NamedValues inputs;
  for (std::size_t i = 0; i < model.inputs().size(); ++i) {
    const Port& port = model.inputs()[i];
    const fs::path file = folder / fmt::format("input_{}.pb", i);
    if (fs::exists(file)) inputs.emplace(port.name, onnx::load_value(file.string(), port));
  }
  return inputs;
}

onnx::NamedValues ramps_of(const Model& model) {
  onnx::NamedValues inputs;
  for (const Port& port : model.inputs()) {
    std::vector<std::int64_t> shape;
    for (const auto& size : port.shape)
      shape.push_back(std::holds_alternative<std::string>(size) ? 1 : std::get<std::int64_t>(size));
    const Tensor like = Tensor::zeros(Shape(shape));
    const std::int64_t count = like.numel();
    inputs.emplace(port.name, (Tensor::arange(count).cast(dtypes::f32) / count).reshape(shape));
  }
  return inputs;
}

std::string difference(const Model& model, const onnx::NamedValues& inputs,
                       const std::string& outputs, const OnnxTestOptions& options) {
  const onnx::NamedValues values = model(inputs);
  for (std::size_t i = 0; i < model.outputs().size(); ++i) {
    const Port& port = model.outputs()[i];
    const std::string file = fmt::format("{}output_{}.pb", outputs, i);
    if (!fs::exists(file)) continue;
    const Value expected = onnx::load_value(file, port);
    if (std::string found = difference(values.at(port.name), expected, options); !found.empty())
      return fmt::format("output '{}': {}", port.name, found);
  }
  return {};
}

std::vector<fs::path> data_sets(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().filename().string().starts_with("test_data_set_"))
      found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

OnnxOutcome outcome_of(const OnnxCase& which, const OnnxTestOptions& options) {
  const Model model =
      Model::load(which.model.string(), {.device = options.device, .precision = options.precision});
  std::vector<std::string> missing;
  for (const onnx::OpUse& use : model.ops())
    if (!use.is_supported)
      missing.push_back(fmt::format("{}{}{} of opset {}", use.domain, use.domain.empty() ? "" : ".",
                                    use.name, use.opset));
  if (!missing.empty())
    return {OnnxOutcome::Unsupported, fmt::format("{}", fmt::join(missing, ", "))};
  std::string found;
  if (is_light(which.model)) {
    const fs::path stem = which.model.parent_path() / which.model.stem();
    found = difference(model, ramps_of(model), stem.string() + "_", options);
  } else {
    const auto sets = data_sets(which.model.parent_path());
    if (sets.empty()) found = "there are no data to compare with";
    for (const fs::path& set : sets)
      if (found.empty())
        found = difference(model, inputs_of(model, set), (set / "").string(), options);
  }
  return {found.empty() ? OnnxOutcome::Passed : OnnxOutcome::Failed, found};
}

}  // namespace

std::vector<OnnxCase> find_onnx_cases(const std::vector<std::string>& folders) {
  std::vector<OnnxCase> cases;
  for (const std::string& folder : folders) {
    if (!fs::is_directory(folder)) user_error(fmt::format("onnx-test: '{}' is no folder", folder));
    add_cases(fs::canonical(folder), cases);  // its last part is a name
  }
  return cases;
}

OnnxOutcome run_onnx_case(const OnnxCase& which, const OnnxTestOptions& options) {
  try {
    return outcome_of(which, options);
  } catch (const std::exception& error) {
    return {OnnxOutcome::Failed, error.what()};
  }
}

}  // namespace weft::cli
