#include <fmt/format.h>
#include <weft/error.h>

#include "commands.h"
#include "input.h"
#include "json.h"
#include "kernel_text.h"
#include "model_inputs.h"

namespace weft::cli {
namespace {

void print_text(const KernelText& text) {
  fmt::print("{}\n  loops: {}\n  reads: {}\n  schedule: {}\n  model: {}\n\n{}\n", text.name,
             text.loops, text.reads, text.schedule,
             text.model ? text.model->str() : "no estimate for kernels of this form", text.source);
}

std::string json_of(const KernelText& text) {
  return json_object({{"name", json_text(text.name)},
                      {"loops", json_text(text.loops)},
                      {"reads", json_text(text.reads)},
                      {"schedule", json_text(text.schedule)},
                      {"model", text.model ? json_text(text.model->str()) : "null"},
                      {"source", json_text(text.source)}});
}

}  // namespace

void run_kernels(const KernelsOptions& options) {
  if (options.model.file.ends_with(".onnx")) {
    if (!options.device_model.empty()) user_error("--model is for kernels of IR text");
    return run_model_kernels(options);
  }
  Arena arena;
  const InternerScope scope(arena);
  use_device(options.model);
  Device& device = find_device(default_device());
  std::vector<std::string> all;
  for (const Graph& graph : read_graphs(options.model.file))
    for (const UOp& root : graph.roots) {
      if (root->op() != Op::Sink) continue;
      const KernelText text =
          options.device_model.empty()
              ? describe(root, options.schedule, device)
              : describe_for_model(root, options.schedule, options.device_model);
      all.push_back(json_of(text));
      if (!options.json) print_text(text);
    }
  if (all.empty()) user_error(fmt::format("{}: there is no kernel in it", options.model.file));
  if (options.json) fmt::print("{}\n", json_object({{"kernels", json_list(all)}}));
  flush_output();
}

}  // namespace weft::cli
