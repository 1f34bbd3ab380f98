// A model in cheaper numbers beside itself in f32.

#include <algorithm>

#include <fmt/format.h>

#include "commands.h"
#include "input.h"
#include "json.h"
#include "model_inputs.h"
#include "precision.h"
#include "samples.h"
#include "terminal.h"

namespace weft::cli {
namespace {

using onnx::Comparison;
using onnx::Difference;
using onnx::LayerComparison;

std::string text_of(const Difference& difference) {
  return fmt::format("{:9.2e} {:9.2e}", difference.largest, difference.rms);
}

void print_text(const Comparison& comparison) {
  const auto worst = std::ranges::max_element(
      comparison.layers, {}, [](const LayerComparison& row) { return row.alone.largest; });
  fmt::print("{:<5} {:>10}  {:<19}  {:<19}  layer\n", "type", "Mproducts", "alone: max      rms",
             "together: max   rms");
  for (auto row = comparison.layers.begin(); row != comparison.layers.end(); ++row) {
    const bool is_worst = row == worst && row->alone.largest > 0;
    const std::string name = fmt::format("{} ({})", row->layer.name, row->layer.op);
    fmt::print("{:<5} {:10.4g}  {}  {}  {}{}\n", name_of(row->layer.precision), row->products / 1e6,
               text_of(row->alone), text_of(row->together),
               colored(name, is_worst ? Color::Yellow : Color::Green),
               is_worst ? ", the worst" : "");
  }
  for (const auto& [name, difference] : comparison.outputs)
    fmt::print("{:<16}  {:<19}  {}  output {}\n", "", "", text_of(difference), name);
}

std::string json_of(const Difference& difference) {
  return json_object(
      {{"max", json_number(difference.largest)}, {"rms", json_number(difference.rms)}});
}

void print_json(const Comparison& comparison, std::size_t calls) {
  std::vector<std::string> layers, outputs;
  for (const LayerComparison& row : comparison.layers)
    layers.push_back(json_object({{"name", json_text(row.layer.name)},
                                  {"op", json_text(row.layer.op)},
                                  {"precision", json_text(name_of(row.layer.precision))},
                                  {"products", json_number(row.products)},
                                  {"alone", json_of(row.alone)},
                                  {"together", json_of(row.together)}}));
  for (const auto& [name, difference] : comparison.outputs)
    outputs.push_back(json_object({{"name", json_text(name)},
                                   {"max", json_number(difference.largest)},
                                   {"rms", json_number(difference.rms)}}));
  fmt::print("{}\n", json_object({{"layers", json_list(layers)},
                                  {"outputs", json_list(outputs)},
                                  {"max_error", json_number(comparison.error())},
                                  {"calls", fmt::to_string(calls)}}));
}

}  // namespace

void run_compare(const CompareOptions& options) {
  ModelOptions model = with_choice(options.model, options.images);
  const PrecisionOptions& asked = options.model.precision;
  if (!asked.max_error && asked.all.empty() && asked.layers.empty() && asked.file.empty())
    model.precision.all = {onnx::Precision::BF16};
  const std::vector<onnx::NamedValues> calls =
      model_calls(load_model(model), options.model, options.images);
  Comparison comparison = onnx::compare(model.file, calls, load_options(model));
  if (options.sort)
    std::ranges::sort(comparison.layers, std::ranges::greater(),
                      [](const LayerComparison& row) { return row.alone.largest; });
  if (options.json)
    print_json(comparison, calls.size());
  else
    print_text(comparison);
  flush_output();
}

}  // namespace weft::cli
