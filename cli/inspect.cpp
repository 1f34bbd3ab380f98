#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/dev/codegen/actions.h>
#include <weft/dev/device/device.h>
#include <weft/dev/ir/graph.h>
#include <weft/error.h>

#include "commands.h"
#include "input.h"
#include "json.h"
#include "kernel_text.h"
#include "model_inputs.h"

namespace weft::cli {
namespace {

using onnx::Model;
using onnx::OpUse;
using onnx::Port;

// What there is to say of a model.
struct Inspected {
  std::vector<OpUse> ops;
  std::size_t tensors = 0, elements = 0, bytes = 0;  // of initialisers
  std::vector<std::string> open;                     // inputs whose sizes are taken as 1
  std::optional<onnx::CallCost> cost;
  std::string missing;  // why there is none
};

std::string name_of(const OpUse& use) {
  return fmt::format("{}{}{}", use.domain, use.domain.empty() ? "" : ".", use.name);
}

void find_cost(const Model& model, Inspected& found) {
  std::vector<std::string> unsupported;
  for (const OpUse& use : found.ops)
    if (!use.is_supported) unsupported.push_back(name_of(use));
  if (!unsupported.empty()) {
    found.missing = fmt::format("operators are not supported: {}", fmt::join(unsupported, ", "));
    return;
  }
  try {
    found.cost = model.cost(model_inputs(model, {}, {}));
  } catch (const Error& error) {
    found.missing = error.what();
  }
}

Inspected inspect(const Model& model) {
  Inspected found;
  found.ops = model.ops();
  found.open = open_inputs(model);
  find_cost(model, found);  // before anybody is given its constants, which are none from then on
  for (const auto& [name, tensor] : model.parameters()) {
    ++found.tensors;
    found.elements += static_cast<std::size_t>(tensor.numel());
    found.bytes += tensor.nbytes();
  }
  return found;
}

std::string bytes_of(std::size_t bytes) { return bytes_text(static_cast<double>(bytes)); }

void print_ports(const char* title, const std::vector<Port>& ports) {
  fmt::print("{}\n", title);
  for (const Port& port : ports) fmt::print("  {:<28} {}\n", port.name, port_text(port));
}

void print_cost(const Inspected& found) {
  if (!found.open.empty())
    fmt::print("sizes that the file leaves open are 1 (--shape sets them) in {}\n",
               fmt::join(found.open, ", "));
  if (!found.cost) {
    fmt::print("the cost of a call is unknown: {}\n", found.missing);
    return;
  }
  const RunCost& run = found.cost->run;
  fmt::print("cost of a call\n  {}, {:.6g} Mflop, {} read and written\n",
             count_text(run.kernels, "kernel"), run.flops / 1e6, bytes_text(run.bytes));
  fmt::print("  peak memory {}: {} for the outputs, {} between kernels\n",
             bytes_of(run.peak_bytes()), bytes_of(run.result_bytes), bytes_of(run.own_bytes));
  if (found.cost->depends_on_values)
    fmt::print("  plus kernels whose values decide what to compute\n");
  fmt::print("kernels\n");
  for (const ScheduleItem& item : found.cost->kernels)
    fmt::print("  {:<48} {:<8} {:10.4g} Mflop {:>10}\n", item.name, item.device,
               item.work.flops / 1e6, bytes_text(item.work.bytes));
}

// --- Orders of dimensions ----------------------------------------------------------------------------

// A read of a constant that is kept in the order of its kernel's loops.
struct KeptRead {
  std::string kernel, read, of, schedule;
};

std::vector<KeptRead> kept_reads(const onnx::CallCost& cost) {
  std::vector<KeptRead> found;
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  for (const ScheduleItem& item : cost.kernels) {
    if (item.kernel.is_null()) continue;
    const StructuralHash hash = structural_hash(nodes_of({&item.kernel, 1}));
    if (!seen.emplace(hash.high, hash.low).second) continue;
    const KernelText text = describe(item.kernel, "", find_device(item.device));
    for (const Action& action : parse_schedule(text.schedule)) {
      if (action.type != Action::Stage || action.space != Space::Constant) continue;
      const std::size_t at = text.reads.find(action.name + ": ") + action.name.size() + 2;
      found.push_back({.kernel = item.name,
                       .read = action.name,
                       .of = text.reads.substr(at, text.reads.find(',', at) - at),
                       .schedule = text.schedule});
    }
  }
  return found;
}

void print_layouts(const Inspected& found) {
  if (!found.cost) return;
  fmt::print(
      "buffers in another layout than the file's: kernel that writes the buffer, shape, order of "
      "dimensions, estimated time of the kernels that access it, the same in the file's layout\n");
  for (const TurnedMemory& each : found.cost->run.turned)
    fmt::print("  {:<32} {:<20} {:<12} {:9.4f} ms {:9.4f} ms\n", each.kernel,
               fmt::format("{}", fmt::join(each.sizes, "x")),
               fmt::format("{}", fmt::join(each.order, " ")), each.seconds * 1e3,
               each.seconds_as_made * 1e3);
  fmt::print("prepacked constants: kernel, read, type and shape, schedule\n");
  for (const KeptRead& each : kept_reads(*found.cost))
    fmt::print("  {:<32} {:<5} {:<28} {}\n", each.kernel, each.read, each.of, each.schedule);
}

void print_text(const Model& model, const Inspected& found) {
  print_ports("inputs", model.inputs());
  print_ports("outputs", model.outputs());
  fmt::print("operators\n");
  for (const OpUse& use : found.ops)
    fmt::print("  {:<28} {:>5} of opset {}{}\n", name_of(use), use.nodes, use.opset,
               use.is_supported ? "" : "  NOT SUPPORTED");
  fmt::print("initialisers\n  {} of {}, {}\n", count_text(found.tensors, "tensor"),
             count_text(found.elements, "element"), bytes_of(found.bytes));
  print_cost(found);
}

// --- As JSON ------------------------------------------------------------------------------------------

std::string json_of(const Port& port) {
  std::vector<std::string> shape;
  for (const auto& size : port.shape) {
    const auto* name = std::get_if<std::string>(&size);
    if (name == nullptr)
      shape.push_back(fmt::to_string(std::get<std::int64_t>(size)));
    else
      shape.push_back(name->empty() ? "null" : json_text(*name));
  }
  return json_object({{"name", json_text(port.name)},
                      {"kind", json_text(port.kind)},
                      {"type", json_text(onnx::name_of(port.type))},
                      {"shape", port.has_shape ? json_list(shape) : "null"}});
}

std::string json_of(const OpUse& use) {
  return json_object({{"domain", json_text(use.domain)},
                      {"name", json_text(use.name)},
                      {"opset", fmt::to_string(use.opset)},
                      {"nodes", fmt::to_string(use.nodes)},
                      {"supported", use.is_supported ? "true" : "false"}});
}

std::string json_of(const ScheduleItem& item) {
  return json_object({{"name", json_text(item.name)},
                      {"device", json_text(item.device)},
                      {"flops", json_number(item.work.flops)},
                      {"bytes", json_number(item.work.bytes)}});
}

template <class T>
std::string json_numbers(const std::vector<T>& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ","));
}

