// Removes COPYs that transfer nothing: those of values that no device holds, which are recreated on
// the target device, and those of tensors that are on the target device already.

#include <unordered_set>

#include "rebuild.h"
#include "reshape.h"
#include "sharding/shard_rules.h"

namespace weft {
namespace {

// Returns the sources of a node without the sizes of a movement op.
NodeList data_of(const Node* node) {
  return is_movement(node) ? node->src().first(1) : node->src();
}

// Returns whether a node is computed from no other tensor.
bool is_source(const Node* node) {
  return info(node->op()).cls == OpClass::Leaf || node->op() == Op::Stage;
}

// The device that holds the memory a tensor is computed from. All of this memory is on one device.
struct SourceDevice {
  bool is_known = true;
  Symbol device = {};  // empty if the tensor reads no memory
};

SourceDevice source_device(const Node* tensor) {
  std::vector<const Node*> open{tensor};
  std::unordered_set<const Node*> seen;
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (!seen.insert(node).second) continue;
    if (node->op() == Op::Copy) return {.device = node->arg<DeviceArg>().device};
    if (node->op() == Op::Buffer)
      return {!node->arg<BufferArg>().device.empty(), node->arg<BufferArg>().device};
    if (OpSet{Op::Param, Op::Shard, Op::Multi, Op::Call}.contains(node->op())) return {false, {}};
    if (!is_source(node))
      for (const Node* source : data_of(node)) open.push_back(source);
  }
  return {};
}

// Returns a copy of the graph whose sources are copied to the device. A graph shared by several
// devices would be computed on the first one that needs it.
UOp recreated_on(const Node* tensor, Symbol device) {
  return rebuilt({UOp(tensor)}, [&](const Node* node, std::vector<UOp> sources) {
    if (is_source(node)) return make(Op::Copy, {UOp(node)}, {}, DeviceArg{device});
    for (std::size_t i = data_of(node).size(); i < node->size(); ++i)
      sources[i] = UOp(node->src(i));
    return with_sources(UOp(node), sources);
  })[0];
}

UOp remove_needless_copy(const Match& m) {
  const Node* tensor = m.root()->src(0);
  if (is_source(tensor) && tensor->op() != Op::Buffer) return {};
  const Symbol device = m.root()->arg<DeviceArg>().device;
  const SourceDevice place = source_device(tensor);
  if (!place.is_known) return {};
  if (place.device.empty()) return recreated_on(tensor, device);
  return place.device == device ? UOp(tensor) : UOp();
}

}  // namespace

const RuleSet& copy_rules() {
  static const RuleSet rules{"copies", {rule(node(Op::Copy), remove_needless_copy)}};
  return rules;
}

}  // namespace weft
