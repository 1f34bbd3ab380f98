#include <weft/dev/engine/realize.h>

#include <map>
#include <unordered_map>

#include <weft/dev/engine/storage.h>
#include <weft/dev/ir/graph.h>

#include "resolve.h"
#include "run.h"

namespace weft {
namespace {

constexpr std::size_t most_plans = 1024;

using PlanKey = std::tuple<std::uint64_t, std::uint64_t, std::string>;

struct Plans {
  std::mutex mutex;
  std::map<PlanKey, std::shared_ptr<RunnablePlan>> made;
};

Plans& plans() {
  static auto& all = *new Plans;  // leaked on purpose, like the programs
  return all;
}

// Graphs of one structure share a plan: only their memory differs.
std::shared_ptr<RunnablePlan> plan_for(const Resolved& resolved) {
  std::vector<const Node*> nodes;
  std::string devices;
  for (const Root& root : resolved.roots) {
    nodes.push_back(root.tensor.node());
    devices += compilation_key(find_device(root.device.get())) + ",";
  }
  const StructuralHash hash = structural_hash(nodes);
  const PlanKey key{hash.high, hash.low, devices};
  {
    const std::lock_guard lock(plans().mutex);
    const auto found = plans().made.find(key);
    if (found != plans().made.end()) return found->second;
  }
  auto plan = std::make_shared<RunnablePlan>();
  plan->plan = make_plan(resolved.roots, Profile{});
  const std::lock_guard lock(plans().mutex);
  if (plans().made.size() >= most_plans) plans().made.clear();
  return plans().made.try_emplace(key, std::move(plan)).first->second;
}

bool is_only_view(const Node* node) {
  while (info(node->op()).cls == OpClass::Movement || node->op() == Op::Detach) node = node->src(0);
  return node->op() == Op::Buffer;
}

// What a run leaves behind, in the shared graph.
struct Results {
  std::vector<UOp> buffers;  // by slot; null for what the run alone needs
  std::vector<UOp> roots;    // over those
};

// A slot that a root only reshapes has the root's shape from now on.
const Node* shaped_like(const UOp& root, const Node* slot) {
  return root->op() == Op::Reshape && root->src(0) == slot ? root.node() : slot;
}

Results results_of(const Plan& plan, const Resolved& resolved) {
  Results results{std::vector<UOp>(plan.slots.size()), {}};
  std::vector<const Node*> nodes;
  std::unordered_map<std::uint64_t, std::size_t> slot_of;
  for (std::size_t i = 0; i < plan.slots.size(); ++i) {
    slot_of.emplace(plan.slots[i].buffer->arg<BufferArg>().id.value, i);
    if (plan.slots[i].input) results.buffers[i] = resolved.buffers[*plan.slots[i].input];
  }
  for (const auto* list : {&plan.roots, &plan.variables})
    for (const UOp& uop : *list) nodes.push_back(uop.node());
  const InternerScope scope(shared_graph());
  const std::vector<UOp> imported = import_graph(nodes, *plan.arena, shared_graph());
  Substitution known;
  for (std::size_t i = 0; i < plan.variables.size(); ++i)
    known.emplace(imported[plan.roots.size() + i].node(), resolved.variables[i]);
  for (std::size_t i = 0; i < plan.roots.size(); ++i) {
    const UOp& root = imported[i];
    for (const Node* node : toposort(root.node())) {
      if (node->op() != Op::Buffer || known.contains(node)) continue;
      UOp& buffer = results.buffers[slot_of.at(node->arg<BufferArg>().id.value)];
      if (buffer.is_null()) {
        Sizes sizes;
        for (const Node* size : shaped_like(root, node)->dims())
          sizes.push_back(substitute(UOp(size), known));
        buffer = new_buffer(node->dtype(), sizes, find_device(node->arg<BufferArg>().device.get()));
      }
      known.emplace(node, reshape(buffer, sizes_of(UOp(node))));
    }
    results.roots.push_back(reshape(substitute(root, known), sizes_of(root)));
  }
  return results;
}

// The nodes of one tensor that are the same elements in the same order know where they are.
void note(const UOp& tensor, const UOp& result) {
  for (const Node* node = tensor.node(); node->op() != Op::Buffer; node = node->src(0)) {
    shared_graph().attach(node, std::make_shared<UOp>(reshape(result, sizes_of(UOp(node)))));
    if (!OpSet{Op::Reshape, Op::Contiguous, Op::Detach}.contains(node->op())) break;
  }
}

}  // namespace

UOp computed(const Node* node) {
  if (node->op() == Op::Buffer) return UOp(node);
  const auto note = shared_graph().attached<UOp>(node);
  return note != nullptr ? *note : UOp();
}

std::vector<UOp> realize(const std::vector<Wanted>& wanted) {
  Arena arena;
  Resolved resolved;
  std::vector<std::size_t> open;  // which of them there is something to do for
  std::vector<UOp> results(wanted.size());
  std::vector<Wanted> needed;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const UOp known = computed(wanted[i].tensor.node());
    results[i] = known.is_null() ? wanted[i].tensor : known;
    if (is_only_view(results[i].node())) continue;
    open.push_back(i);
    needed.push_back(wanted[i]);
  }
  if (open.empty()) return results;
  std::shared_ptr<RunnablePlan> runnable;
  {
    const InternerScope scope(arena);
    resolved = resolve(needed);
    runnable = plan_for(resolved);
  }
  const Results made = results_of(runnable->plan, resolved);
  std::vector<std::shared_ptr<Buffer>> memory;
  for (const UOp& buffer : made.buffers)
    memory.push_back(buffer.is_null() ? nullptr : memory_of(buffer.node()));
  run(*runnable, std::move(memory), resolved.values);
  for (std::size_t i = 0; i < open.size(); ++i) {
    results[open[i]] = made.roots[i];
    note(wanted[open[i]].tensor, made.roots[i]);
  }
  return results;
}

}  // namespace weft
