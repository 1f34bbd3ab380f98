#include <weft/dev/schedule/plan.h>

#include <unordered_map>

#include <weft/dev/ir/graph.h>
#include <weft/dev/rewrite/rewriter.h>
#include <weft/dev/rules/spec.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/dev/schedule/region.h>
#include <weft/error.h>
#include <weft/settings.h>

#include "emit.h"

namespace weft {
namespace {

// A call is its body on the arguments; calls inside the body are bodies already.
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

const RuleSet& tensor_rules(Algebra algebra_used) {
  static const RuleSet calls{"calls", {rule(node(Op::Call), open_call)}};
  static const auto with = [](Algebra used) {
    return RuleSet{"tensors", {&calls, &algebra(used), &region_rules()}};
  };
  static const RuleSet sets[] = {with(Algebra::Off), with(Algebra::Exact), with(Algebra::Fast)};
  return sets[static_cast<std::size_t>(algebra_used)];
}

bool looks_at_memory(const Node* node) {
  while (info(node->op()).cls == OpClass::Movement || node->op() == Op::Detach) node = node->src(0);
  return node->op() == Op::Buffer || node->op() == Op::After;
}

// Simplified as far as they can be without loops.
std::vector<Root> simplified(const std::vector<Root>& roots) {
  std::vector<UOp> tensors;
  for (const Root& root : roots) tensors.push_back(root.tensor);
  tensors = rewrite(tensors, tensor_rules(algebra_in_force()));
  std::vector<Root> result;
  for (std::size_t i = 0; i < roots.size(); ++i) {
    // What was computed stays apart from memory that it turns out to equal.
    const bool is_new =
        looks_at_memory(tensors[i].node()) && !looks_at_memory(roots[i].tensor.node());
    result.push_back({is_new ? make(Op::Contiguous, {tensors[i]}) : tensors[i], roots[i].device});
    Interner::current().inherit(result[i].tensor.node(), roots[i].tensor.node(),
                                Interner::current());
  }
  return result;
}

// What a run has to be given.
void find_inputs(const std::vector<Root>& roots, Plan& plan) {
  std::vector<const Node*> nodes;
  for (const Root& root : roots) nodes.push_back(root.tensor.node());
  std::unordered_map<std::uint64_t, std::size_t> number;
  for (const Node* node : toposort(nodes)) {
    if (node->op() == Op::Buffer) number.emplace(node->arg<BufferArg>().id.value, number.size());
    if (node->op() == Op::Variable) plan.variables.emplace_back(node);
  }
  for (Slot& slot : plan.slots) {
    const auto input = number.find(slot.buffer->arg<BufferArg>().id.value);
    if (input != number.end()) slot.input = input->second;
  }
}

// Copies everything that the plan names into an arena of its own: what was tried on the way goes.
void keep(Plan& plan, Interner& from) {
  std::vector<UOp*> named;
  for (Slot& slot : plan.slots) named.push_back(&slot.buffer);
  for (Step& step : plan.steps)
    if (!step.kernel.is_null()) named.push_back(&step.kernel);
  for (UOp& root : plan.roots) named.push_back(&root);
  for (UOp& variable : plan.variables) named.push_back(&variable);
  std::vector<const Node*> nodes;
  for (const UOp* uop : named) nodes.push_back(uop->node());
  from.forget_origins();  // which have come to the steps, and mean nothing elsewhere
  plan.arena = std::make_unique<Arena>();
  const std::vector<UOp> kept = import_graph(nodes, from, *plan.arena);
  for (std::size_t i = 0; i < named.size(); ++i) *named[i] = kept[i];
}

}  // namespace

Plan make_plan(const std::vector<Root>& roots, const Profile& profile) {
  const bool is_checked = setting_int("SPEC") != 0;
  for (const Root& root : roots)
    if (is_checked) verify({{root.tensor.node()}}, Level::Tensor, "the program");
  const CutGraph graph = cut(simplified(roots), profile);
  const std::vector<Body> opened = bodies(graph);
  Plan plan;
  emit(graph, fuse(graph, opened, profile), plan);
  for (const Step& step : plan.steps)
    if (is_checked && !step.kernel.is_null())
      verify({{step.kernel.node()}}, Level::Kernel, "schedule");
  find_inputs(roots, plan);
  keep(plan, Interner::current());
  return plan;
}

}  // namespace weft
