// The nodes of a graph while they are rewritten.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "cleanup.h"
#include "proto.h"

namespace weft::onnx {

using Name = std::string_view;

inline AttributeProto int_attribute(Name name, std::int64_t value) {
  AttributeProto attribute;
  attribute.name = name;
  attribute.kind = AttributeProto::Int;
  attribute.ints = {value};
  return attribute;
}

// Calls `use` with every name that a node reads, also in graphs within it, and in Gradient's attributes.
void for_each_use(NodeProto& node, const std::function<void(Name&)>& use);
// Adds every name that graphs within the node give to values of theirs.
void add_inner_names(const NodeProto& node, std::unordered_set<Name>& names);

// The nodes: who makes a value, and how many read it.
class Nodes {
 public:
  Nodes(GraphProto& graph, std::int64_t opset, std::deque<std::string>& names,
        const CleanupRules& rules = {})
      : opset(opset), rules(rules), nodes_(graph.nodes), names_(names) {
    for (const TensorProto& each : graph.initialisers) {
      initialisers_.emplace(each.name, &each);
      taken_.insert(each.name);
    }
    for (const SparseTensorProto& each : graph.sparse_initialisers) taken_.insert(each.values.name);
    for (const ValueInfoProto& input : graph.inputs) taken_.insert(input.name);
    for (const ValueInfoProto& output : graph.outputs) outputs_.insert(output.name);
    for (NodeProto& node : nodes_) add(node);
  }

  const std::int64_t opset;
  const CleanupRules rules;

  // Null where it is an input, an initialiser or of another graph.
  NodeProto* producer(Name name) const {
    const auto found = producers_.find(name);
    return found == producers_.end() ? nullptr : found->second;
  }
  const TensorProto* initialiser(Name name) const {
    const auto found = initialisers_.find(name);
    return found == initialisers_.end() ? nullptr : found->second;
  }
  bool is_output(Name name) const { return outputs_.contains(name); }
  // A graph within has a value of that name as well: there it means another one.
  bool is_hidden(Name name) const { return inner_.contains(name); }
  // Only one node reads it, and nobody outside.
  bool has_one_reader(Name name) const {
    const auto found = readers_.find(name);
    return found != readers_.end() && found->second == 1 && !is_output(name);
  }
  // Made of initialisers and constants alone, as far as a few nodes tell.
  bool is_constant(Name name, int levels = 8) const {
    if (initialiser(name) != nullptr) return true;
    const NodeProto* node = producer(name);
    if (node == nullptr || levels == 0 || node->op.starts_with("Random")) return false;
    const bool has_graphs = std::ranges::any_of(
        node->attributes, [](const AttributeProto& each) { return !each.graphs.empty(); });
    if (has_graphs || (node->inputs.empty() && node->op != "Constant")) return false;
    return std::ranges::all_of(
        node->inputs, [&](Name input) { return input.empty() || is_constant(input, levels - 1); });
  }

