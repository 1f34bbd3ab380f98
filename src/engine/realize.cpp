#include <weft/dev/engine/realize.h>

#include <algorithm>
#include <memory>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include <weft/dev/base/internal.h>
#include <weft/dev/base/lru_cache.h>
#include <weft/dev/engine/call_list.h>
#include <weft/dev/engine/callers.h>
#include <weft/dev/engine/lineage.h>
#include <weft/dev/engine/schedule.h>
#include <weft/dev/engine/storage.h>
#include <weft/dev/engine/tuning.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/text.h>
#include <weft/error.h>
#include <weft/settings.h>

#include "free_numbers.h"
#include "kept_work.h"
#include "programs.h"
#include "resolve.h"
#include "run.h"
#include "step_callers.h"

namespace weft {
namespace {

constexpr std::size_t most_plans = 1024;

// The structure, the compilers and settings, and whether the steps know what of the graph they compute.
using PlanKey = std::tuple<std::uint64_t, std::uint64_t, std::string, bool>;

struct Plans {
  std::mutex mutex;
  std::size_t count = 0;  // of those that were made
  LruCache<PlanKey, std::shared_ptr<RunnablePlan>> made{most_plans};
};

Plans& plans() {
  static auto& all = *new Plans;  // leaked on purpose, like the programs
  return all;
}

// What all of their devices have, and the threads of the last.
Profile profile_for(const std::vector<Root>& roots) {
  Profile profile;
  for (const Root& root : roots)
    for (const Device* device : find_devices(root.device.get())) {
      const Target target = device->target();
      profile.threads = target.machine.workers;
      profile.fuses = profile.fuses && target.ops.contains(Op::MulAcc);
      if (&root == &roots[0]) profile.mma = target.mma;
      std::erase_if(profile.mma, [&](const MmaShape& shape) {
        return std::ranges::find(target.mma, shape) == target.mma.end();
      });
    }
  return profile;
}

std::size_t bytes_of_constants(const Resolved& resolved) {
  std::size_t bytes = 0;
  for (const UOp& buffer : resolved.buffers)
    if (buffer->arg<BufferArg>().space == Space::Constant)
      bytes += bytes_of(buffer->dtype(), buffer->dims());
  return bytes;
}

// Kept on disk, by what it depends on.
Plan made_plan(const Resolved& resolved, const std::string& key,
               const std::shared_ptr<const ExtraRuleList>& extra) {
  const bool is_kept = may_keep_work(*extra);
  if (is_kept)
    if (auto known = known_plan(key)) return std::move(*known);
  const Profile profile = profile_for(resolved.roots);
  const std::size_t constants = bytes_of_constants(resolved);
  Plan plan = setting_int("LAYOUTS") == 0
                  ? make_plan(resolved.roots, profile)
                  : make_plan(resolved.roots, profile, expected_seconds(extra, constants));
  const InternerScope scope(*plan.arena);
  for (Step& step : plan.steps)
    if (!step.kernel.is_null() && !step.is_once)
      step.kernel = among_constants(step.kernel, find_device(step.device.get()), constants);
  if (is_kept) keep_plan(key, plan);
  return plan;
}

// Of all that may compute something. A device without a compiler may still have memory.
std::string keys_of_devices(const Resolved& resolved, const ExtraRuleList& extra) {
  std::set<std::string> names;
  for (const Root& root : resolved.roots) names.insert(root.device.get());
  for (const UOp& buffer : resolved.buffers) names.insert(buffer->arg<BufferArg>().device.get());
  std::string keys;
  for (const std::string& name : names)
    for (Device* device : find_devices(name)) try {
        keys += compilation_key(*device, extra) + ",";
      } catch (const Error&) {
        keys += name + ",";
      }
  return keys;
}

StructuralHash hash_of(const Resolved& resolved) {
  std::vector<const Node*> nodes;
  for (const Root& root : resolved.roots) nodes.push_back(root.tensor.node());
  return structural_hash(nodes);
}

// Graphs of one structure share a plan: only their memory differs, and numbers that change.
std::shared_ptr<RunnablePlan> plan_for(Resolved& resolved,
                                       const std::shared_ptr<const ExtraRuleList>& extra) {
  std::string devices = keys_of_devices(resolved, *extra);
  devices += setting("ALLREDUCE") + "," + setting("IN_PLACE") + ",";
  devices += setting("LOOPS") + "," + setting("LAYOUTS") + "," + setting("WINOGRAD") + "," +
             setting("DIGITS") + ",";
  devices += setting("WINOGRAD_BAND") + "," + setting("WINOGRAD_ERROR") + ",";
  devices += setting("RECOMPUTE") + ",";
  devices += setting("BEAM");  // a plan keeps what a search has found
  const auto known = [&](const StructuralHash& hash) -> std::shared_ptr<RunnablePlan> {
    const std::lock_guard lock(plans().mutex);
    const auto* found =
        plans().made.find({hash.high, hash.low, devices, !resolved.origins.empty()});
    return found == nullptr ? nullptr : *found;
  };
  StructuralHash hash = hash_of(resolved);
  if (auto plan = known(hash)) return plan;
  // What is replayed has the numbers that it was recorded with; and where callers are noted, each line has its kernels.
  if (CallList::recording() == nullptr && resolved.origins.empty() && free_numbers(resolved)) {
    hash = hash_of(resolved);
    if (auto plan = known(hash)) return plan;
  }
  auto plan = std::make_shared<RunnablePlan>();
  plan->plan = made_plan(resolved,
                         fmt::format("{:016x}{:016x}\n{}\n{}", hash.high, hash.low, devices,
                                     resolved.origins.empty() ? "" : "with origins"),
                         extra);
  plan->extra = extra;
  const std::lock_guard lock(plans().mutex);
  ++plans().count;
  return plans().made.insert({hash.high, hash.low, devices, !resolved.origins.empty()},
                             std::move(plan));
}

// What a chain of movement looks at.
const Node* seen_by(const Node* node) {
  while (info(node->op()).cls == OpClass::Movement || node->op() == Op::Detach) node = node->src(0);
  return node;
}

// What a run leaves behind, in the shared graph.
struct Results {
  std::vector<UOp> buffers;  // by slot; null for what the run alone needs
  std::vector<UOp> roots;    // over those
  std::vector<UOp> overwritten;
};

// A slot that a root only reshapes has the root's shape from now on.
const Node* shaped_like(const UOp& root, const Node* slot) {
  return root->op() == Op::Reshape && root->src(0) == slot ? root.node() : slot;
}

// Where each BUFFER of the plan is among its slots.
using SlotOf = std::unordered_map<std::uint64_t, std::size_t>;

// Memory that is assigned to is a new BUFFER from then on: what was computed from the old one is not taken
// for what the same graph would give now.
void renew_overwritten(const Plan& plan, const Resolved& resolved, const SlotOf& slot_of,
                       Results& results) {
  for (std::size_t i = 0; i < plan.roots.size(); ++i) {
    if (resolved.roots[i].tensor->op() != Op::After) continue;
    for (const Node* buffer : buffers_of(plan.roots[i].node())) {
      const std::size_t slot = slot_of.at(buffer->arg<BufferArg>().id.value);
      const auto input = plan.slots[slot].input;
      if (!input) continue;
      const UOp& before = resolved.buffers[*input];
      if (!results.buffers[slot].is(before)) continue;
      results.buffers[slot] =
          new_buffer(before->dtype(), sizes_of(before), memory_of(before.node()));
      results.overwritten.push_back(before);
    }
  }
}

Results results_of(const Plan& plan, const Resolved& resolved) {
  Results results{std::vector<UOp>(plan.slots.size()), {}, {}};
  std::vector<const Node*> nodes;
  SlotOf slot_of;
  for (std::size_t i = 0; i < plan.slots.size(); ++i) {
    slot_of.emplace(plan.slots[i].buffer->arg<BufferArg>().id.value, i);
    if (const auto& input = plan.slots[i].input) results.buffers[i] = resolved.buffers[*input];
  }
  renew_overwritten(plan, resolved, slot_of, results);
  for (const auto* list : {&plan.roots, &plan.variables})
    for (const UOp& uop : *list) nodes.push_back(uop.node());
  const InternerScope scope(shared_graph());
  const std::vector<UOp> imported = import_graph(nodes, *plan.arena, shared_graph());
  Substitution known;
  for (std::size_t i = 0; i < plan.variables.size(); ++i)
    known.emplace(imported[plan.roots.size() + i].node(), resolved.variables[i]);
  // By the program's variables: those of a plan that others made, or that comes from the disk, are its own.
  const auto sizes_now = [&](const Node* node) {
    Sizes sizes;
    for (const Node* size : node->dims()) sizes.push_back(substitute(UOp(size), known));
    return sizes;
  };
  for (std::size_t i = 0; i < plan.roots.size(); ++i) {
    const UOp& root = imported[i];
    for (const Node* node : toposort(root.node())) {
      if (node->op() != Op::Buffer || known.contains(node)) continue;
      UOp& buffer = results.buffers[slot_of.at(node->arg<BufferArg>().id.value)];
      if (buffer.is_null())
        buffer = new_buffer(node->dtype(), sizes_now(shaped_like(root, node)),
                            find_device(node->arg<BufferArg>().device.get()));
      known.emplace(node, reshape(buffer, sizes_now(node)));
    }
    results.roots.push_back(reshape(substitute(root, known), sizes_now(root.node())));
  }
  return results;
}

// The nodes of one tensor that are the same elements in the same order know where they are. But not views
// of memory below the tensor, which is a copy of them, nor what has been computed before.
void note(const UOp& tensor, const UOp& result) {
  shared_graph().inherit(result.node(), tensor.node(), shared_graph());
  const Node* node = tensor.node();
  do {
    shared_graph().attach(node, std::make_shared<UOp>(reshape(result, sizes_of(UOp(node)))));
    if (!OpSet{Op::Reshape, Op::Contiguous, Op::Detach}.contains(node->op())) break;
    node = node->src(0);
  } while (shared_graph().attached<UOp>(node) == nullptr &&
           !OpSet{Op::Buffer, Op::Multi, Op::After}.contains(seen_by(node)->op()));
}

}  // namespace

UOp computed(const Node* node) {
  if (node->op() == Op::Buffer) return UOp(node);
  const auto note = shared_graph().attached<UOp>(node);
  return note != nullptr ? *note : UOp();
}

namespace {

bool is_on_a_device(const Node* node) {
  return std::ranges::any_of(toposort(node), [](const Node* below) {
    return OpSet{Op::Buffer, Op::Copy}.contains(below->op());
  });
}

}  // namespace

UOp computed_for(const Node* node, Symbol device) {
  UOp known = computed(node);
  if (known.is_null()) return known;
  return device_of(seen_by(known.node())) != device && !is_on_a_device(node) ? UOp() : known;
}

namespace {

// A mistake of weft itself says what the program was about.
[[noreturn]] void blame(const Error& error, const std::vector<Wanted>& wanted,
                        const Resolved& resolved) {
  if (!is_internal(error.what())) throw;
  std::set<std::string> lines;
  for (const auto& origin : resolved.origins)
    if (origin) lines.insert(caller(*origin));
  const UOp& tensor = wanted[0].tensor;
  throw Error(fmt::format(
      "{}\n  in computing a tensor of {} and shape {}, at {}\n  {}{}", error.what(),
      tensor->dtype().str(), sizes_text(tensor->dims()), present_caller(),
      lines.empty() ? "DEBUG=2 says which lines made it" : "made by ", fmt::join(lines, ", ")));
}

// What is wanted, the part of it that there is something to do for, and how.
struct Task {
  explicit Task(const std::vector<Wanted>& wanted) {
    std::vector<Wanted> needed;
    for (const Wanted& one : wanted) {
      const UOp known = computed_for(one.tensor.node(), one.device);
      results.push_back(known.is_null() ? one.tensor : known);
      if (!buffers_of(results.back().node()).empty()) continue;
      open.push_back(results.size() - 1);
      needed.push_back(one);
    }
    if (open.empty()) return;
    const InternerScope scope(*arena);
    const PassOptions options;
    try {
      resolved = resolve(needed, options);
      runnable = plan_for(resolved, options.extra);
    } catch (const Error& error) {
      blame(error, needed, resolved);
    }
  }

