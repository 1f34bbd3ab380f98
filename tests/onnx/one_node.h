// Models of one node.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "onnx_file.h"

namespace weft::onnx {

struct OneNode {
  using Ints = std::vector<std::int64_t>;
  using Attribute = std::variant<std::int64_t, double, std::string, Ints>;

  std::string op;
  int opset = 28;
  std::vector<std::pair<std::string, Attribute>> attributes = {};
  std::size_t outputs = 1;

  // An input that is empty is left out.
  std::vector<Value> operator()(const std::vector<Value>& inputs) const;
};

inline onnx_file::Message attribute_of(const std::string& name, const OneNode::Attribute& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value))
    return onnx_file::attribute(name, *number);
  if (const auto* numbers = std::get_if<OneNode::Ints>(&value))
    return onnx_file::attribute(name, *numbers);
  onnx_file::Message result = onnx_file::Message().text(1, name);
  if (const auto* real = std::get_if<double>(&value))
    return result.real(2, static_cast<float>(*real)).integer(20, 1);
  return result.text(4, std::get<std::string>(value)).integer(20, 3);
}

inline std::vector<Value> OneNode::operator()(const std::vector<Value>& inputs) const {
  onnx_file::Graph graph;
  onnx_file::Message node;
  NamedValues given;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = inputs[i].is_empty() ? "" : "in" + std::to_string(i);
    node.text(1, name);
    if (name.empty()) continue;
    const auto type = static_cast<std::int64_t>(inputs[i].type());
    const onnx_file::Message of_type = onnx_file::Message().integer(1, type);
    graph.inputs.push_back(
        onnx_file::Message().text(1, name).message(2, onnx_file::Message().message(1, of_type)));
    given.emplace(name, inputs[i]);
  }
  const auto output = [](std::size_t i) { return "out" + std::to_string(i); };
  for (std::size_t i = 0; i < outputs; ++i) {
    node.text(2, output(i));
    graph.outputs.push_back(onnx_file::Message().text(1, output(i)));
  }
  node.text(3, "it").text(4, op);
  for (const auto& [name, value] : attributes) node.message(5, attribute_of(name, value));
  graph.nodes.push_back(node);
  const NamedValues found = onnx_file::load(graph, opset)(given);
  std::vector<Value> results;
  for (std::size_t i = 0; i < outputs; ++i) results.push_back(found.at(output(i)));
  return results;
}

}  // namespace weft::onnx
