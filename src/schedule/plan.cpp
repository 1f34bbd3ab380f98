#include <weft/dev/schedule/plan.h>

#include <algorithm>
#include <unordered_map>

#include <weft/dev/device/device.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/rewrite/rewriter.h>
#include <weft/dev/rules/spec.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/dev/schedule/region.h>
#include <weft/dev/schedule/shards.h>
#include <weft/settings.h>

#include "emit.h"
#include "fusion/fission.h"
#include "fusion/split_outputs.h"
#include "graph/empty_tensors.h"
#include "graph/loop_invariant.h"
#include "graph/region_inference.h"
#include "graph/split_axes.h"
#include "graph/split_reduction.h"
#include "graph/uniform_sums.h"
#include "layout/concat_elimination.h"
#include "layout/layout_assignment.h"
#include "loops/loop_reroll.h"
#include "loops/step_loop.h"
#include "memory/buffer_reuse.h"
#include "memory/data_flow.h"
#include "memory/rematerialize.h"
#include "sharding/shard_rules.h"
#include "shared_kernels.h"

namespace weft {
namespace {

const RuleSet& tensor_rules(Algebra algebra_used) {
  static const auto with = [](Algebra used) {
    return RuleSet{"tensors",
                   {&call_rules(), &algebra(used), &region_rules(), &split_reduction_rules()}};
  };
  static const RuleSet sets[] = {with(Algebra::Off), with(Algebra::Exact), with(Algebra::Fast)};
  return sets[static_cast<std::size_t>(algebra_used)];
}

// Returns whether the node is memory, looking through movement and the `passing` ops.
bool looks_at_memory(const Node* node, OpSet passing) {
  while (info(node->op()).cls == OpClass::Movement || passing.contains(node->op()))
    node = node->src(0);
  return node->op() == Op::Buffer || node->op() == Op::After;
}

// Inlines calls before any other rule runs, so that the graph is the same as if it had none.
std::vector<UOp> without_calls(const std::vector<UOp>& tensors) {
  const auto is_call = [](const Node* node) { return node->op() == Op::Call; };
  return std::ranges::any_of(toposort(nodes_of(tensors)), is_call) ? rewrite(tensors, call_rules())
                                                                   : tensors;
}

// Applies the sharding rules. A root on several devices becomes a MULTI.
std::vector<UOp> on_their_devices(std::vector<UOp> tensors, const std::vector<Root>& roots) {
  const Collectives collectives{all_reduce_in_force()};
  if (has_several_devices(nodes_of(tensors)))
    tensors = rewrite(tensors, shard_rules(), {.context = &collectives});
  for (std::size_t i = 0; i < roots.size(); ++i)
    if (tensors[i]->op() != Op::Multi && are_several(roots[i].device.get()))
      tensors[i] =
          rewrite(make(Op::Shard, {tensors[i]}, {}, ShardArg{-1, roots[i].device}), shard_rules());
  return tensors;
}

// The roots after the rewrites of the tensor graph; `parts` contains a MULTI part by part.
struct Simplified {
  std::vector<UOp> tensors;
  std::vector<Root> parts;

  void add(const Root& root, const UOp& tensor, Symbol device) {
    // A computed value gets memory of its own even if it was simplified to a view of other memory.
    const bool is_new = looks_at_memory(tensor.node(), {Op::Detach, Op::Remat}) &&
                        !looks_at_memory(root.tensor.node(), {Op::Detach});
    parts.push_back({is_new ? make(Op::Contiguous, {tensor}) : tensor, device});
    Interner& arena = Interner::current();
    arena.inherit(parts.back().tensor.node(), root.tensor.node(), arena);
  }

  // Reassembles the roots from their planned parts.
  std::vector<UOp> joined(const std::vector<UOp>& made) const {
    std::vector<UOp> roots;
    auto next = made.begin();
    for (const UOp& tensor : tensors) {
      const auto count = tensor->op() == Op::Multi ? std::ssize(tensor->src()) : 1;
      roots.push_back(tensor->op() == Op::Multi ? with_sources(tensor, {next, next + count})
                                                : *next);
      next += count;
    }
    return roots;
  }
};

Simplified simplified(const std::vector<Root>& roots) {
  Simplified result;
  for (const Root& root : roots) result.tensors.push_back(root.tensor);
  result.tensors = rewrite(without_calls(result.tensors), tensor_rules(algebra_in_force()));
  result.tensors =
      with_needed_regions(with_invariants_hoisted(with_uniform_reductions_hoisted(result.tensors)));
  result.tensors = with_axes_split(result.tensors);
  result.tensors = without_empty(on_their_devices(result.tensors, roots));
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const UOp& tensor = result.tensors[i];
    if (tensor->op() != Op::Multi) {
      result.add(roots[i], tensor, roots[i].device);
      continue;
    }
    const std::vector<Symbol> devices = devices_of(tensor.node());
    for (std::size_t part = 0; part < devices.size(); ++part)
      result.add(roots[i], tensor.src(part), devices[part]);
  }
  return result;
}

// By how many percent rematerialisation may lengthen a run.
std::int64_t percent_in_force() {
  thread_local KnownSetting<std::int64_t> known;
  return known.value([] { return setting_int("RECOMPUTE"); });
}

double seconds_of(const Fusion& fusion) {
  double seconds = 0;
  for (const FusedKernel& kernel : fusion.kernels) seconds += kernel.seconds;
  return seconds;
}

// A partition, its kernels, and its peak memory in bytes.
struct Fused {
  Partition partition;
  std::vector<IterationDomain> opened;
  Fusion fusion;
  PointFlow flow;
  std::size_t most;

