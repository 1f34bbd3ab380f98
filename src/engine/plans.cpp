#include "plans.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <weft/dev/base/internal.h>
#include <weft/dev/base/lru_cache.h>
#include <weft/dev/engine/call_list.h>
#include <weft/dev/engine/storage.h>
#include <weft/dev/engine/tuning.h>
#include <weft/dev/ir/graph.h>
#include <weft/error.h>
#include <weft/settings.h>

#include "free_numbers.h"
#include "kept_work.h"
#include "open_lengths.h"
#include "outcome.h"
#include "programs.h"

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

// What all of their devices have; their speeds are those of the first.
Target target_for(const std::vector<Root>& roots) {
  std::optional<Target> common;
  for (const Root& root : roots)
    for (const Device* device : find_devices(root.device.get())) {
      if (!device->runs_kernels()) continue;
      const Target target = device->target();
      if (!common) common = target;
      common->ops =
          OpSet::where([&](Op op) { return common->ops.contains(op) && target.ops.contains(op); });
      common->scratch_bytes = std::min(common->scratch_bytes, target.scratch_bytes);
      std::erase_if(common->mma, [&](const MmaShape& shape) {
        return std::ranges::find(target.mma, shape) == target.mma.end();
      });
    }
  return common.value_or(Target());
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
  const Target target = target_for(resolved.roots);
  const std::size_t constants = bytes_of_constants(resolved);
  Plan plan = setting_int("LAYOUTS") == 0
                  ? make_plan(resolved.roots, target)
                  : make_plan(resolved.roots, target, expected_seconds(extra, constants));
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

// Once the runs for these lengths may have taken as long as compiling for them alone would, or where memory for the longest is
// too much. It is about that, but the same in every process.
bool deserves_own_plan(RunnablePlan& runnable, const Resolved& resolved) {
  constexpr double seconds_to_compile = 0.01, seconds_to_look_up = 5e-5;  // a kernel
  constexpr double each_second = 5e9;  // operations, or bytes, of a kernel with open sizes
  constexpr std::size_t most_bytes = std::size_t{64} << 20, most_counts = 4096;
  if (setting_int("LENGTHS") > 1) return false;
  std::vector<std::int64_t> lengths;
  for (std::size_t i = 0; i < resolved.variables.size(); ++i)
    if (resolved.lengths.contains(resolved.variables[i]->arg<VariableArg>().id.value))
      lengths.push_back(resolved.values[i]);
  double run = 0, compile = 0;
  for (const Step& step : runnable.plan.steps) {
    run += seconds_to_look_up + (step.work.flops + step.work.bytes) / each_second;
    compile += step.kernel.is_null() ? 0 : seconds_to_compile;
  }
  std::size_t bytes = 0;
  for (const Block& block : blocks_of(runnable.plan)) bytes += block.layout.bytes;
  const std::lock_guard lock(runnable.loading);
  if (runnable.runs.size() == most_counts) runnable.runs.clear();
  return bytes > most_bytes || ++runnable.runs[lengths] * run > compile;
}

// Finds plans under the settings that are in force.
class Planner {
 public:
  Planner(const Resolved& resolved, const std::shared_ptr<const ExtraRuleList>& extra)
      : extra_(extra), settings_(keys_of_devices(resolved, *extra)) {
    settings_ += settings_key(Affects::Plans);  // BEAM among them: a plan keeps what it has found
  }

  // Null where there is none.
  std::shared_ptr<RunnablePlan> known(const Resolved& resolved) const {
    const std::lock_guard lock(plans().mutex);
    const auto* found = plans().made.find(key_of(resolved));
    return found == nullptr ? nullptr : *found;
  }

  std::shared_ptr<RunnablePlan> made(const Resolved& resolved) const {
    const PlanKey key = key_of(resolved);
    const auto& [high, low, settings, has_origins] = key;
    auto plan = std::make_shared<RunnablePlan>();
    plan->plan = made_plan(resolved,
                           fmt::format("{:016x}{:016x}\n{}\n{}", high, low, settings,
                                       has_origins ? "with origins" : ""),
                           extra_);
    plan->writes_of_roots = writes_of_roots(plan->plan);
    plan->extra = extra_;
    const std::lock_guard lock(plans().mutex);
    ++plans().count;
    return plans().made.insert(key, std::move(plan));
  }

  // For all numbers that it is seen with; null where there is none yet.
  std::shared_ptr<RunnablePlan> freed(Resolved& resolved) const {
    free_numbers(resolved);
    return known(resolved);
  }

  // And for lengths. Null, and the graph as it was, where it has none that are open, or weft has no kernel for such: that must
  // turn out before a run.
  std::shared_ptr<RunnablePlan> opened(Resolved& resolved) const {
    Resolved open = resolved;
    try {
      if (!open_lengths(open)) return nullptr;
      auto plan = freed(open);
      if (plan == nullptr) plan = made(open);
      if (deserves_own_plan(*plan, open)) return nullptr;
      load(*plan);
      resolved = std::move(open);
      return plan;
    } catch (const Error& error) {
      if (setting_int("SPEC") > 0 && is_internal(error.what())) throw;
      forget_conclusion(resolved);
      return nullptr;
    }
  }

 private:
  PlanKey key_of(const Resolved& resolved) const {
    const StructuralHash hash = hash_of(resolved);
    return {hash.high, hash.low, settings_, !resolved.origins.empty()};
  }

  const std::shared_ptr<const ExtraRuleList>& extra_;
  std::string settings_;
};

}  // namespace

// Graphs of one structure share a plan: only their memory differs, and numbers and lengths that change. But what is replayed
// has those that it was recorded with, and where callers are noted, each line has its kernels.
std::shared_ptr<RunnablePlan> plan_for(Resolved& resolved,
                                       const std::shared_ptr<const ExtraRuleList>& extra,
                                       Purpose purpose) {
  const Planner planner(resolved, extra);
  if (auto plan = planner.known(resolved)) return plan;
  if (CallList::recording() != nullptr || !resolved.origins.empty()) return planner.made(resolved);
  Resolved free = resolved;
  std::shared_ptr<RunnablePlan> plan = planner.freed(free);
  if (plan == nullptr && purpose == Purpose::Run && setting_int("BEAM") == 0)
    if (auto opened = planner.opened(resolved)) return opened;
  resolved = std::move(free);
  return plan != nullptr ? plan : planner.made(resolved);
}

std::size_t count_plans() {
  const std::lock_guard lock(plans().mutex);
  return plans().count;
}

void forget_plans() {
  const std::lock_guard lock(plans().mutex);
  plans().made.clear();
}

}  // namespace weft
