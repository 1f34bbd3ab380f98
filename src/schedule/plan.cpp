#include <weft/dev/schedule/plan.h>

#include <unordered_map>

#include <weft/dev/ir/graph.h>
#include <weft/dev/rewrite/rewriter.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/dev/schedule/region.h>

#include "emit.h"

namespace weft {
namespace {

// Simplified as far as they can be without loops.
std::vector<Root> simplified(const std::vector<Root>& roots) {
  std::vector<UOp> tensors;
  for (const Root& root : roots) tensors.push_back(root.tensor);
  static const RuleSet sets[] = {{"tensors", {&algebra(Algebra::Off), &region_rules()}},
                                 {"tensors", {&algebra(Algebra::Exact), &region_rules()}},
                                 {"tensors", {&algebra(Algebra::Fast), &region_rules()}}};
  const auto& rules = sets[static_cast<std::size_t>(algebra_in_force())];
  tensors = rewrite(tensors, rules, {.pass = "tensors"});
  std::vector<Root> result;
  for (std::size_t i = 0; i < roots.size(); ++i) result.push_back({tensors[i], roots[i].device});
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
  plan.arena = std::make_unique<Arena>();
  const std::vector<UOp> kept = import_graph(nodes, from, *plan.arena);
  for (std::size_t i = 0; i < named.size(); ++i) *named[i] = kept[i];
}

}  // namespace

Plan make_plan(const std::vector<Root>& roots, const Profile& profile) {
  const CutGraph graph = cut(simplified(roots), profile);
  const std::vector<Body> opened = bodies(graph);
  Plan plan;
  emit(graph, fuse(graph, opened, profile), plan);
  find_inputs(roots, plan);
  keep(plan, Interner::current());
  return plan;
}

}  // namespace weft
