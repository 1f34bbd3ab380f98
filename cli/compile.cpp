// A model as a library: which sizes, memory that lasts and entry points it has.

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

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
using onnx::Port;
using Shapes = CompileOptions::Shapes;

std::optional<std::int64_t> number_in(const std::string& text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return {};
  if (number < 1) user_error(fmt::format("'{}' is not a size", text));
  return number;
}

// The sizes of one entry point: those of one name are one.
class EntrySizes {
 public:
  EntrySizes(const CompileOptions& options, const Shapes& own)
      : options_(options), shapes_(options.shapes) {
    for (const auto& [input, sizes] : own) shapes_[input] = sizes;
  }

  Shape of(const Port& port) {
    const auto said = shapes_.find(port.name);
    std::vector<Dim> dims;
    if (said != shapes_.end()) {
      for (const std::string& size : said->second) dims.push_back(of(port, size));
      return dims;
    }
    if (!port.has_shape) refuse(port);
    for (const auto& size : port.shape) {
      const auto* number = std::get_if<std::int64_t>(&size);
      if (number != nullptr && *number <= 0) refuse(port);
      dims.push_back(number != nullptr ? Dim(*number) : of(port, std::get<std::string>(size)));
    }
    return dims;
  }

  // The names that were met.
  const std::map<std::string, Dim>& open() const { return open_; }

 private:
  [[noreturn]] static void refuse(const Port& port) {
    user_error(
        fmt::format("the sizes of input '{0}' are open: set them with --shape {0}=SIZES, or those "
                    "that have names with --size",
                    port.name));
  }

  Dim of(const Port& port, const std::string& name) {
    if (const auto number = number_in(name)) return *number;
    const auto known = open_.find(name);
    if (known != open_.end()) return known->second;
    const auto range = options_.sizes.find(name);
    if (range == options_.sizes.end()) {
      if (name.empty()) refuse(port);
      user_error(
          fmt::format("size '{1}' of input '{0}' is open: set it with --size {1}=N or "
                      "{1}=LEAST..MOST, or with --shape {0}=SIZES",
                      port.name, name));
    }
    const auto [least, most] = range->second;
    return open_.emplace(name, least == most ? Dim(most) : open_size(name, least, most))
        .first->second;
  }

  const CompileOptions& options_;
  Shapes shapes_;
  std::map<std::string, Dim> open_;
};

// Strings have no place in a struct of numbers.
void want_tensor(const std::string& what, const std::string& name, bool is_tensor) {
  if (!is_tensor) user_error(fmt::format("{} '{}' is not a tensor of numbers", what, name));
}

Tensor memory_for(const Shape& shape, DType dtype) {
  return Tensor::zeros(shape, {.dtype = dtype}).contiguous().realize();
}

class Entries {
 public:
  Entries(const Model& model, const CompileOptions& options) : model_(model), options_(options) {
    for (const auto& [input, output] : options.state) {
      want_port("input", input, model.inputs());
      want_port("output", output, model.outputs());
    }
  }

  ExportEntry entry(const CompileOptions::Entry& own) {
    for (const auto& [input, sizes] : own.shapes) want_port("input", input, model_.inputs());
    EntrySizes sizes(options_, own.shapes);
    ExportEntry entry{own.name, {}, {}};
    for (const Port& port : model_.inputs()) {
      if (port.kind == "optional") continue;
      want_tensor("input", port.name, port.kind == "tensor" && port.type != onnx::Type::String);
      const Shape shape = sizes.of(port);
      if (options_.state.contains(port.name))
        add_state(port, shape);
      else
        entry.inputs.emplace_back(port.name, memory_for(shape, onnx::dtype_of(port.type)));
    }
    for (const auto& [name, dim] : sizes.open()) met_.insert(name);
    entry.function = [this, inputs = entry.inputs](const std::vector<Tensor>& given) {
      return results(inputs, given);
    };
    return entry;
  }

  void want_all_sizes() const {
    for (const auto& [name, range] : options_.sizes)
      if (!met_.contains(name))
        user_error(fmt::format("--size: no input has an open size '{}'", name));
  }

  std::vector<NamedTensor> state() const { return {state_.begin(), state_.end()}; }

 private:
  static void want_port(const char* what, const std::string& name, const std::vector<Port>& ports) {
    if (std::ranges::find(ports, name, &Port::name) == ports.end())
      user_error(fmt::format("there is no {} '{}'", what, name));
  }

  void add_state(const Port& port, const Shape& shape) {
    if (std::ranges::any_of(shape.dims(), &Dim::is_symbolic))
      user_error(
          fmt::format("--state: sizes of '{}' are open, but state needs fixed sizes", port.name));
    const auto [known, is_new] = state_.try_emplace(port.name);
    if (is_new) known->second = memory_for(shape, onnx::dtype_of(port.type));
    const auto is_same = [](const Dim& a, const Dim& b) { return a.uop().is(b.uop()); };
    if (!std::ranges::equal(known->second.dims(), shape.dims(), is_same))
      user_error(fmt::format("--state: '{}' has different shapes in two entry points", port.name));
  }

