// Inlines CALLs: a CALL becomes its body with the arguments in place of the PARAMs.

#include <weft/dev/ir/graph.h>
#include <weft/error.h>

#include "sharding/shard_rules.h"

namespace weft {
namespace {

// The rewriter works bottom-up, so calls inside the body are inlined already.
UOp open_call(const Match& m) {
  const Node* call = m.root();
  Substitution arguments;
  for (const Node* node : toposort(call->src(0))) {
    if (node->op() != Op::Param) continue;
    const auto slot = static_cast<std::size_t>(node->arg<ParamArg>().slot);
    if (slot + 1 >= call->size()) internal_error("a call without an argument for its body");
    arguments.emplace(node, call->src(slot + 1));
  }
  return substitute(UOp(call->src(0)), arguments);
}

}  // namespace

const RuleSet& call_rules() {
  static const RuleSet rules{"calls", {rule(node(Op::Call), open_call)}};
  return rules;
}

}  // namespace weft
