#include <weft/onnx_writer.h>

#include <algorithm>

#include <fmt/format.h>
#include <weft/dev/io/file.h>
#include <weft/error.h>

#include "graph_state.h"
#include "graph_write.h"
#include "infer_outputs.h"
#include "op.h"

namespace weft::onnx {
namespace {

constexpr int newest_opset = 28;

[[noreturn]] void refuse(const GraphState& graph, std::string_view why) {
  user_error(fmt::format("onnx: graph '{}': {}", graph.name, why));
}

void add_name(GraphState& graph, const std::string& name) {
  if (name.empty()) refuse(graph, "a value needs a name");
  if (graph.knows(name)) refuse(graph, fmt::format("there is a value '{}' already", name));
  graph.names.insert(name);
}

Port port_of(const GraphState& graph, const std::string& name, Type type, const Sizes& shape) {
  if (type == Type::Undefined) refuse(graph, fmt::format("'{}' has no type", name));
  for (const auto& size : shape)
    if (const auto* number = std::get_if<std::int64_t>(&size); number != nullptr && *number < 0)
      refuse(graph,
             fmt::format("'{}' has the size {}: an open size has a name, or \"\"", name, *number));
  return {name, type, true, shape, "tensor"};
}

// What a file can hold as a tensor.
void check(const GraphState& graph, std::string_view what, const Value& value) {
  if (!value.is_tensor() && !value.is_text())
    refuse(graph, fmt::format("{} is neither a tensor nor strings", what));
}

std::string domain_of(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

// The attributes of a node of this graph.
void check(const GraphState& graph, std::string_view node, const Attributes& given) {
  for (const auto& [name, value] : given) {
    const std::string what = fmt::format("attribute '{}' of '{}'", name, node);
    if (name.empty()) refuse(graph, fmt::format("an attribute of '{}' has no name", node));
    if (std::ranges::count(given, name, &Attributes::value_type::first) > 1)
      refuse(graph, fmt::format("{} is given twice", what));
    if (const auto* tensor = std::get_if<Value>(&value.held())) check(graph, what, *tensor);
    if (const auto* tensors = std::get_if<std::vector<Value>>(&value.held()))
      for (const Value& each : *tensors) check(graph, what, each);
    if (const auto* inner = std::get_if<std::shared_ptr<const GraphState>>(&value.held())) {
      if ((*inner)->around.get() != &graph)
        refuse(graph, fmt::format("{} is no subgraph() of this graph", what));
      if ((*inner)->outputs.empty()) refuse(graph, fmt::format("{} has no outputs", what));
    }
  }
}

}  // namespace

void Attribute::refuse(std::uint64_t number) {
  user_error(fmt::format("onnx: {} is beyond the integers that a file holds", number));
}

bool GraphState::knows(std::string_view value) const {
  return names.contains(value) || (around != nullptr && around->knows(value));
}

// --- Attributes --------------------------------------------------------------------------------------

Attribute::Attribute(const Graph& graph) : held_(std::shared_ptr<const GraphState>(graph.state_)) {}

Attribute::Attribute(std::initializer_list<Element> list) {
  if (list.size() == 0)
    user_error("onnx: an empty list is of no kind: say which, as std::vector<std::int64_t>{} does");
  const auto all = [&](auto... kind) {
    return std::ranges::all_of(list, [&](const Element& each) {
      return ((each.held_.index() == std::size_t(kind)) || ...);
    });
  };
  const auto fill = [&]<class T>(std::vector<T> values, auto element) {
    for (const Element& each : list) values.push_back(element(each.held_));
    held_ = std::move(values);
  };
  if (all(0))
    fill(std::vector<std::int64_t>(), [](const auto& each) { return std::get<0>(each); });
  else if (all(0, 1))
    fill(std::vector<float>(), [](const auto& each) {
      return each.index() == 0 ? static_cast<float>(std::get<0>(each)) : std::get<1>(each);
    });
  else if (all(2))
    fill(std::vector<std::string>(), [](const auto& each) { return std::get<2>(each); });
  else if (all(3))
    fill(std::vector<Value>(), [](const auto& each) { return std::get<3>(each); });
  else
    user_error("onnx: the elements of an attribute are of several kinds");
}

Attribute Attribute::frozen() const {
  const auto* graph = std::get_if<std::shared_ptr<const GraphState>>(&held_);
  if (graph == nullptr) return *this;
  const auto copy = std::make_shared<GraphState>(**graph);
  copy->around = nullptr;
  Attribute result(0);
  result.held_ = std::shared_ptr<const GraphState>(copy);
  return result;
}

// --- Graphs -------------------------------------------------------------------------------------------

std::string Graph::input(const std::string& name, Type type, const Sizes& shape) {
  const Port port = port_of(*state_, name, type, shape);
  add_name(*state_, name);
  state_->inputs.push_back(port);
  return name;
}

std::string Graph::constant(const std::string& name, const Value& value) {
  check(*state_, fmt::format("constant '{}'", name), value);
  add_name(*state_, name);
  state_->constants.emplace_back(name, value);
  return name;
}

std::string Graph::node(const std::string& op, const Names& inputs, const Attributes& attributes,
                        const NodeOptions& options) {
  return node_with(1, op, inputs, attributes, options)[0];
}

Names Graph::node_with(std::size_t outputs, const std::string& op, const Names& inputs,
                       const Attributes& attributes, const NodeOptions& options) {
  std::string name = options.name;
  const auto value = [&](std::size_t i) {
    return outputs == 1 ? name + "_out" : fmt::format("{}_out{}", name, i);
  };
  const auto is_taken = [&] {
    for (std::size_t i = 0; i < outputs; ++i)
      if (state_->knows(value(i))) return true;
    return false;
  };
  while (name.empty() || (options.name.empty() && is_taken()))
    name = fmt::format("{}_{}", op, ++state_->model->counts[op]);
  Names names;
  for (std::size_t i = 0; i < outputs; ++i) names.push_back(value(i));
  node_with(names, op, inputs, attributes, {options.domain, name});
  state_->own_names.insert(names.begin(), names.end());
  return names;
}

Names Graph::node_with(const Names& outputs, const std::string& op, const Names& inputs,
                       const Attributes& attributes, const NodeOptions& options) {
  GraphState& graph = *state_;
  NodeDraft node{options.name, op, domain_of(options.domain), inputs, outputs, {}};
  if (op.empty()) refuse(graph, "a node needs an operator");
  while (node.name.empty()) node.name = fmt::format("{}_{}", op, ++graph.model->counts[op]);
  if (!graph.model->opsets.contains(node.domain))
    refuse(graph, fmt::format("'{}' is of the domain '{}', whose version use() has to say first",
                              node.name, node.domain));
  for (const std::string& input : inputs)
    if (!input.empty() && !graph.knows(input))
      refuse(graph,
             fmt::format("'{}' reads '{}', which nothing before it gives", node.name, input));
  check(graph, node.name, attributes);
  for (const auto& [name, value] : attributes) node.attributes.emplace_back(name, value.frozen());
  for (const std::string& output : outputs)
    if (!output.empty()) add_name(graph, output);
  graph.nodes.push_back(std::move(node));
  return outputs;
}

void Graph::output(const std::string& name, const std::string& value) {
  GraphState& graph = *state_;
  if (value.empty() || !graph.knows(value))
    refuse(graph, fmt::format("the output '{}' is '{}', which nothing gives", name, value));
  if (std::ranges::find(graph.outputs, name, &Port::name) != graph.outputs.end())
    refuse(graph, fmt::format("there is an output '{}' already", name));
  const bool is_of_node = std::ranges::any_of(graph.nodes, [&](const NodeDraft& node) {
    return std::ranges::find(node.outputs, value) != node.outputs.end();
  });
  if (name != value) {
    if (graph.own_names.contains(value) && !graph.renamed.contains(value)) {
      add_name(graph, name);
      graph.renamed.emplace(value, name);
    } else {
      node_with({name}, "Identity", {value});
    }
  } else if (!is_of_node) {
    refuse(graph,
           fmt::format("the output '{}' is no output of a node here: it needs another name", name));
  }
  Port port;
  port.name = name;
  graph.outputs.push_back(port);
}

void Graph::output(const std::string& name, const std::string& value, Type type,
                   const Sizes& shape) {
  const Port port = port_of(*state_, name, type, shape);
  output(name, value);
  state_->outputs.back() = port;
}

Graph Graph::subgraph(const std::string& name) const {
  const auto inner = std::make_shared<GraphState>();
  inner->name = name;
  inner->model = state_->model;
  inner->around = state_;
  return Graph(inner);
}

// --- Models -------------------------------------------------------------------------------------------

Writer::Writer(const std::string& name, int opset) : Graph(std::make_shared<GraphState>()) {
  state_->name = name;
  state_->model = std::make_shared<ModelState>();
  if (name.empty()) refuse(*state_, "it needs a name");
  if (opset < 1 || opset > newest_opset)
    refuse(*state_, fmt::format("there are opsets 1 to {}, not {}", newest_opset, opset));
  state_->model->opsets[""] = opset;
}

void Writer::use(const std::string& domain, int opset) {
  if (opset < 1) refuse(*state_, fmt::format("there is no opset {} of '{}'", opset, domain));
  if (!state_->model->opsets.emplace(domain_of(domain), opset).second)
    refuse(*state_, fmt::format("the version of '{}' is known already", domain));
}

void Writer::metadata(const std::string& key, const std::string& value) {
  auto& entries = state_->model->metadata;
  if (std::ranges::find(entries, key, &std::pair<std::string, std::string>::first) != entries.end())
    refuse(*state_, fmt::format("the metadata have '{}' already", key));
  entries.emplace_back(key, value);
}

std::vector<std::byte> Writer::bytes() const {
  const std::string file = encoded_model(*state_, nullptr);
  const auto all = std::as_bytes(std::span(file));
  return {all.begin(), all.end()};
}

void Writer::save(const std::string& path, const SaveOptions& options) const {
  External external{path, options.external_bytes};
  const std::string file = encoded_model(*state_, &external);
  NewFile model(path);
  model.write(file);
  if (!external.pieces.empty()) {
    NewFile beside(external.path());
    external.write(beside);
    beside.commit();
  }
  model.commit();
}

}  // namespace weft::onnx