  std::vector<NamedTensor> results(const std::vector<NamedTensor>& inputs,
                                   const std::vector<Tensor>& given) {
    // Values of before this call: a model gives on what it was given, whatever is assigned afterwards.
    std::map<std::string, Tensor> tensors;
    for (const auto& [input, tensor] : state_) tensors[input] = Tensor::from(tensor);
    for (std::size_t i = 0; i < given.size(); ++i) tensors[inputs[i].first] = given[i];
    NamedValues values;
    for (const Port& port : model_.inputs())
      if (const auto found = tensors.find(port.name); found != tensors.end())
        values.emplace(port.name, value_of(port, found->second));
    const Outputs outputs = outputs_of(model_, model_(values));
    std::vector<NamedTensor> results;
    for (const auto& [name, value] : outputs) {
      want_tensor("output", name, value.is_tensor());
      results.emplace_back(name, value.tensor());
    }
    std::set<std::string> kept;
    for (auto& [input, tensor] : state_) {
      const std::string& output = options_.state.at(input);
      const Tensor& next = std::ranges::find(results, output, &NamedTensor::first)->second;
      want_same(input, tensor, output, next);
      tensor.assign(next);
      kept.insert(output);
    }
    std::erase_if(results, [&](const NamedTensor& each) { return kept.contains(each.first); });
    return results;
  }

  static void want_same(const std::string& input, const Tensor& state, const std::string& output,
                        const Tensor& next) {
    const auto text = [](const Tensor& tensor) {
      return fmt::format("{}[{}]", tensor.dtype().str(), fmt::join(tensor.max_shape(), ", "));
    };
    const bool is_open = std::ranges::any_of(next.dims(), &Dim::is_symbolic);
    if (state.dtype() != next.dtype() || (!is_open && state.shape() != next.shape()))
      user_error(fmt::format("--state: '{}' is {}, but '{}' is {}", input, text(state), output,
                             text(next)));
  }

  static onnx::Value value_of(const Port& port, const Tensor& tensor) {
    const onnx::Value plain(tensor);
    return plain.type() == port.type ? plain : onnx::Value(tensor, port.type);
  }

  const Model& model_;
  const CompileOptions& options_;
  std::map<std::string, Tensor> state_;
  std::set<std::string> met_;  // sizes of inputs
};

// Of the inputs whose sizes are said here, the file's say nothing.
Model open_model(const CompileOptions& options) {
  ModelOptions model = options.model;
  model.device = export_device(options.library.target);
  const auto leave_open = [&](const Shapes& shapes) {
    for (const auto& [input, sizes] : shapes)
      model.shapes[input] = std::vector<std::int64_t>(sizes.size(), -1);
  };
  leave_open(options.shapes);
  for (const CompileOptions::Entry& entry : options.entries) leave_open(entry.shapes);
  return load_model(model);
}

void tune_first(const CompileOptions& options) {
  if (options.library.target != "cpu=native")
    user_error("--tune: schedules are timed on this processor, so the target must be cpu=native");
  if (!options.entries.empty()) user_error("--tune cannot be combined with --entry");
  TuneModelOptions tuning{.model = options.model, .seconds = options.tune_seconds};
  tuning.model.device = export_device(options.library.target);
  for (const auto& [input, sizes] : options.shapes)
    for (const std::string& size : sizes) {
      const auto named = options.sizes.find(size);
      const auto number =
          number_in(named == options.sizes.end() ? size : fmt::to_string(named->second.second));
      if (!number || (named != options.sizes.end() && named->second.first != *number))
        user_error(fmt::format("--tune: size '{}' must be fixed, but is open", size));
      tuning.model.shapes[input].push_back(*number);
    }
  search_schedules(tuning);
}

ExportReport exported(const CompileOptions& options) {
  if (options.tune_seconds > 0) tune_first(options);
  const Model model = open_model(options);
  Entries entries(model, options);
  std::vector<ExportEntry> all;
  for (const CompileOptions::Entry& each : options.entries) all.push_back(entries.entry(each));
  if (all.empty()) all.push_back(entries.entry({}));
  entries.want_all_sizes();
  ExportOptions library = options.library;
  library.state = entries.state();
  return export_c(all, options.folder, library);
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
                                    {"state_bytes", fmt::to_string(report.state_bytes)},
                                    {"files", json_list(files)}}));
  } else {
    const auto bytes = [](std::size_t count) { return bytes_text(static_cast<double>(count)); };
    fmt::print(
        "{}: {}, {} of weights, {} of workspace{}\n", fmt::join(report.files, ", "),
        count_text(report.calls, "kernel"), bytes(report.weights_bytes),
        bytes(report.workspace_bytes),
        report.state_bytes > 0 ? fmt::format(", {} of state", bytes(report.state_bytes)) : "");
  }
  flush_output();
}

}  // namespace weft::cli
