#include "repair.h"

#include <algorithm>

#include "plan.h"

namespace weft::onnx {
namespace {

bool is_function(const ModelProto& model, const NodeProto& node) {
  return std::ranges::any_of(model.functions, [&](const FunctionProto& each) {
    return each.name == node.op && each.domain == node.domain;
  });
}

// A model of an opset that does not have its operators is one of the first that has: that is what its other nodes
// mean as well.
void raise_opset(ModelProto& model) {
  const auto own = std::ranges::find(model.opsets, "", &OpsetId::domain);
  if (own == model.opsets.end()) return;
  for (const NodeProto& node : model.graph.nodes)
    if (node.domain.empty() && !is_function(model, node))
      own->version = std::max(own->version, first_opset_of(node.domain, node.op));
}

// The gradient of a loss reads the logarithms of probabilities, which are the second output of the loss. With two
// inputs it is that of a tool which calls them the first.
void name_log_probabilities(GraphProto& graph) {
  for (const NodeProto& gradient : graph.nodes) {
    if (gradient.op != "SoftmaxCrossEntropyLossGrad" || gradient.inputs.size() != 2) continue;
    for (NodeProto& loss : graph.nodes)
      if (loss.op == "SoftmaxCrossEntropyLoss" && loss.domain.empty() && loss.outputs.size() == 1 &&
          loss.outputs[0] == gradient.inputs[0])
        loss.outputs = {"", gradient.inputs[0]};
  }
}

}  // namespace

void repair(ModelProto& model) {
  raise_opset(model);
  name_log_probabilities(model.graph);
}

}  // namespace weft::onnx
