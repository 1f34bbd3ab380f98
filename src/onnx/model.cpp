#include "model_state.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/ranges.h>
#include <weft/dev/device/device.h>
#include <weft/dev/engine/callers.h>
#include <weft/settings.h>

#include "cleanup.h"
#include "proto_write.h"
#include "repair.h"

namespace weft::onnx {
namespace {

Port port_of(const ValueInfoProto& from) {
  constexpr std::string_view kinds[] = {"unknown",  "tensor", "sparse tensor", "sequence",
                                        "optional", "map",    "opaque"};
  return {std::string(from.name), from.type.element, from.type.has_shape, from.type.shape,
          std::string(kinds[from.type.kind])};
}

std::string text_of(const std::vector<Dim>& dims) {
  std::vector<std::string> sizes;
  for (const Dim& dim : dims)
    sizes.push_back(dim.is_symbolic() ? "?" : fmt::to_string(dim.uop()->lo()));
  return fmt::format("({})", fmt::join(sizes, ", "));
}

std::vector<MmaShape> products_of(const LoadOptions& options) {
  const std::string& device = options.device;
  return find_device(device.empty() ? default_device() : device).target().mma;
}

CleanupRules cleanup_rules(const LoadOptions& options) {
  CleanupRules rules{.trainable = options.trainable};
  const auto bytes = {dtypes::i8, dtypes::u8};
  for (const MmaShape& shape : products_of(options))
    for (const DType a : bytes)
      for (const DType b : bytes) {
        if (!shape.takes(a, b)) continue;
        rules.multiplies_bytes = true;
        rules.multiplies_alike = rules.multiplies_alike || a == b;
        rules.has_byte_tiles = rules.has_byte_tiles || shape.rows > 1;
      }
  return rules;
}

void add_tensors(const Value& value, std::vector<Tensor>& tensors) {
  if (value.is_tensor()) tensors.push_back(value.tensor());
  if (value.is_sequence())
    for (const Value& each : value.sequence()) add_tensors(each, tensors);
  if (value.is_map())
    for (const auto& [key, each] : value.map()) add_tensors(each, tensors);
}

bool is_symbolic(const Value& value) {
  return std::ranges::any_of(value.tensor().dims(), &Dim::is_symbolic);
}

}  // namespace

std::vector<Tensor> tensors_of(const Values& values) {
  std::vector<Tensor> tensors;
  for (const Value& value : values) add_tensors(value, tensors);
  return tensors;
}

Model::State::State(InFile from, const std::shared_ptr<const Mapping>& file,
                    const std::string& folder, LoadOptions given, bool beside)
    : options(std::move(given)),
      in(std::move(from)),
      bytes(file->bytes()),
      proto(parse_model(bytes, in)),
      weights(in, file, folder, options.device),
      runner(proto, weights, {.trainable = options.trainable}) {
  find_ports();
  plan();
  clean_up(proto, new_names, cleanup_rules(options));
  PrecisionRules rules{
      .all = options.precision, .layers = options.layer_precisions, .beside = beside};
  for (const MmaShape& shape : products_of(options)) {
    const KindSet kind{shape.a.kind()};
    rules.multiplied = rules.multiplied | kind;
    if (shape.rows > 1) rules.tiled = rules.tiled | kind;
  }
  layers = lower_precision(proto, new_names, rules);
  if (options.trainable) want_gradients();
}

void Model::State::find_ports() {
  const auto& initialisers = proto.graph.initialisers;
  for (const ValueInfoProto& each : proto.graph.inputs)
    if (std::ranges::find(initialisers, each.name, &TensorProto::name) == initialisers.end())
      inputs.push_back(port_of(each));
  for (const ValueInfoProto& each : proto.graph.outputs) outputs.push_back(port_of(each));
  for (const auto& [name, shape] : options.shapes) {
    const auto found = std::ranges::find(inputs, name, &Port::name);
    if (found == inputs.end()) {
      std::vector<std::string_view> names;
      for (const Port& port : inputs) names.push_back(port.name);
      in.fail(fmt::format("there is no input '{}' to give a shape; the inputs are {}", name,
                          fmt::join(names, ", ")));
    }
    found->has_shape = true;
    found->shape.assign(shape.begin(), shape.end());
  }
}

// Nodes that no output needs go, and the others come in order.
void Model::State::plan() {
  repair(proto);
  Plans plans(proto);
  const Plan& plan = plans.of_graph(proto.graph, proto.opsets);
  ops = plans.uses(plan, proto.opsets);
  std::vector<NodeProto> nodes;
  for (const Step& step : plan.steps) nodes.push_back(*step.node);
  proto.graph.nodes = std::move(nodes);
}

void Model::State::want_gradients() {
  for (const TensorProto& each : proto.graph.initialisers)
    if (each.type != Type::String && dtype_of(each.type).is_float())
      runner.constant(each).tensor().set_requires_grad();
}

// What the file does not say, or says as 0 or less, may be anything.
void Model::State::check_shape(const Port& port, const std::vector<Dim>& dims) const {
  if (!port.has_shape) return;
  bool fits = dims.size() == port.shape.size();
  std::vector<std::string> wanted;
  for (std::size_t i = 0; i < port.shape.size(); ++i) {
    const auto* name = std::get_if<std::string>(&port.shape[i]);
    const auto given = name == nullptr ? options.dimensions.end() : options.dimensions.find(*name);
    std::optional<Dim> size;
    if (given != options.dimensions.end()) size = given->second;
    if (name == nullptr && std::get<std::int64_t>(port.shape[i]) > 0)
      size = std::get<std::int64_t>(port.shape[i]);
    wanted.push_back(!size                 ? name == nullptr || name->empty() ? "any" : *name
                     : size->is_symbolic() ? "?"
                                           : fmt::to_string(size->uop()->lo()));
    if (size && i < dims.size()) fits = fits && size->uop().is(dims[i].uop());
  }
  if (!fits)
    refuse(port, fmt::format("its shape is {} where ({}) is expected", text_of(dims),
                             fmt::join(wanted, ", ")));
}

void Model::State::check(const Port& port, const Value& value) const {
  if (value.is_empty() && port.kind == "optional") return;
  const bool wants_tensor = port.kind == "tensor";
  if (wants_tensor != (value.is_tensor() || value.is_text()) && port.kind != "optional")
    refuse(port, fmt::format("a {} is expected", port.kind));
  if (port.kind == "sequence" && !value.is_sequence()) refuse(port, "a sequence is expected");
  if (!wants_tensor) return;
  if (port.type != Type::Undefined && value.type() != port.type)
    refuse(port, fmt::format("its elements are {} where {} is expected", name_of(value.type()),
                             name_of(port.type)));
  if (value.is_tensor()) check_shape(port, value.tensor().dims());
  if (value.is_text()) check_shape(port, {value.text().shape.begin(), value.text().shape.end()});
}

Inputs Model::State::checked(const NamedValues& given) const {
  Inputs result;
  std::vector<std::string_view> names;
  for (const Port& port : inputs) {
    names.push_back(port.name);
    const auto found = given.find(port.name);
    const bool is_missing = found == given.end();
    if (is_missing && port.kind != "optional") refuse(port, "it is not given");
    const Value value = is_missing ? Value() : found->second;
    check(port, value);
    result.emplace_back(port.name, value);
  }
  for (const auto& [name, value] : given)
    if (std::ranges::find(names, name) == names.end())
      user_error(
          fmt::format("there is no input '{}'; the inputs are {}", name, fmt::join(names, ", ")));
  return result;
}

void Model::State::make_ready() {
  if (is_ready) return;
  runner.run_constants();
  if (!options.trainable && !has_given_parameters) {
    runner.forget_constants();
    runner.freeze_constants();
  }
  is_ready = true;
}

Tensor Model::State::output_of(std::size_t output, const Value& value) const {
  const NamedScope scope(proto.graph.outputs[output].name, "output");
  const auto* known = value.known();
  return known != nullptr ? tensor_of(*known, weights.device()) : value.tensor();
}

// Nothing is computed yet.
Values Model::State::graph_of(const Inputs& given) {
  Values values = runner.run(given);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i].known() != nullptr) values[i] = output_of(i, values[i]);
  return values;
}

