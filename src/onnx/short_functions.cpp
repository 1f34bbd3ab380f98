#include "short_functions.h"

#include <algorithm>
#include <map>
#include <vector>

#include "cleanup_nodes.h"

namespace weft::onnx {
namespace {

constexpr int farthest_rounding = 6;  // of arithmetic, up to where it is rounded

struct ShortForm {
  Name domain, op, short_op;
};

constexpr ShortForm short_forms[] = {
    {"", "Erf", "ShortErf"},
    {"", "Gelu", "ShortGelu"},
    {"com.microsoft", "Gelu", "ShortGelu"},
};

class Readers {
 public:
  explicit Readers(GraphProto& graph) {
    for (NodeProto& node : graph.nodes)
      for_each_use(node, [&](Name& name) { readers_[name].push_back(&node); });
    for (const ValueInfoProto& output : graph.outputs) readers_[output.name].push_back(nullptr);
  }

  bool round(Name name, int steps = farthest_rounding) const {
    const auto found = readers_.find(name);
    return found != readers_.end() &&
           std::ranges::all_of(found->second, [&](const NodeProto* node) {
             if (node == nullptr) return false;
             return rounds(*node) || asks_for_type(*node, name) ||
                    (keeps_error(*node, name) && steps > 0 && round(node->outputs[0], steps - 1));
           });
  }

 private:
  // What is off by little still is: no difference of what is near, nor a divisor near 0.
  static bool keeps_error(const NodeProto& node, Name name) {
    if (!node.domain.empty() || node.inputs.size() != 2 || node.outputs.empty()) return false;
    return node.op == "Add" || node.op == "Mul" || (node.op == "Div" && node.inputs[1] != name);
  }
  static bool asks_for_type(const NodeProto& node, Name name) {
    return node.domain == "weft" && node.op == "Widen" && node.inputs[0] != name;
  }
  static bool rounds(const NodeProto& node) {
    return node.domain == "weft" && node.op == "Narrow" &&
           integer(node, "to", 0) == static_cast<std::int64_t>(Type::BF16);
  }

  std::map<Name, std::vector<const NodeProto*>> readers_;  // null: who takes what the graph gives
};

bool is_approximate(const NodeProto& node) {
  const AttributeProto* found = node.find("approximate");
  return found != nullptr && found->strings != std::vector<Name>{"none"};
}

}  // namespace

void shorten_functions(GraphProto& graph) {
  const Readers readers(graph);
  for (NodeProto& node : graph.nodes) {
    const auto* form = std::ranges::find_if(short_forms, [&](const ShortForm& each) {
      return each.op == node.op && each.domain == node.domain;
    });
    if (form == std::end(short_forms) || is_approximate(node) || node.outputs.empty() ||
        !readers.round(node.outputs[0]))
      continue;
    node.domain = "weft";
    node.op = form->short_op;
  }
}

}  // namespace weft::onnx
