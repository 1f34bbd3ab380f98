#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/data.h>
#include <weft/error.h>
#include <weft/settings.h>

#include "commands.h"
#include "input.h"
#include "json.h"
#include "model_inputs.h"
#include "model_outputs.h"
#include "precision.h"
#include "times.h"

namespace weft::cli {
namespace {

// What was measured.
struct Measured {
  double load_ms = 0, first_ms = 0;
  Times times;                 // of runs; the first two calls are not among them
  std::size_t peak_bytes = 0;  // that the device was asked for
  onnx::CallCost cost;
  Outputs outputs;
};

std::vector<std::string> labels_of(const RunOptions& options) {
  std::vector<std::string> labels;
  if (options.labels.empty()) return labels;
  if (!std::filesystem::exists(options.labels))
    user_error(fmt::format("there is no file '{}'", options.labels));
  const std::string text = load_text(options.labels);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    if (line.ends_with('\r')) line.pop_back();
    labels.push_back(std::move(line));
    begin = end + 1;
  }
  return labels;
}

// Kernels that run by their graphs print what they take.
void profile(const onnx::Model& model, const onnx::NamedValues& inputs) {
  const Context told{{"DEBUG", 2}, {"JIT", 0}};
  model(inputs);
}

// The first one. Not every model can do with the sizes of what is made up.
onnx::NamedValues call(const onnx::Model& model, const onnx::NamedValues& inputs,
                       const RunOptions& options) {
  try {
    return model(inputs);
  } catch (const Error& error) {
    std::vector<std::string> open = open_inputs(model);
    std::erase_if(open,
                  [&](const std::string& name) { return options.model.inputs.contains(name); });
    if (open.empty()) throw;
    throw Error(
        fmt::format("{}\nSizes that the file leaves open are 1 in generated inputs: "
                    "--shape NAME=SIZES sets those of {}",
                    error.what(), fmt::join(open, ", ")));
  }
}

Measured measure(const RunOptions& options) {
  Measured measured;
  const ModelOptions chosen = with_choice(options.model, options.images);
  Clock::time_point start = Clock::now();
  const onnx::Model model = load_model(chosen);
  measured.load_ms = ms_since(start);
  Device& device = find_device(default_device());
  const auto new_inputs = [&] { return model_inputs(model, options.model.inputs, options.images); };
  onnx::NamedValues inputs = new_inputs();
  device.forget_peak();
  start = Clock::now();
  onnx::NamedValues values = call(model, inputs, options);
  measured.first_ms = ms_since(start);
  if (options.runs > 0) values = model(inputs);
  std::vector<double> runs_ms;
  for (int i = 0; i < options.runs; ++i) {
    start = Clock::now();
    values = model(inputs);
    runs_ms.push_back(ms_since(start));
  }
  measured.peak_bytes = device.memory_use().peak;
  measured.times = Times(std::move(runs_ms));
  inputs = new_inputs();  // what is held of those from before would not be computed again
  measured.cost = model.cost(inputs);
  measured.outputs = outputs_of(model, values);
  if (options.profile) profile(model, inputs);
  return measured;
}

void print_text(const Measured& measured, const std::vector<Score>& best) {
  for (const auto& [name, value] : measured.outputs) fmt::print("{}\n", line_of(name, value));
  for (const Score& score : best)
    fmt::print("{:>8}  {:.6g}{}{}\n", score.place, score.value, score.label.empty() ? "" : "  ",
               score.label);
  fmt::print("loaded in {:.3g} ms, first run {:.3g} ms", measured.load_ms, measured.first_ms);
  if (const Times& times = measured.times; times.size() > 0)
    fmt::print(", then {}: best {:.3g} ms, median {:.3g} ms, 90th percentile {:.3g} ms",
               count_text(times.size(), "run"), times.ms(0), times.ms(0.5), times.ms(0.9));
  fmt::print(
      "\n{}{}, peak memory {} on {}\n", count_text(measured.cost.run.kernels, "kernel"),
      measured.cost.depends_on_values ? " plus those whose values decide what to compute" : "",
      bytes_text(static_cast<double>(measured.peak_bytes)), std::string(default_device()));
}

std::string score_json(const Score& score) {
  return json_object({{"class", fmt::to_string(score.place)},
                      {"score", json_number(score.value)},
                      {"label", score.label.empty() ? "null" : json_text(score.label)}});
}

void print_json(const Measured& measured, const std::vector<Score>& best) {
  std::vector<std::string> outputs, scores;
  for (const auto& [name, value] : measured.outputs) outputs.push_back(json_of(name, value));
  for (const Score& score : best) scores.push_back(score_json(score));
  auto members = json_members(measured.times);
  members.insert(members.end(),
                 {{"kernels", fmt::to_string(measured.cost.run.kernels)},
                  {"depends_on_values", measured.cost.depends_on_values ? "true" : "false"},
                  {"peak_bytes", fmt::to_string(measured.peak_bytes)},
                  {"load_ms", json_number(measured.load_ms)},
                  {"first_ms", json_number(measured.first_ms)},
                  {"top_k", json_list(scores)},
                  {"outputs", json_list(outputs)}});
  fmt::print("{}\n", json_object(members));
}

}  // namespace

void run_run(const RunOptions& options) {
  const std::vector<std::string> labels = labels_of(options);
  const Measured measured = measure(options);
  if (!options.out.empty()) save_outputs(measured.outputs, options.out);
  std::vector<Score> best;
  if (options.top_k > 0) {
    if (measured.outputs.empty()) user_error("--top-k: the model has no outputs");
    best = best_of(measured.outputs[0].second, static_cast<std::size_t>(options.top_k), labels);
  }
  if (options.json)
    print_json(measured, best);
  else
    print_text(measured, best);
  flush_output();
}

}  // namespace weft::cli
