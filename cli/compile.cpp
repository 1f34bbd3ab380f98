#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/error.h>
#include <weft/export.h>

#include "commands.h"
#include "input.h"
#include "json.h"
#include "model_inputs.h"
#include "model_outputs.h"

namespace weft::cli {
namespace {

using onnx::Model;
using onnx::NamedValues;

// Strings have no place in a struct of numbers.
std::vector<NamedTensor> tensors_of(const Outputs& outputs) {
  std::vector<NamedTensor> tensors;
  for (const auto& [name, value] : outputs) {
    if (!value.is_tensor()) user_error(fmt::format("output '{}' is no tensor of numbers", name));
    tensors.emplace_back(name, value.tensor());
  }
  return tensors;
}

void want_fixed_sizes(const Model& model) {
  const std::vector<std::string> open = open_inputs(model);
  if (!open.empty())
    user_error(fmt::format("a library has fixed sizes: --shape NAME=SIZES says those of {}",
                           fmt::join(open, ", ")));
}

ExportReport exported(const CompileOptions& options) {
  ModelOptions on_device = options.model;
  on_device.device = export_device(options.library.target);
  const Model model = load_model(on_device);
  want_fixed_sizes(model);
  const NamedValues given = model_inputs(model, {}, {});
  std::vector<NamedTensor> inputs;
  for (const onnx::Port& port : model.inputs())
    if (const onnx::Value& value = given.at(port.name); value.is_tensor())
      inputs.emplace_back(port.name, value.tensor());
  const auto call = [&](const std::vector<Tensor>& tensors) {
    NamedValues own = given;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      onnx::Value& value = own.at(inputs[i].first);
      value = onnx::Value(tensors[i], value.type());
    }
    return tensors_of(outputs_of(model, model(own)));
  };
  return export_c(call, inputs, options.folder, options.library);
}

}  // namespace

void run_compile(const CompileOptions& options) {
  const ExportReport report = exported(options);
  if (options.json) {
    std::vector<std::string> files;
    for (const std::string& file : report.files) files.push_back(json_text(file));
    fmt::print("{}\n", json_object({{"calls", fmt::to_string(report.calls)},
                                    {"weights_bytes", fmt::to_string(report.weights_bytes)},
                                    {"workspace_bytes", fmt::to_string(report.workspace_bytes)},
                                    {"files", json_list(files)}}));
  } else {
    fmt::print("{}: {}, {} of weights, {} of workspace\n", fmt::join(report.files, ", "),
               count_text(report.calls, "kernel"),
               bytes_text(static_cast<double>(report.weights_bytes)),
               bytes_text(static_cast<double>(report.workspace_bytes)));
  }
  flush_output();
}

}  // namespace weft::cli
