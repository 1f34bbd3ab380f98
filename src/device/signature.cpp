// What is read off a kernel before it runs.

#include <weft/dev/device/device.h>
#include <weft/dev/ir/graph.h>
#include <weft/error.h>

namespace weft {

bool is_thread(const Node* node) {
  return node->op() == Op::Special && node->arg<SpecialArg>().kind == LoopKind::Thread &&
         node->arg<SpecialArg>().axis == 0 && node->src(0)->is_const();
}

Signature signature_of(const Node* kernel) {
  Signature signature;
  for (const Node* node : toposort(kernel)) {
    if (node->op() == Op::Variable) signature.variables.push_back(node);
    if (is_thread(node)) signature.thread = node;
    if (node->op() == Op::Special) signature.workers.push_back(node);
    if (node->op() != Op::Param) continue;
    if (node->arg<ParamArg>().slot < 0) internal_error("a kernel has a PARAM of negative slot");
    const auto slot = static_cast<std::size_t>(node->arg<ParamArg>().slot);
    if (slot >= signature.params.size()) signature.params.resize(slot + 1);
    signature.params[slot] = node;
  }
  return signature;
}

}  // namespace weft