Values Model::State::run_plainly(const Inputs& given) {
  Values values = graph_of(given);
  if (!options.trainable) Tensor::realize(tensors_of(values));
  return values;
}

Values Model::State::run(const Inputs& given, std::unique_lock<std::mutex>& lock) {
  std::string form;
  for (const auto& [name, value] : given) {
    if (options.trainable || !value.is_tensor() || is_symbolic(value)) return run_plainly(given);
    const Tensor tensor = value.tensor();
    form += fmt::format("{} {} {}; ", name_of(value.type()), fmt::join(tensor.shape(), " "),
                        tensor.device());
  }
  const auto calls = forms.insert(form, std::make_shared<Calls>());
  if (!calls->is_captured || setting_int("JIT") == 0) return run_plainly(given);
  try {
    if (auto values = replayed(given, *calls, lock)) return *std::move(values);
    if (auto values = run_captured(given, *calls)) return *std::move(values);
    return run_plainly(given);
  } catch (const Error&) {  // values may be asked for below operators, which no capture can give
    *calls = Calls();
  }
  Values values = run_plainly(given);  // throws what is wrong with the call, if that is the reason
  calls->is_captured = false;
  return values;
}

// --- The model --------------------------------------------------------------------------------------

std::shared_ptr<Model::State> Model::State::made(const std::string& name,
                                                 const std::shared_ptr<const Mapping>& file,
                                                 const std::string& folder,
                                                 const LoadOptions& options, bool beside) {
  const InFile in{name};
  return in_its_name(in,
                     [&] { return std::make_shared<State>(in, file, folder, options, beside); });
}

