#include "precision.h"

#include <span>

#include <fmt/format.h>
#include <weft/data.h>
#include <weft/dev/io/file.h>
#include <weft/dev/io/json.h>
#include <weft/error.h>

#include "input.h"
#include "json.h"
#include "model_inputs.h"
#include "samples.h"

namespace weft::cli {
namespace {

// A list of {"layer": NAME, "precision": TYPE}.
onnx::Precisions precisions_in(const std::string& file) {
  const InFile in{file};
  const Object all = parsed_json(load_text(file), in);
  onnx::Precisions result;
  for (const Object& each : all.as<Object::List>()) {
    const std::string& name = each.at("precision").as<std::string>();
    const auto precision = onnx::parse_precision(name);
    if (!precision) in.fail(fmt::format("there is no precision '{}'", name));
    result.insert_or_assign(each.at("layer").as<std::string>(), *precision);
  }
  return result;
}

void save(const onnx::Precisions& precisions, const std::string& file) {
  std::vector<std::string> rows;
  for (const auto& [layer, precision] : precisions)
    rows.push_back(
        json_object({{"layer", json_text(layer)}, {"precision", json_text(name_of(precision))}}));
  const std::string text = json_list(rows) + "\n";
  write_file(file, std::as_bytes(std::span(text)));
}

}  // namespace

onnx::Precisions stated_precisions(const PrecisionOptions& options) {
  onnx::Precisions result = options.layers;
  if (!options.file.empty()) result.merge(precisions_in(options.file));
  return result;
}

ModelOptions with_choice(const ModelOptions& options, const ImageOptions& images) {
  if (!options.precision.max_error) return options;
  ModelOptions result = options;
  result.precision = {.layers = stated_precisions(options.precision)};
  const onnx::Model model = load_model(result);
  onnx::PrecisionSearch search{.max_error = *options.precision.max_error};
  if (!options.precision.all.empty()) search.candidates = options.precision.all;
  const onnx::Precisions chosen = onnx::choose_precisions(
      options.file, model_calls(model, options, images), load_options(result), search);
  result.precision.layers.insert(chosen.begin(), chosen.end());
  fmt::print(stderr, "{} of {} in reduced precision\n", chosen.size(),
             count_text(model.layers().size(), "layer"));
  for (const auto& [layer, precision] : result.precision.layers)
    fmt::print(stderr, "  --precision {}={}\n", layer, name_of(precision));
  if (!options.precision.save.empty()) save(result.precision.layers, options.precision.save);
  return result;
}

}  // namespace weft::cli
