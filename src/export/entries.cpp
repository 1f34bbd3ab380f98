#include "entries.h"

#include <algorithm>

#include <fmt/format.h>
#include <weft/dev/ir/graph.h>
#include <weft/error.h>

namespace weft {
namespace exported {
namespace {

// Variables that sizes of these tensors depend on.
std::vector<const Node*> variables_of(const std::vector<Dim>& dims) {
  std::vector<const Node*> variables;
  for (const Dim& dim : dims)
    for (const Node* node : toposort(dim.uop().node()))
      if (node->op() == Op::Variable && std::ranges::find(variables, node) == variables.end())
        variables.push_back(node);
  return variables;
}

std::vector<Tensor> tensors_of(const std::vector<NamedTensor>& named) {
  std::vector<Tensor> tensors;
  for (const auto& [name, tensor] : named) tensors.push_back(tensor);
  return tensors;
}

}  // namespace

void run_first(const ExportEntry& entry, FirstRuns& first) {
  first.run([&](const std::vector<Tensor>& given) { return tensors_of(entry.function(given)); },
            tensors_of(entry.inputs));
}

RecordedEntry::RecordedEntry(const ExportEntry& entry, const FirstRuns& first,
                             const std::string& device) {
  entry_.name = entry.name;
  std::vector<NamedTensor> outputs;
  recorded_ = std::make_unique<Recorded>(
      [&](const std::vector<Tensor>& arguments) {
        outputs = entry.function(arguments);
        return tensors_of(outputs);
      },
      tensors_of(entry.inputs), first);
  Identifiers names;
  for (const char* taken : {"sizes", "state"}) names.of(taken);
  for (const NamedTensor& input : entry.inputs) add_port(input, false, names);
  for (const auto& [name, tensor] : entry.inputs) add_sizes(tensor.dims(), names);
  add_sizes(entry.sizes, names);
  for (const NamedTensor& output : outputs) add_port(output, true, names);
  if (entry_.sizes.empty()) return;
  std::vector<Dim> dims;
  std::vector<NamedTensor> all = entry.inputs;
  all.insert(all.end(), outputs.begin(), outputs.end());
  for (const auto& [name, tensor] : all)
    for (const Dim& dim : tensor.dims()) dims.push_back(dim);
  if (dims.empty()) return;
  shapes_ = std::make_unique<Recorded>(
      [&](const std::vector<Tensor>&) { return std::vector{tensor_of_sizes(dims, device)}; },
      std::vector<Tensor>(), first);
}

void RecordedEntry::add_port(const NamedTensor& named, bool is_output, Identifiers& names) {
  const auto& [name, tensor] = named;
  if (is_output)
    for (const Node* variable : variables_of(tensor.dims()))
      if (std::ranges::find(entry_.sizes, variable->arg<VariableArg>().id.value, &Size::variable) ==
          entry_.sizes.end())
        user_error(fmt::format(
            "export: a size of '{}' is open, and no input's: no call could say it", name));
  const bool is_open = std::ranges::any_of(tensor.dims(), &Dim::is_symbolic);
  const bool may_be_empty = std::ranges::any_of(
      tensor.dims(), [](const Dim& dim) { return dim.uop()->bounds().lo <= 0; });
  entry_.ports.push_back(
      {names.of(name), name, tensor.dtype(), tensor.max_shape(), is_open, may_be_empty, is_output});
}

void RecordedEntry::add_sizes(const std::vector<Dim>& dims, Identifiers& names) {
  for (const Node* variable : variables_of(dims)) {
    const auto& arg = variable->arg<VariableArg>();
    if (std::ranges::find(entry_.sizes, arg.id.value, &Size::variable) != entry_.sizes.end())
      continue;
    const std::string title(arg.name.get());
    entry_.sizes.push_back({names.of(title), title, arg.id.value, arg.lo, arg.hi});
  }
}

Entry RecordedEntry::made(Collection& collection, const std::string& library) const {
  Entry entry = entry_;
  entry.prefix = entry.name.empty() ? library : fmt::format("{}_{}", library, entry.name);
  entry.run = collection.routine(*recorded_, entry.sizes);
  if (shapes_ == nullptr) return entry;
  entry.shapes = collection.routine(*shapes_, entry.sizes);
  if (!std::ranges::all_of(entry.shapes.calls, &Call::only_writes_ports))
    internal_error("export: shapes take more than sizes");
  return entry;
}

namespace {

// Parts of the state that tensors are, as a whole, get their names.
void name_state(const std::vector<NamedTensor>& tensors, const Collection& collection,
                State& state) {
  Identifiers names;
  names.of("bytes");
  for (const auto& [name, tensor] : tensors) {
    const Elements elements = elements_in_memory(tensor);
    const Place* place = collection.state_of(*elements.memory);
    if (place == nullptr || elements.bytes != elements.memory->bytes() || elements.bytes == 0)
      continue;
    const auto is_there = [&](const StatePart& part) {
      return part.offset == place->offset && part.bytes() > 0;
    };
    StatePart& part = *std::ranges::find_if(state.parts, is_there);
    if (part.name.empty()) part.name = names.of(name);
  }
}

}  // namespace

void add_entries(const std::vector<std::unique_ptr<RecordedEntry>>& entries,
                 const std::vector<NamedTensor>& state, const RenderFunction& render,
                 Library& library) {
  std::vector<const Recorded*> all;
  for (const auto& entry : entries) all.push_back(&entry->recorded());
  Collection collection(all, render, library);
  for (const auto& entry : entries)
    library.entries.push_back(entry->made(collection, library.name));
  for (const Entry& entry : library.entries)
    if (entry.ports.empty() && library.state.bytes == 0)
      user_error(fmt::format("export: '{}' is given nothing, and gives nothing", entry.prefix));
  collection.keep_state();
  name_state(state, collection, library.state);
}

}  // namespace exported

Dim open_size(std::string_view name, std::int64_t least, std::int64_t most) {
  return Variable(name, least, most).bind(most);
}

}  // namespace weft
