#include "runner.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/dev/cost/places.h>
#include <weft/dev/device/host_memory.h>
#include <weft/dev/engine/callers.h>
#include <weft/error.h>

#include "errors.h"
#include "known.h"

namespace weft::onnx {
namespace {

// In one call, loops and functions expanded: a file can ask for any number.
constexpr std::size_t most_steps = std::size_t(1) << 22;

// What is only looked at, or one number, needs no memory of its own.
const Node* looked_at(const UOp& graph) {
  const Node* node = graph.node();
  while (info(node->op()).cls == OpClass::Movement) node = node->src(0);
  return node;
}

bool is_view(const UOp& graph) {
  const Node* node = looked_at(graph);
  return node->op() == weft::Op::Buffer || node->is_const();
}

// Small integers are known by number: they are sizes, axes and indices most of the time.
Value known_or(Value value) {
  constexpr std::int64_t most_elements = 64;
  const Type type = value.type();
  const bool is_small_type = type == Type::I64 || type == Type::I32 || type == Type::Bool;
  if (!value.is_tensor() || !is_small_type || value.known() != nullptr) return value;
  const Tensor tensor = value.tensor();
  if (tensor.ndim() > 1 || tensor.numel() > most_elements) return value;
  const auto numbers = tensor.to_vector<std::int64_t>();
  return Value::known({numbers.begin(), numbers.end()}, tensor.ndim() == 0, tensor.dtype());
}

std::optional<double> number_of(const Tensor& tensor) {
  if (!tensor.dtype().is_float() || tensor.numel() != 1) return std::nullopt;
  return tensor.item<double>();
}

}  // namespace

const Slot* Scope::find(std::string_view name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->outer_)
    if (const auto found = scope->slots_.find(name); found != scope->slots_.end())
      return &found->second;
  return nullptr;
}

void Scope::set(std::string_view name, Slot slot) {
  slots_.insert_or_assign(name, std::move(slot));
}

void Scope::keep_only(const std::unordered_set<std::string_view>& names) {
  std::erase_if(slots_, [&](const auto& each) { return !names.contains(each.first); });
}

const std::vector<double>* Readings::next_reals() {
  return next_ < all_.size() ? &all_[next_++].reals : nullptr;
}

const std::vector<std::int64_t>* Readings::next_ints() {
  return next_ < all_.size() ? &all_[next_++].ints : nullptr;
}

const Value& Runner::constant(const TensorProto& tensor) {
  const auto found = tensors_.find(&tensor);
  if (found != tensors_.end()) return found->second;
  const NamedScope scope(tensor.name, "initialiser");
  return tensors_.emplace(&tensor, known_or(weights_.value(tensor, Memory::Assigned::Never)))
      .first->second;
}

void Runner::add_initialisers(const GraphProto& graph, Scope& scope) {
  const bool is_own = &graph == &model_.graph;
  for (const TensorProto& each : graph.initialisers) {
    const Value& value = constant(each);
    const bool is_trained =
        is_own && rules_.trainable && value.is_tensor() && dtype_of(value.type()).is_float();
    scope.set(each.name, {value, is_trained ? Changes::InEachCall : Changes::Never});
  }
  for (const SparseTensorProto& each : graph.sparse_initialisers)
    scope.set(each.values.name, {constant(each), Changes::Never});
}

std::vector<OpUse> Runner::uses() {
  return plans_.uses(plans_.of_graph(model_.graph, model_.opsets), model_.opsets);
}

void Runner::refuse_unsupported() {
  std::vector<std::string> missing;
  for (const OpUse& use : uses())
    if (!use.is_supported)
      missing.push_back(fmt::format("{}{}{} of opset {} ({} nodes, such as '{}')", use.domain,
                                    use.domain.empty() ? "" : ".", use.name, use.opset, use.nodes,
                                    use.first_node));
  if (!missing.empty())
    user_error(
        fmt::format("there are operators that are not supported: {}", fmt::join(missing, ", ")));
}

void Runner::run_constants() {
  refuse_unsupported();
  constants_ = Scope();
  rest_.clear();
  add_initialisers(model_.graph, constants_);
  for (const Step& step : plans_.of_graph(model_.graph, model_.opsets).steps)
    if (!step.is_random && changes_of(step, constants_) == Changes::Never)
      run(step, {constants_, nullptr, model_.opsets});
    else
      rest_.push_back(&step);
  realize_constants();
}

