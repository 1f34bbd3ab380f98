#include <weft/dev/engine/realize.h>

#include <weft/dev/engine/storage.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/dev/schedule/kernel.h>
#include <weft/dev/schedule/ranges.h>

namespace weft {

UOp computed(const Node* node) {
  if (node->op() == Op::Buffer) return UOp(node);
  const auto note = std::static_pointer_cast<UOp>(shared_graph().attached(node));
  return note != nullptr ? *note : UOp();
}

std::vector<UOp> realize(const std::vector<Wanted>& wanted) {
  std::vector<UOp> results;
  for (const auto& [tensor, device_name] : wanted) {
    if (tensor->op() == Op::Buffer) {
      results.push_back(tensor);
      continue;
    }
    Substitution known;
    for (const Node* node : toposort(tensor.node()))
      if (const UOp found = computed(node); !found.is_null() && found.node() != node)
        known.emplace(node, found);
    const UOp value = substitute(tensor, known);
    Device& device = find_device(device_name.get());
    const UOp result = new_buffer(value->dtype(), sizes_of(value), device);
    std::vector<UOp> buffers{result};
    for (const Node* node : toposort(value.node()))
      if (node->op() == Op::Buffer) buffers.emplace_back(node);
    Substitution params;
    std::vector<UOp> slots;
    std::vector<Argument> arguments;
    for (const UOp& buffer : buffers) {
      const auto slot = static_cast<std::int32_t>(slots.size());
      slots.push_back(make(Op::Param, sizes_of(buffer), buffer->dtype(),
                           ParamArg{slot, slot == 0 ? Access::Write : Access::Read, 0}));
      params.emplace(buffer.node(), slots.back());
      arguments.push_back(memory_of(buffer.node())->argument());
    }
    UOp kernel = make_kernel("k", {{slots[0], substitute(value, params)}});
    kernel = simplify(ranges({kernel}), {})[0];
    device.load(device.compile(device.render(kernel.node())))->run(arguments, {});
    shared_graph().attach(tensor.node(), std::make_shared<UOp>(result));
    results.push_back(result);
  }
  return results;
}

}  // namespace weft
