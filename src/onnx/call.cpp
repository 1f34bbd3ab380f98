// What an operator's function is given.

#include <algorithm>

#include <fmt/format.h>
#include <weft/error.h>

#include "runner.h"

namespace weft::onnx {
namespace {

// Elements that decide about shapes are few. What claims to be many more is not computed.
constexpr std::int64_t most_read = std::int64_t(1) << 26;

const AttributeProto* found_in(const NodeProto& node, std::string_view name, const Within* within);

// What a reference stands for: what the node that calls the function says, or the function's default.
const AttributeProto* resolved(const AttributeProto* attribute, const Within* within) {
  if (attribute == nullptr || attribute->reference.empty()) return attribute;
  if (within == nullptr) return nullptr;
  const std::string_view name = attribute->reference;
  if (const auto* given = found_in(*within->node, name, within->outer)) return given;
  const auto& defaults = within->function->defaults;
  const auto found = std::ranges::find(defaults, name, &AttributeProto::name);
  return found == defaults.end() ? nullptr : &*found;
}

const AttributeProto* found_in(const NodeProto& node, std::string_view name, const Within* within) {
  return resolved(node.find(name), within);
}

}  // namespace

const AttributeProto* Call::State::find(std::string_view name) const {
  return found_in(*step.node, name, within);
}

// --- Inputs ---------------------------------------------------------------------------------------

std::size_t Call::inputs() const { return state_.inputs.size(); }

bool Call::has(std::size_t input) const {
  return input < inputs() && state_.inputs[input] != nullptr &&
         !state_.inputs[input]->value.is_empty();
}

const Value& Call::value(std::size_t input) const {
  static const Value none;
  return has(input) ? state_.inputs[input]->value : none;
}

Tensor Call::tensor(std::size_t input) const {
  if (!has(input)) refuse(fmt::format("input {} is missing", input));
  const Value& given = value(input);
  const std::string& device = state_.runner.weights().device();
  if (const auto* known = given.known()) return tensor_of(*known, device);
  if (!given.is_tensor()) refuse(fmt::format("input {} is not a tensor of numbers", input));
  const Tensor tensor = given.tensor();
  return tensor.device() == device ? tensor : tensor.to(device);
}

Tensor Call::tensor_or_null(std::size_t input) const {
  return has(input) ? tensor(input) : Tensor();
}

std::optional<double> Call::known_float(std::size_t input) const {
  return has(input) ? state_.inputs[input]->number : std::nullopt;
}

Tensor Call::operand(std::size_t input) const {
  const Tensor given = tensor(input);
  const std::optional<double> number = known_float(input);
  return number ? Tensor::full(Shape(given.dims()), *number, options(given.dtype())) : given;
}

std::vector<Tensor> Call::tensors(std::size_t from) const {
  std::vector<Tensor> all;
  for (std::size_t i = from; i < inputs(); ++i) all.push_back(tensor(i));
  return all;
}

const Text& Call::text(std::size_t input) const {
  if (!value(input).is_text()) refuse(fmt::format("input {} has to be of strings", input));
  return value(input).text();
}

const Sequence& Call::sequence(std::size_t input) const {
  if (!value(input).is_sequence()) refuse(fmt::format("input {} has to be a sequence", input));
  return value(input).sequence();
}

namespace {

// From what was read before, else from the tensor.
template <class Number>
std::vector<Number> read(Runner& runner, Changes changes, const Tensor& tensor) {
  const bool is_guard = changes == Changes::InEachCall;
  Readings* readings = is_guard ? runner.guards() : runner.readings();
  if (is_guard) runner.note_reading();
  if (readings != nullptr) {
    if constexpr (std::same_as<Number, double>) {
      if (const auto* before = readings->next_reals()) return *before;
    } else {
      if (const auto* before = readings->next_ints()) return *before;
    }
  }
  if (is_guard && readings != nullptr) throw Guard{tensor, std::same_as<Number, double>};
  auto numbers = tensor.to_vector<Number>();
  if (readings != nullptr) readings->add(numbers);
  return numbers;
}

}  // namespace

std::vector<std::int64_t> Call::ints(const Tensor& values) const {
  if (values.numel() > most_read) refuse("it would have to read far too much");
  return read<std::int64_t>(state_.runner, state_.runner.changes_of(state_.step, state_.scope),
                            values);
}

std::vector<double> Call::numbers(const Tensor& values) const {
  if (values.numel() > most_read) refuse("it would have to read far too much");
  return read<double>(state_.runner, state_.runner.changes_of(state_.step, state_.scope), values);
}

std::vector<std::int64_t> Call::ints(std::size_t input) const {
  if (const auto* known = value(input).known()) {
    std::vector<std::int64_t> numbers;
    for (const Dim& each : known->elements) {
      if (each.is_symbolic()) refuse(fmt::format("input {} has to be numbers", input));
      numbers.push_back(each.uop()->lo());
    }
    return numbers;
  }
  const Tensor elements = tensor(input);
  if (elements.numel() > most_read) refuse(fmt::format("input {} is far too large", input));
  return read<std::int64_t>(state_.runner, state_.inputs[input]->changes, elements);
}

std::vector<Dim> Call::dims(std::size_t input) const {
  if (const auto* known = value(input).known()) return known->elements;
  const auto numbers = ints(input);
  return {numbers.begin(), numbers.end()};
}

std::vector<double> Call::numbers(std::size_t input) const {
  if (value(input).known() != nullptr) {
    const auto numbers = ints(input);
    return {numbers.begin(), numbers.end()};
  }
  const Tensor elements = tensor(input);
  if (elements.numel() > most_read) refuse(fmt::format("input {} is far too large", input));
  return read<double>(state_.runner, state_.inputs[input]->changes, elements);
}

std::int64_t Call::integer(std::size_t input) const {
  const auto all = ints(input);
  if (all.size() != 1)
    refuse(fmt::format("input {} has {} elements where one is expected", input, all.size()));
  return all[0];
}

double Call::number(std::size_t input) const {
  const auto all = numbers(input);
  if (all.size() != 1)
    refuse(fmt::format("input {} has {} elements where one is expected", input, all.size()));
  return all[0];
}

bool Call::is_true(const Value& value) const {
  if (const auto* known = value.known(); known != nullptr && known->elements.size() == 1)
    if (const Dim& element = known->elements[0]; !element.is_symbolic())
      return element.uop()->lo() != 0;
  const Tensor tensor = value.tensor();
  if (tensor.numel() != 1) refuse(fmt::format("{} elements where one is expected", tensor.numel()));
  return ints(tensor)[0] != 0;
}

void Call::realize(const Values& values) const {
  if (state_.runner.guards() != nullptr) throw NotTraced();
  std::vector<Tensor> tensors;
  for (const Value& value : values)
    if (value.is_tensor() && value.known() == nullptr) tensors.push_back(value.tensor());
  Tensor::realize(tensors);
}

const Value& Call::named(std::string_view name) const {
  const Slot* slot = state_.scope.find(name);
  if (slot == nullptr) refuse(fmt::format("there is no '{}' in the graph", name));
  return slot->value;
}

// --- Attributes -----------------------------------------------------------------------------------

bool Call::has(std::string_view attribute) const { return state_.find(attribute) != nullptr; }

namespace {

const AttributeProto& want(const Call& call, const AttributeProto* found, std::string_view name,
                           std::initializer_list<AttributeProto::Kind> kinds) {
  if (found == nullptr) call.refuse(fmt::format("there is no attribute '{}'", name));
  if (std::ranges::find(kinds, found->kind) == kinds.end())
    call.refuse(fmt::format("attribute '{}' is of another kind", name));
  return *found;
}

// The only one.
template <class List>
const auto& single(const Call& call, std::string_view name, const List& list) {
  if (list.size() != 1) call.refuse(fmt::format("attribute '{}' has no value", name));
  return list.front();
}

}  // namespace

template <>
std::int64_t Call::attr<std::int64_t>(std::string_view name) const {
  return single(*this, name, want(*this, state_.find(name), name, {AttributeProto::Int}).ints);
}

template <>
double Call::attr<double>(std::string_view name) const {
  return double{
      single(*this, name, want(*this, state_.find(name), name, {AttributeProto::Float}).floats)};
}

template <>
std::string Call::attr<std::string>(std::string_view name) const {
  return std::string(
      single(*this, name, want(*this, state_.find(name), name, {AttributeProto::String}).strings));
}

template <>
Type Call::attr<Type>(std::string_view name) const {
  const std::int64_t number = attr<std::int64_t>(name);
  if (number <= 0 || number > static_cast<std::int64_t>(Type::F6E3M2))
    refuse(fmt::format("attribute '{}': there is no type {}", name, number));
  return static_cast<Type>(number);
}

template <>
Value Call::attr<Value>(std::string_view name) const {
  const AttributeProto& found =
      want(*this, state_.find(name), name, {AttributeProto::Tensor, AttributeProto::SparseTensor});
  if (found.kind == AttributeProto::SparseTensor)
    return state_.runner.constant(single(*this, name, found.sparse_tensors));
  return state_.runner.constant(single(*this, name, found.tensors));
}

template <>
Tensor Call::attr<Tensor>(std::string_view name) const {
  const Value value = attr<Value>(name);
  if (!value.is_tensor()) refuse(fmt::format("attribute '{}' is not a tensor of numbers", name));
  if (const auto* known = value.known()) return tensor_of(*known, state_.runner.weights().device());
  return value.tensor();
}

template <>
Text Call::attr<Text>(std::string_view name) const {
  const Value value = attr<Value>(name);
  if (!value.is_text()) refuse(fmt::format("attribute '{}' is not a tensor of strings", name));
  return value.text();
}

template <>
std::vector<std::int64_t> Call::attr<std::vector<std::int64_t>>(std::string_view name) const {
  return want(*this, state_.find(name), name, {AttributeProto::Ints, AttributeProto::Int}).ints;
}

template <>
std::vector<double> Call::attr<std::vector<double>>(std::string_view name) const {
  const auto& floats =
      want(*this, state_.find(name), name, {AttributeProto::Floats, AttributeProto::Float}).floats;
  return {floats.begin(), floats.end()};
}

template <>
std::vector<std::string> Call::attr<std::vector<std::string>>(std::string_view name) const {
  const auto& strings =
      want(*this, state_.find(name), name, {AttributeProto::Strings, AttributeProto::String})
          .strings;
  return {strings.begin(), strings.end()};
}

// --- The node -------------------------------------------------------------------------------------

std::size_t Call::outputs() const { return state_.step.node->outputs.size(); }

bool Call::wants(std::size_t output) const {
  return output < outputs() && !state_.step.node->outputs[output].empty();
}

int Call::opset() const { return static_cast<int>(state_.step.opset); }

Options Call::options(DType dtype) const {
  return {.dtype = dtype, .device = state_.runner.weights().device()};
}

void Call::refuse(std::string_view why) const { user_error(std::string(why)); }

Values Call::run(std::string_view attribute, const Values& inputs) const {
  const AttributeProto& found =
      want(*this, state_.find(attribute), attribute, {AttributeProto::Graph});
  const Changes changes = Runner::changes_of(state_.step, state_.scope);
  std::vector<Slot> slots;
  for (const Value& value : inputs) {
    const bool is_known = value.known() != nullptr;
    slots.push_back({value, is_known ? std::min(changes, Changes::WithShapes) : changes});
  }
  Values outputs;
  for (Slot& slot : state_.runner.run(single(*this, attribute, found.graphs), state_.scope,
                                      state_.within, state_.opsets, slots))
    outputs.push_back(std::move(slot.value));
  return outputs;
}

}  // namespace weft::onnx