  // The domains of points that `before` also has are taken from there.
  Fused(Partition of, const Target& target, const Fused* before = nullptr)
      : partition(std::move(of)),
        opened(before != nullptr ? domains(partition, before->partition, before->opened)
                                 : domains(partition)),
        fusion(fuse(partition, opened, target)),
        flow(partition, fusion),
        most(most_at_once(lifetimes(partition, fusion, flow))) {}
};

// Fuses the partition, and rematerialises values as long as peak memory falls and time permits.
Fused fused(Partition partition, const Target& target) {
  constexpr int most_rounds = 4;
  // For each percent, recomputing a byte may take as long as moving this many bytes.
  constexpr double moves_per_percent = 2;
  Fused best(std::move(partition), target);
  const auto percent = static_cast<double>(percent_in_force());
  const double most_seconds = seconds_of(best.fusion) * (1 + percent / 100);
  for (int round = 0; round < most_rounds; ++round) {
    const RecomputeBudget price{
        most_seconds - seconds_of(best.fusion),
        percent * moves_per_percent / memory_bytes_per_second(target.machine)};
    const auto again = worth_rematerializing(best.partition, best.fusion, best.flow, price);
    if (!again) break;
    Fused next(with_copies(best.partition, best.fusion, best.flow, *again), target, &best);
    if (next.most >= best.most || seconds_of(next.fusion) > most_seconds) break;
    best = std::move(next);
  }
  return best;
}

// Finds what a run must be given: the slots that are inputs, and the variables.
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

// Copies all nodes that the plan names into an arena of its own; intermediate nodes stay behind.
void keep(Plan& plan, Interner& from) {
  std::vector<UOp*> named = names_of(plan);
  std::erase_if(named, [](const UOp* uop) { return uop->is_null(); });
  std::vector<const Node*> nodes;
  for (const UOp* uop : named) nodes.push_back(uop->node());
  from.forget_origins();  // the steps hold those that matter
  plan.arena = std::make_unique<Arena>();
  const std::vector<UOp> kept = import_graph(nodes, from, *plan.arena);
  for (std::size_t i = 0; i < named.size(); ++i) *named[i] = kept[i];
}

std::vector<KernelOnDevice> kernels_of(const Plan& plan) {
  std::vector<KernelOnDevice> kernels;
  for (const Step& step : plan.steps)
    if (!step.kernel.is_null()) kernels.push_back({step.kernel, step.device});
  return kernels;
}

}  // namespace

Plan make_plan(const std::vector<Root>& roots, const Target& target, const KernelSeconds& seconds) {
  const bool is_checked = setting_int("SPEC") != 0;
  for (const Root& root : roots)
    if (is_checked) verify({{root.tensor.node()}}, Level::Tensor, "the program");
  const Simplified tensors = simplified(roots);
  const bool has_loops = setting_int("LOOPS") != 0;
  const std::vector<Root> steps = has_loops ? with_loops_rerolled(tensors.parts) : tensors.parts;
  const Fused kernels = fused(partition_graph(steps, target), target);
  Plan plan;
  emit(kernels.partition, kernels.fusion, plan);
  plan.roots = tensors.joined(plan.roots);
  find_inputs(roots, plan);
  eliminate_concats(plan);
  if (seconds) {
    seconds.find(kernels_of(plan));
    split_outputs(plan, seconds, target);
    KernelForms forms(seconds, target);
    split_kernels(plan, seconds, target, forms);
    assign_layouts(plan, forms);
    share_iterations(plan, seconds);
  }
  std::optional<DataFlow> flow;
  if (is_checked) flow.emplace(plan);
  reuse_inputs(plan, seconds, in_place_in_force());
  if (flow) flow->check(plan, "the reuse of memory");
  share_kernels(plan);
  for (const Step& step : plan.steps)
    if (is_checked && !step.kernel.is_null())
      verify({{step.kernel.node()}}, Level::Kernel, "schedule");
  keep(plan, Interner::current());
  return plan;
}

}  // namespace weft