std::string json_of(const TurnedMemory& each) {
  return json_object({{"kernel", json_text(each.kernel)},
                      {"shape", json_numbers(each.sizes)},
                      {"order", json_numbers(each.order)},
                      {"seconds", json_number(each.seconds)},
                      {"seconds_as_made", json_number(each.seconds_as_made)}});
}

std::string json_of(const KeptRead& each) {
  return json_object({{"kernel", json_text(each.kernel)},
                      {"read", json_text(each.read)},
                      {"of", json_text(each.of)},
                      {"schedule", json_text(each.schedule)}});
}

template <class T>
std::string json_all(const std::vector<T>& all) {
  std::vector<std::string> texts;
  for (const T& each : all) texts.push_back(json_of(each));
  return json_list(texts);
}

std::string json_of(const onnx::CallCost& cost, bool with_layouts) {
  return json_object({{"kernels", json_all(cost.kernels)},
                      {"flops", json_number(cost.run.flops)},
                      {"bytes", json_number(cost.run.bytes)},
                      {"result_bytes", fmt::to_string(cost.run.result_bytes)},
                      {"own_bytes", fmt::to_string(cost.run.own_bytes)},
                      {"least_bytes", fmt::to_string(cost.run.least_bytes)},
                      {"peak_bytes", fmt::to_string(cost.run.peak_bytes())},
                      {"turned", json_all(cost.run.turned)},
                      {"kept", with_layouts ? json_all(kept_reads(cost)) : "null"},
                      {"depends_on_values", cost.depends_on_values ? "true" : "false"}});
}

void print_json(const Model& model, const Inspected& found, bool with_layouts) {
  std::vector<std::string> open;
  for (const std::string& name : found.open) open.push_back(json_text(name));
  const std::string parameters = json_object({{"tensors", fmt::to_string(found.tensors)},
                                              {"elements", fmt::to_string(found.elements)},
                                              {"bytes", fmt::to_string(found.bytes)}});
  const std::string call = found.cost ? json_of(*found.cost, with_layouts) : "null";
  fmt::print("{}\n", json_object({{"inputs", json_all(model.inputs())},
                                  {"outputs", json_all(model.outputs())},
                                  {"operators", json_all(found.ops)},
                                  {"parameters", parameters},
                                  {"sizes_taken_as_1", json_list(open)},
                                  {"call", call},
                                  {"missing", found.cost ? "null" : json_text(found.missing)}}));
}

}  // namespace

void run_inspect(const InspectOptions& options) {
  const Model model = load_model(options.model);
  const Inspected found = inspect(model);
  if (options.json)
    print_json(model, found, options.layouts);
  else
    print_text(model, found);
  if (options.layouts && !options.json) print_layouts(found);
  flush_output();
}

}  // namespace weft::cli