  // What has been planned is a graph of its own: those that it was made of need not be there while it runs.
  void forget_graphs() {
    resolved.roots.clear();
    arena.reset();
  }

  std::unique_ptr<Arena> arena = std::make_unique<Arena>();
  std::vector<UOp> results;       // of those that there is nothing to do for
  std::vector<std::size_t> open;  // which are the others
  Resolved resolved;
  std::shared_ptr<RunnablePlan> runnable;
};

}  // namespace

std::vector<UOp> realize(const std::vector<Wanted>& wanted) {
  Task task(wanted);
  if (task.open.empty()) return task.results;
  const Results made = results_of(task.runnable->plan, task.resolved);
  std::vector<std::shared_ptr<Buffer>> memory;
  for (const UOp& buffer : made.buffers)
    memory.push_back(buffer.is_null() ? nullptr : memory_of(buffer.node()));
  const std::vector<std::string> callers = step_callers(task.runnable->plan, task.resolved);
  task.forget_graphs();
  try {
    run(*task.runnable, memory, task.resolved.values, callers);
  } catch (const Error& error) {
    blame(error, wanted, task.resolved);
  }
  if (CallList* list = CallList::recording())
    list->add(task.runnable, memory, task.resolved.variables, task.resolved.values, callers);
  for (std::size_t i = 0; i < task.open.size(); ++i) {
    task.results[task.open[i]] = made.roots[i];
    note(wanted[task.open[i]].tensor, made.roots[i]);
  }
  for (const UOp& buffer : made.overwritten) lose_memory(buffer.node());
  return task.results;
}

std::size_t count_plans() {
  const std::lock_guard lock(plans().mutex);
  return plans().count;
}

void forget_plans() {
  const std::lock_guard lock(plans().mutex);
  plans().made.clear();
}

std::vector<ScheduleItem> schedule(const std::vector<Wanted>& wanted) {
  const Task task(wanted);
  if (task.open.empty()) return {};
  const Plan& plan = task.runnable->plan;
  std::vector<const Node*> nodes;
  for (std::size_t i = 0; i < plan.slots.size(); ++i) nodes.push_back(plan.slots[i].buffer.node());
  for (const Step& step : plan.steps)
    if (!step.kernel.is_null()) nodes.push_back(step.kernel.node());
  const InternerScope scope(shared_graph());
  const std::vector<UOp> imported = import_graph(nodes, *plan.arena, shared_graph());
  auto kernel = imported.begin() + std::ssize(plan.slots);
  std::vector<ScheduleItem> items;
  const Results made = results_of(plan, task.resolved);
  for (const Step& step : plan.steps) {
    ScheduleItem item{{}, "copy", step.device.get(), {}, step.work};
    for (std::uint32_t slot : step.slots)
      item.buffers.push_back(made.buffers[slot].is_null() ? imported[slot] : made.buffers[slot]);
    if (!step.kernel.is_null()) {
      item.kernel = *kernel++;
      item.name = item.kernel->arg<KernelArg>().name.get();
    }
    items.push_back(std::move(item));
  }
  return items;
}

RunCost cost(const std::vector<Wanted>& wanted) {
  const Task task(wanted);
  if (task.open.empty()) return {};
  const Plan& plan = task.runnable->plan;
  RunCost cost{.kernels = plan.steps.size()};
  for (const Step& step : plan.steps) {
    cost.flops += step.work.flops;
    cost.bytes += step.work.bytes;
  }
  for (const BufferLayout& layout : plan.layouts)
    cost.turned.push_back({std::string(layout.kernel.get()), layout.sizes, layout.order,
                           layout.seconds, layout.seconds_as_made});
  std::vector<bool> is_new(plan.slots.size());
  for (const Step& step : plan.steps)
    for (std::uint32_t slot : step.slots) is_new[slot] = !plan.slots[slot].input;
  for (const Block& block : blocks_of(plan)) {
    cost.own_bytes += block.layout.bytes;
    cost.least_bytes += block.layout.least;
    for (std::uint32_t slot : block.slots) is_new[slot] = false;
  }
  for (std::size_t slot = 0; slot < is_new.size(); ++slot)
    if (is_new[slot])
      cost.result_bytes +=
          bytes_of(plan.slots[slot].buffer->dtype(), plan.slots[slot].buffer->dims());
  return cost;
}

std::string ScheduleItem::str() const {
  std::string shapes;
  for (const Node* size : buffers[0]->dims())
    shapes += fmt::format("{}{}", shapes.empty() ? "" : ", ", expression_text(size));
  return fmt::format("{:<6} {:<32} ({}) {}, {} buffers, {} flops, {} bytes", device, name, shapes,
                     buffers[0]->dtype().str(), buffers.size(), work.flops, work.bytes);
}

}  // namespace weft
