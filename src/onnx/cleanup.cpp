#include "cleanup.h"

#include <algorithm>
#include <optional>

#include "cleanup_nodes.h"

namespace weft::onnx {

// Calls `use` with every name that a node reads, also in graphs within it, and in Gradient's attributes.
void for_each_use(NodeProto& node, const std::function<void(Name&)>& use) {
  const bool has_names = node.op == "Gradient" && node.domain == "ai.onnx.preview.training";
  for (Name& input : node.inputs)
    if (!input.empty()) use(input);
  for (AttributeProto& attribute : node.attributes) {
    if (has_names) std::ranges::for_each(attribute.strings, use);
    for (GraphProto& graph : attribute.graphs) {
      for (NodeProto& inner : graph.nodes) for_each_use(inner, use);
      for (ValueInfoProto& output : graph.outputs) use(output.name);
    }
  }
}

void add_inner_names(const NodeProto& node, std::unordered_set<Name>& names) {
  for (const AttributeProto& attribute : node.attributes)
    for (const GraphProto& graph : attribute.graphs) {
      for (const ValueInfoProto& input : graph.inputs) names.insert(input.name);
      for (const TensorProto& each : graph.initialisers) names.insert(each.name);
      for (const SparseTensorProto& each : graph.sparse_initialisers)
        names.insert(each.values.name);
      for (const NodeProto& inner : graph.nodes) {
        names.insert(inner.outputs.begin(), inner.outputs.end());
        add_inner_names(inner, names);
      }
    }
}

namespace {

bool gives_one(const NodeProto& node) {
  return !node.outputs.empty() &&
         std::ranges::all_of(node.outputs.begin() + 1, node.outputs.end(), &Name::empty);
}

// What gives its input: all that read it may read that.
bool pass_through(Nodes& nodes, NodeProto& node) {
  if (!gives_one(node) || !has_input(node, 0) || nodes.is_output(node.outputs[0])) return false;
  const Name from = node.inputs[0], to = node.outputs[0];
  if (nodes.is_hidden(from) || nodes.is_hidden(to)) return false;
  nodes.remove(node);
  nodes.replace(to, from);
  return true;
}

// --- The rules: each is given a node of its operator, and says whether it has done something ------------

bool remove_identity(Nodes& nodes, NodeProto& node) { return pass_through(nodes, node); }

// Where it is not asked to train. Before opset 7 it said so by an attribute.
bool remove_dropout(Nodes& nodes, NodeProto& node) {
  if (nodes.opset < 7 && integer(node, "is_test", 0) == 0) return false;
  return !has_input(node, 2) && pass_through(nodes, node);
}

std::optional<std::vector<std::int64_t>> order_of(const NodeProto& node) {
  const AttributeProto* found = node.find("perm");
  if (found == nullptr || !found->reference.empty() || found->ints.empty()) return {};
  std::vector<std::int64_t> sorted = found->ints;
  std::ranges::sort(sorted);
  for (std::size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != std::int64_t(i)) return {};
  return found->ints;
}

bool merge_transposes(Nodes& nodes, NodeProto& node) {
  NodeProto* inner = has_input(node, 0) ? nodes.producer(node.inputs[0]) : nullptr;
  if (inner == nullptr || inner->op != "Transpose" || !inner->domain.empty()) return false;
  const auto first = order_of(*inner), second = order_of(node);
  if (!first || !second || first->size() != second->size() || !has_input(*inner, 0)) return false;
  std::vector<std::int64_t> both;
  for (const std::int64_t axis : *second) both.push_back((*first)[static_cast<std::size_t>(axis)]);
  nodes.read_instead(node, 0, inner->inputs[0]);
  AttributeProto order = *node.find("perm");
  order.ints = both;
  node.attributes = {order};
  if (std::ranges::is_sorted(both)) pass_through(nodes, node);
  return true;
}

// The convolution whose output is only read here.
NodeProto* convolution_before(Nodes& nodes, const NodeProto& node, std::size_t input) {
  NodeProto* conv = has_input(node, input) ? nodes.producer(node.inputs[input]) : nullptr;
  const bool fits = conv != nullptr && conv->op == "Conv" && conv->domain.empty() &&
                    gives_one(*conv) && has_input(*conv, 1) &&
                    nodes.has_one_reader(conv->outputs[0]) && nodes.is_constant(conv->inputs[1]);
  return fits ? conv : nullptr;
}

// (conv(x, w) + b - mean) * f + shift is conv(x, w) * f + ((b - mean) * f + shift): one multiply-add for each output. Weights
// times f would be weights that are there twice.
bool fold_batch_normalization(Nodes& nodes, NodeProto& node) {
  const bool is_inference = nodes.opset >= 7 && integer(node, "spatial", 1) == 1 &&
                            integer(node, "training_mode", 0) == 0 && gives_one(node);
  NodeProto* conv = is_inference ? convolution_before(nodes, node, 0) : nullptr;
  if (conv == nullptr || node.inputs.size() != 5) return false;
  for (std::size_t i = 1; i < 5; ++i)
    if (!nodes.is_constant(node.inputs[i])) return false;
  if (has_input(*conv, 2) && !nodes.is_constant(conv->inputs[2])) return false;
  std::vector<AttributeProto> epsilon;
  if (const AttributeProto* found = node.find("epsilon")) epsilon = {*found};
  const Name scale = node.inputs[1], shift = node.inputs[2], mean = node.inputs[3],
             variance = node.inputs[4];
  const Name factor = nodes.make("Factor", {scale, variance}, epsilon);
  std::vector<Name> given{scale, shift, mean, variance};
  if (has_input(*conv, 2)) given.push_back(conv->inputs[2]);
  const Name bias = nodes.make("ScaledBias", std::move(given), epsilon);
  conv->inputs = {conv->inputs[0], conv->inputs[1]};
  nodes.become(node, "ScaleShift", {conv->outputs[0], factor, bias});
  node.domain = "weft";
  return true;
}

// One number for each channel, as what is added to (batch, channels, ...) has it.
bool is_per_channel(const TensorProto& tensor, const TensorProto& weight) {
  const std::size_t axes = weight.dims.size(), missing = axes - std::min(axes, tensor.dims.size());
  if (axes < 2 || tensor.dims.size() > axes || missing > 1) return false;
  for (std::size_t i = 0; i < tensor.dims.size(); ++i)
    if (tensor.dims[i] != (i + missing == 1 ? weight.dims[0] : 1)) return false;
  return true;
}

bool add_to_bias(Nodes& nodes, NodeProto& node) {
  if (nodes.opset < 7 || node.inputs.size() != 2) return false;
  for (std::size_t side : {0U, 1U}) {
    NodeProto* conv = convolution_before(nodes, node, side);
    const TensorProto* addend = nodes.initialiser(node.inputs[1 - side]);
    if (conv == nullptr || addend == nullptr || has_input(*conv, 2)) continue;
    const TensorProto* weight = nodes.initialiser(conv->inputs[1]);
    if (weight == nullptr || !is_per_channel(*addend, *weight)) continue;
    conv->inputs = {conv->inputs[0], conv->inputs[1], nodes.make("Flat", {addend->name})};
    const Name output = node.outputs[0];
    nodes.remove(node);
    nodes.give(*conv, output);
    return true;
  }
  return false;
}

// As files write GELU. A division takes as long as half of erf; elsewhere it is one instruction among loads and stores, which
// more of them would keep from being part of what reads them.
bool divide_by_product(Nodes& nodes, NodeProto& erf) {
  NodeProto* division = nodes.producer(erf.inputs[0]);
  if (division == nullptr || division->op != "Div" || !division->domain.empty() ||
      !nodes.has_one_reader(division->outputs[0]) || !nodes.is_constant(division->inputs[1]))
    return false;
  division->op = "Quotient";
  division->domain = "weft";
  return true;
}

struct CleanupRule {
  Name op;
  bool (*apply)(Nodes& nodes, NodeProto& node);
  bool changes_weights;
  Name domain = {};
};

constexpr CleanupRule all_rules[] = {
    {"Identity", remove_identity, false},
    {"Dropout", remove_dropout, false},
    {"Transpose", merge_transposes, false},
    {"BatchNormalization", fold_batch_normalization, true},
    {"Add", add_to_bias, true},
    {"Erf", divide_by_product, true},
    {"Conv", multiply_in_conv, true},
    {"Gemm", multiply_in_gemm, true},
    {"MatMul", multiply_in_matmul, true},
    {"QuantizeLinear", keep_bytes, true},
    {"QuantizeLinear", keep_bytes, true, "com.microsoft"},
    {"QuantizeLinear", leave_out_relu, true},
    {"QuantizeLinear", leave_out_relu, true, "com.microsoft"},
};

bool apply(Nodes& nodes, NodeProto& node, const CleanupRules& rules) {
  nodes.work_on(node);
  for (const CleanupRule& rule : all_rules)
    if (node.op == rule.op && node.domain == rule.domain &&
        !(rule.changes_weights && rules.trainable) && rule.apply(nodes, node))
      return true;
  return false;
}

}  // namespace

void clean_up(ModelProto& model, std::deque<std::string>& names, const CleanupRules& rules) {
  const auto standard = std::ranges::find(model.opsets, "", &OpsetId::domain);
  Nodes nodes(model.graph, standard == model.opsets.end() ? 1 : standard->version, names, rules);
  bool is_changed = true;
  while (is_changed) {  // each change takes a node away, or a transpose nearer to where it starts
    is_changed = false;
    for (NodeProto& node : nodes.all()) is_changed = apply(nodes, node, rules) || is_changed;
  }
  // Last: others look for what is quantised.
  if (!rules.trainable)
    for (const auto rule : {round_in_floats, quantize_by_inverse, leave_out_zero})
      for (NodeProto& node : nodes.all()) {
        nodes.work_on(node);
        rule(nodes, node);
      }
  nodes.finish();
}

}  // namespace weft::onnx