// Those that the rest reads, but for what takes less time to compute than to read. What takes far more than the file has is not
// kept: a file may claim any size.
void Runner::realize_constants() {
  std::size_t most_bytes = std::size_t(1) << 24;
  std::unordered_map<std::string_view, bool> initialisers;
  for (const TensorProto& each : model_.graph.initialisers) {
    initialisers.emplace(each.name, true);
    const Slot* slot = constants_.find(each.name);
    if (slot->value.is_tensor()) most_bytes += slot->value.tensor().nbytes();
  }
  std::vector<Tensor> kept;
  const auto keep = [&](std::string_view name, bool is_output) {
    const Slot* slot = constants_.find(name);
    if (slot == nullptr || !slot->value.is_tensor() || slot->value.known() != nullptr) return;
    const Tensor tensor = slot->value.tensor();
    if (initialisers.contains(name) || is_view(tensor.uop()) || tensor.nbytes() > most_bytes)
      return;
    if (!is_output && is_cheaper_to_recompute(tensor.uop().node())) return;
    most_bytes -= tensor.nbytes();
    kept.push_back(tensor);
  };
  for (const Step* step : rest_)
    for (const std::string_view name : step->reads) keep(name, false);
  for (const ValueInfoProto& output : model_.graph.outputs) keep(output.name, true);
  Tensor::realize(kept);
  for (const Tensor& tensor : kept) tensor.uop();  // looked at, it lets go of what it was made from
}

void Runner::forget_constants() {
  std::unordered_set<std::string_view> read;
  for (const Step* step : rest_) read.insert(step->reads.begin(), step->reads.end());
  for (const ValueInfoProto& output : model_.graph.outputs) {
    read.insert(output.name);
    if (const Slot* slot = constants_.find(output.name);
        slot != nullptr && slot->value.is_tensor() && slot->value.known() == nullptr)
      Weights::hold(slot->value.tensor());
  }
  constants_.keep_only(read);
  for (const TensorProto& each : model_.graph.initialisers) {
    if (read.contains(each.name)) continue;
    tensors_.erase(&each);
    weights_.forget(each);
  }
  trim_host_memory();
}

// What is computed from them is part of a kernel, and changes no more either. What a mask by an infinity hides is only known
// where that is a number; a gradient by one is known of its memory alone.
void Runner::freeze_constants() {
  const bool has_gradients =
      std::ranges::find(model_.graph.nodes, "Gradient", &NodeProto::op) != model_.graph.nodes.end();
  for (const auto& [name, slot] : constants_.own()) {
    if (!slot.value.is_tensor() || slot.value.known() != nullptr) continue;
    Tensor tensor = slot.value.tensor();
    if (looked_at(tensor.uop())->op() != weft::Op::Buffer) continue;
    const auto number = number_of(tensor);
    const bool is_infinity = number && std::isinf(*number);
    if (!is_infinity) tensor.freeze();
    const Options options{.dtype = tensor.dtype(), .device = tensor.device()};
    const Tensor value =
        is_infinity ? Tensor::full(Shape(tensor.dims()), *number, options) : tensor;
    constants_.set(
        name, {{value, slot.value.type()}, slot.changes, has_gradients ? std::nullopt : number});
  }
}

Values Runner::run(const std::vector<std::pair<std::string_view, Value>>& inputs) {
  has_read_ = has_drawn_ = false;
  steps_ = 0;
  if (readings_ != nullptr) readings_->start();
  if (guards_ != nullptr) guards_->start();
  Scope scope(&constants_);
  for (const auto& [name, value] : inputs) scope.set(name, {value, Changes::InEachCall});
  for (const Step* step : rest_) run(*step, {scope, nullptr, model_.opsets});
  Values outputs;
  for (const ValueInfoProto& output : model_.graph.outputs) {
    const Slot* slot = scope.find(output.name);
    if (slot == nullptr) user_error(fmt::format("nothing gives the output '{}'", output.name));
    outputs.push_back(slot->value);
  }
  return outputs;
}