std::shared_ptr<Model::State> Model::State::open(const std::string& path,
                                                 const LoadOptions& options, bool beside) {
  const auto file = std::make_shared<const Mapping>(path);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  auto state = made(options.name.empty() ? path : options.name, file,
                    folder.empty() ? "." : folder.string(), options, beside);
  file->forget(file->bytes());  // where its weights begin has been looked at
  return state;
}

Model Model::load(const std::string& path, const LoadOptions& options) {
  Model model;
  model.state_ = State::open(path, options);
  return model;
}

Model Model::parse(std::span<const std::byte> bytes, const LoadOptions& options,
                   const std::string& folder) {
  const auto own =
      std::make_shared<const Mapping>(std::vector<std::byte>(bytes.begin(), bytes.end()));
  Model model;
  model.state_ =
      State::made(options.name.empty() ? "a model in memory" : options.name, own, folder, options);
  return model;
}

const std::vector<Port>& Model::inputs() const { return state_->inputs; }
const std::vector<Port>& Model::outputs() const { return state_->outputs; }
std::vector<OpUse> Model::ops() const { return state_->ops; }

std::vector<Layer> Model::layers() const {
  std::vector<Layer> layers;
  for (const PlacedLayer& each : state_->layers) layers.push_back(each.layer);
  return layers;
}

NamedValues Model::operator()(const NamedValues& inputs) const {
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  return in_its_name(state.in, [&] {
    const Inputs checked = state.checked(inputs);
    state.make_ready();
    Values values = state.run(checked, lock);
    NamedValues named;
    for (std::size_t i = 0; i < values.size(); ++i)
      named.emplace(state.outputs[i].name, std::move(values[i]));
    return named;
  });
}

CallCost Model::cost(const NamedValues& inputs) const {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  return in_its_name(state.in, [&]() -> CallCost {
    const Inputs checked = state.checked(inputs);
    state.make_ready();
    const std::vector<Tensor> outputs = tensors_of(state.graph_of(checked));
    return {Tensor::cost(outputs), Tensor::schedule(outputs), state.runner.has_read()};
  });
}

std::map<std::string, Tensor> Model::parameters() const {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  std::map<std::string, Tensor> result;
  if (!state.has_given_parameters) {  // calls from now on see what is assigned to them
    state.has_given_parameters = true;
    state.is_ready = false;
    state.forms.clear();
  }
  for (const TensorProto& each : state.proto.graph.initialisers)
    if (const Value& value = state.runner.constant(each); value.is_tensor()) {
      Weights::hold(value.tensor());
      result.emplace(each.name, value.tensor());
    }
  return result;
}

void Model::save(const std::string& path) const {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  Replacements changed;
  const auto& initialisers = state.proto.graph.initialisers;
  for (std::size_t i = 0; i < initialisers.size(); ++i) {
    const TensorProto& each = initialisers[i];
    const bool is_trained =
        state.options.trainable && each.type != Type::String && dtype_of(each.type).is_float();
    if (is_trained || each.is_external)
      changed.emplace(i, encoded(state.runner.constant(each), each.name));
  }
  const InFile in{path};
  NewFile file(path);
  file.write(with_initialisers(state.bytes, changed, in));
  file.commit();
}

}  // namespace weft::onnx