  // All that read one read the other, and neither is hidden. The node that made it goes.
  void replace(Name old, Name now) {
    const auto rename = [&](NodeProto& node) {
      for_each_use(node, [&](Name& name) {
        if (name == old) name = now;
      });
    };
    std::ranges::for_each(nodes_, rename);
    std::ranges::for_each(made_, rename);
    readers_[now] += readers_[old] - 1;
    readers_.erase(old);
  }
  void read_instead(NodeProto& node, std::size_t input, Name now) {
    --readers_[node.inputs[input]];
    ++readers_[now];
    node.inputs[input] = now;
  }
  void remove(NodeProto& node) {
    for (const Name output : node.outputs) producers_.erase(output);
    node.op = {};
  }
  // A name that no value of the graph has.
  Name fresh(Name for_what) {
    std::string name;
    do {
      name = fmt::format("{} {}", for_what, names_.size() + tries_++);
    } while (taken_.contains(name) || inner_.contains(name));
    return *taken_.insert(names_.emplace_back(std::move(name))).first;
  }
  // Nodes that are made from now on are for this one of the file, and called as it is.
  void work_on(const NodeProto& node) { label_ = node.label(); }
  // A node of weft's own.
  NodeProto& make(Name op, std::vector<Name> inputs, std::vector<Name> outputs,
                  std::vector<AttributeProto> attributes) {
    NodeProto& node = made_.emplace_back();
    node.name = label_;
    node.op = op;
    node.domain = "weft";
    node.inputs = std::move(inputs);
    node.outputs = std::move(outputs);
    node.attributes = std::move(attributes);
    for (const Name input : node.inputs) ++readers_[input];
    for (const Name output : node.outputs) producers_[output] = &node;
    return node;
  }
  Name make(Name op, std::vector<Name> inputs, std::vector<AttributeProto> attributes = {}) {
    return make(op, std::move(inputs), {fresh(op)}, std::move(attributes)).outputs[0];
  }
  // The same node once more, whose outputs are others.
  NodeProto& copy(const NodeProto& node) {
    NodeProto& made = made_.emplace_back(node);
    for (Name& output : made.outputs)
      if (!output.empty()) output = fresh(output);
    for (const Name input : made.inputs) ++readers_[input];
    for (const Name output : made.outputs) producers_[output] = &made;
    return made;
  }
  // The node is another operator's, which gives the same value; it has no attributes yet.
  void become(NodeProto& node, Name op, std::vector<Name> inputs) {
    for (const Name input : node.inputs) --readers_[input];
    node.op = op;
    node.inputs = std::move(inputs);
    node.attributes.clear();
    for (const Name input : node.inputs) ++readers_[input];
  }
  // The node gives this value from now on.
  void give(NodeProto& node, Name output) {
    producers_.erase(node.outputs[0]);
    node.outputs = {output};
    producers_[output] = &node;
  }
  void finish() {
    std::erase_if(nodes_, [](const NodeProto& node) { return node.op.empty(); });
    for (NodeProto& node : made_) nodes_.push_back(std::move(node));
  }
  std::vector<NodeProto>& all() { return nodes_; }

 private:
  void add(NodeProto& node) {
    for (const Name output : node.outputs) {
      producers_.emplace(output, &node);
      taken_.insert(output);
    }
    for_each_use(node, [&](Name& name) { ++readers_[name]; });
    add_inner_names(node, inner_);
  }

  std::vector<NodeProto>& nodes_;
  std::deque<NodeProto> made_;
  std::deque<std::string>& names_;
  std::size_t tries_ = 0;
  Name label_;
  std::unordered_map<Name, NodeProto*> producers_;
  std::unordered_map<Name, const TensorProto*> initialisers_;
  std::unordered_map<Name, std::int64_t> readers_;
  std::unordered_set<Name> taken_, outputs_, inner_;
};

inline bool has_input(const NodeProto& node, std::size_t i) {
  return i < node.inputs.size() && !node.inputs[i].empty();
}

inline std::int64_t integer(const NodeProto& node, Name attribute, std::int64_t otherwise) {
  const AttributeProto* found = node.find(attribute);
  return found == nullptr || found->ints.empty() ? otherwise : found->ints[0];
}

bool has_padding(const NodeProto& node);
// Whether a convolution goes along the channels of padded images, whose places tiles read best where the padding lies in
// memory as well.
bool wants_surroundings(const NodeProto& node, const TensorProto* weight);

// How many of its first inputs an operator gives elements of, and nothing else; 0 where it computes others.
std::size_t chosen_inputs(const NodeProto& node);

// --- Rules of other files: each is given a node of its operator, and says whether it has done something ----

// Products of what DequantizeLinear gives of bytes: sums of integers.
bool multiply_in_matmul(Nodes& nodes, NodeProto& node);
bool multiply_in_gemm(Nodes& nodes, NodeProto& node);
bool multiply_in_conv(Nodes& nodes, NodeProto& node);
// QuantizeLinear by the scale of what DequantizeLinear gives: what lies between may work on the bytes.
bool keep_bytes(Nodes& nodes, NodeProto& node);
// QuantizeLinear of what a Relu gives, where it does the same.
bool leave_out_relu(Nodes& nodes, NodeProto& node);
// DequantizeLinear behind QuantizeLinear, which nobody else reads.
bool round_in_floats(Nodes& nodes, NodeProto& node);
// Not by a division, which takes longer: what comes to lie on the other side of a half becomes another step.
bool quantize_by_inverse(Nodes& nodes, NodeProto& node);
// Of DequantizeLinear, where it is 0.
bool leave_out_zero(Nodes& nodes, NodeProto& node);

}  // namespace weft::onnx