std::vector<Slot> Runner::run(const GraphProto& graph, const Scope& around, const Within* within,
                              const std::vector<OpsetId>& opsets, const std::vector<Slot>& inputs) {
  Scope scope(&around);
  add_initialisers(graph, scope);
  if (inputs.size() > graph.inputs.size())
    user_error(fmt::format("graph '{}' is given {} inputs where it has {}", graph.name,
                           inputs.size(), graph.inputs.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i) scope.set(graph.inputs[i].name, inputs[i]);
  for (const Step& step : plans_.of_graph(graph, opsets).steps) run(step, {scope, within, opsets});
  std::vector<Slot> outputs;
  for (const ValueInfoProto& output : graph.outputs) {
    const Slot* slot = scope.find(output.name);
    if (slot == nullptr)
      user_error(
          fmt::format("nothing gives '{}', an output of graph '{}'", output.name, graph.name));
    outputs.push_back(*slot);
  }
  return outputs;
}

Changes Runner::changes_of(const Step& step, const Scope& scope) {
  auto changes = step.is_random ? Changes::InEachCall : Changes::Never;
  for (const std::string_view name : step.reads) {
    const Slot* slot = scope.find(name);
    changes = std::max(changes, slot == nullptr ? Changes::InEachCall : slot->changes);
  }
  return changes;
}

void Runner::run(const Step& step, const Frame& frame) {
  if (++steps_ > most_steps) user_error(fmt::format("more than {} nodes ran", most_steps));
  has_drawn_ = has_drawn_ || step.draws;
  const NodeProto& node = *step.node;
  const NamedScope scope(node.label(), node.name.empty() ? node.op : std::string_view());
  try {
    std::vector<Slot> outputs =
        step.function != nullptr ? outputs_of_function(step, frame) : outputs_of(step, frame);
    outputs.resize(node.outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (const std::string_view name = node.outputs[i]; !name.empty())
        frame.scope.set(name, std::move(outputs[i]));
  } catch (const Error& error) {
    fail_in(node, error, weights_.in());
  }
}

std::vector<Slot> Runner::outputs_of(const Step& step, const Frame& frame) {
  if (step.op == nullptr) user_error("it is not supported");
  Call::State state{*this, step, frame.scope, frame.within, frame.opsets, {}};
  for (const std::string_view name : step.node->inputs) {
    const Slot* slot = name.empty() ? nullptr : frame.scope.find(name);
    if (slot == nullptr && !name.empty())
      user_error(fmt::format("there is no '{}' for it to read", name));
    state.inputs.push_back(slot);
  }
  const Call call(state);
  Changes changes = changes_of(step, frame.scope);
  auto values = known_values(call, step);
  if (!values) values = (*step.op)(call);
  std::vector<Slot> outputs;
  for (Value& value : *values) {
    const auto* known = value.known();
    const bool is_number =
        known != nullptr && std::ranges::none_of(known->elements, &Dim::is_symbolic);
    const Changes own = is_number ? std::min(changes, Changes::WithShapes) : changes;
    outputs.push_back({std::move(value), own});
  }
  return outputs;
}

std::vector<Slot> Runner::outputs_of_function(const Step& step, const Frame& frame) {
  const FunctionProto& function = *step.function;
  const Within within{&function, step.node, frame.within};
  Scope scope;
  for (std::size_t i = 0; i < function.inputs.size(); ++i) {
    const bool is_given = i < step.node->inputs.size() && !step.node->inputs[i].empty();
    const Slot* slot = is_given ? frame.scope.find(step.node->inputs[i]) : nullptr;
    if (slot == nullptr && is_given)
      user_error(fmt::format("there is no '{}' for it to read", step.node->inputs[i]));
    scope.set(function.inputs[i], slot == nullptr ? Slot{{}, Changes::Never} : *slot);
  }
  for (const Step& inner : plans_.of_function(function).steps)
    run(inner, {scope, &within, function.opsets});
  std::vector<Slot> outputs;
  for (const std::string_view name : function.outputs) {
    const Slot* slot = scope.find(name);
    outputs.push_back(slot == nullptr ? Slot() : *slot);
  }
  return outputs;
}

}  // namespace weft::onnx
