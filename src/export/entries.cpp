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

}  // namespace

RecordedEntry::RecordedEntry(const ExportEntry& entry, const std::string& device) {
  entry_.name = entry.name;
  std::vector<Tensor> given;
  for (const auto& [name, tensor] : entry.inputs) given.push_back(tensor);
  std::vector<NamedTensor> outputs;
  recorded_ = std::make_unique<Recorded>(
      [&](const std::vector<Tensor>& arguments) {
        outputs = entry.function(arguments);
        std::vector<Tensor> results;
        for (const auto& [name, tensor] : outputs) results.push_back(tensor);
        return results;
      },
      given);
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
  shapes_ = std::make_unique<Recorded>(
      [&](const std::vector<Tensor>&) { return std::vector{tensor_of_sizes(dims, device)}; },
      std::vector<Tensor>());
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
  entry_.ports.push_back(
      {names.of(name), name, tensor.dtype(), tensor.max_shape(), is_open, is_output});
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
  if (entry.shapes.workspace_bytes > 0) internal_error("export: shapes take memory");
  return entry;
}

namespace {

// Parts of the state that tensors lie in get their names.
void name_state(const std::vector<NamedTensor>& tensors, const Collection& collection,
                State& state) {
  Identifiers names;
  for (const auto& [name, tensor] : tensors) {
    const Place* place = collection.state_of(*elements_in_memory(tensor).memory);
    if (place == nullptr) continue;
    const auto part = std::ranges::find(state.parts, place->offset, &StatePart::offset);
    if (part->name.empty()) part->name = names.of(name);
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
  collection.keep_state();
  name_state(state, collection, library.state);
}

}  // namespace exported

Dim open_size(std::string_view name, std::int64_t least, std::int64_t most) {
  return make(Op::Bind, {Variable(name, least, most), const_int(most)});
}

}  // namespace weft
