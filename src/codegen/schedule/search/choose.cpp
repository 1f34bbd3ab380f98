// Chooses the schedule of a kernel: of each of its nests, of batches and online blocks where these
// are faster, and of the threads that share it.

#include <weft/dev/codegen/candidates.h>
#include <weft/dev/codegen/choose.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <weft/dev/base/internal.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/repeated.h>
#include <weft/error.h>
#include <weft/settings.h>

#include "nest_choice.h"
#include "nest_of.h"
#include "open_loops.h"
#include "scan_schedule.h"
#include "schedule/actions/batch.h"
#include "schedule/actions/kernel_loops.h"
#include "schedule/gpu/group_search.h"
#include "schedule/online/online.h"
#include "schedule/tensor_instructions/dequantized_schedule.h"
#include "schedule/tensor_instructions/dot_schedule.h"
#include "schedule/tensor_instructions/mma_schedule.h"
#include "share.h"

namespace weft {
namespace {

constexpr double most_in_batches = 0.75;  // fraction of the scratch memory

// Whether the node leaves the choice open. A loop of another kind is scheduled already.
bool is_open(const Node* node) {
  if (node->op() != Op::Range) return true;
  const LoopKind kind = node->arg<RangeArg>().kind;
  return kind == LoopKind::Loop || kind == LoopKind::Reduce;
}

// Returns the bytes of a BUFFER or STAGE. A STAGE dimension of one iteration may be the constant 0.
double bytes_kept_in(const Node* memory) {
  double elements = 1;
  for (const Node* source : memory->src().subspan(memory->op() == Op::Stage ? 1 : 0)) {
    const Node* size = source->op() == Op::Range ? source->src(0) : source;
    elements *= static_cast<double>(std::max<std::int64_t>(size->bounds().hi, 1));
  }
  return elements * static_cast<double>(memory->dtype().bytes());
}

// Returns the bytes that the kernel's STAGEs and BUFFERs take before any nest is scheduled.
double scratch_in(const Node* kernel) {
  double bytes = 0;
  for (const Node* node : toposort(kernel))
    if (node->op() == Op::Buffer || node->op() == Op::Stage) bytes += bytes_kept_in(node);
  return bytes;
}

Schedule joined(Schedule first, const Schedule& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

struct Schedules {
  std::vector<Schedule> best;     // fastest first
  std::optional<double> seconds;  // of the first; nothing if the model does not cover all loops
};

// Schedules a kernel that consists of several nests.
class MultiNest {
 public:
  MultiNest(const Node* kernel, const Target& target) : kernel_(kernel), target_(target) {}

  // Returns the best schedule that begins with `first`.
  Schedules best(Schedule first) {
    first = joined(std::move(first), order_filling_loops_outermost(kernel_));
    std::vector<Schedule> prefixes{joined(std::move(first), values_to_stage(kernel_, target_))};
    const Schedules plain = best_after(prefixes[0]);
    if (!plain.seconds) return plain;
    for (const Schedule& batch : batch_schedules(kernel_))
      prefixes.push_back(joined(prefixes[0], batch));
    std::size_t at = 0;
    Schedules best = best_from(at, prefixes, plain, {});
    KernelLoops loops{UOp(kernel_)};
    loops.apply(prefixes[at]);
    const std::vector<Action> blocks = online_blocks(loops);
    if (blocks.empty()) return first_that_fits(best, plain);
    const auto in_blocks = [&](const Action& block) {
      return best_after(joined(prefixes[at], {block}), most_in_batches);
    };
    const Schedules online = in_blocks(blocks[0]);
    take_better(best, best_from(at, prefixes, online, {blocks[0]}));
    for (std::size_t i = 1; i < blocks.size(); ++i) take_better(best, in_blocks(blocks[i]));
    return first_that_fits(best, plain);
  }

 private:
  // Returns null if an action is refused.
  UOp applied(const Schedule& schedule) const {
    try {
      return apply_schedule(UOp(kernel_), schedule);
    } catch (const Error& error) {
      if (is_internal(error.what())) throw;
      return {};
    }
  }

  // Returns the first of `best`, `plain` and the empty schedule that fits into the scratch memory.
  // Nests are scheduled one by one, so that only the complete schedule tells their total, and whether
  // an action of one nest is refused after those of another.
  Schedules first_that_fits(const Schedules& best, const Schedules& plain) const {
    const auto fits = [&](const Schedule& schedule) {
      double bytes = 0;
      const UOp done = applied(schedule);
      if (done.is_null()) return false;
      for (const Node* node : toposort(done.node())) {
        const bool is_own =
            (node->op() == Op::Buffer && node->arg<BufferArg>().space == Space::Scratch) ||
            (node->op() == Op::Stage && node->arg<StageArg>().space == Space::Scratch);
        if (is_own) bytes += bytes_kept_in(node);
      }
      return bytes <= static_cast<double>(target_.scratch_bytes);
    };
    for (const Schedules* each : {&best, &plain})
      if (fits(each->best[0])) return *each;
    return {{{}}, {}};
  }

  // Returns the best schedule that begins with prefixes[at] or a later one, followed by `then`, and
  // sets `at` to that one. `best` is the result for prefixes[at]. Stops after two that are no
  // better.
  Schedules best_from(std::size_t& at, const std::vector<Schedule>& prefixes, Schedules best,
                      const Schedule& then) {
    for (std::size_t i = at + 1; i < prefixes.size() && i <= at + 2; ++i)
      if ((then.empty() || may_follow(prefixes[i], then)) &&
          take_better(best, best_after(joined(prefixes[i], then), most_in_batches)))
        at = i;
    return best;
  }

  // Whether the online blocks in `then` are legal after `prefix`: larger batches fill memory for
  // more iterations.
  bool may_follow(const Schedule& prefix, const Schedule& then) const {
    KernelLoops loops{UOp(kernel_)};
    loops.apply(prefix);
    return std::ranges::all_of(then,
                               [&](const Action& online) { return may_be_online(loops, online); });
  }

  static bool take_better(Schedules& best, Schedules other) {
    const bool is_better = other.seconds && (!best.seconds || *other.seconds < *best.seconds);
    if (is_better) best = std::move(other);
    return is_better;
  }

  // Returns the fraction of the nest's iterations that run; `seen` has that of partly masked loops.
  static double visible_fraction(const Nest& nest, const std::map<std::string, double>& seen) {
    double part = 1;
    for (const NestLoop& loop : nest.loops)
      if (const auto found = seen.find(loop.names[0]); found != seen.end()) part *= found->second;
    return part;
  }

  // Moves the STAGEs at loop `split` to the inner loop that SplitParallel makes of it.
  static void move_stages_inside(Schedule& schedule, const std::string& split) {
    for (Action& action : schedule)
      if (action.type == Action::Stage && action.at == split) action.at += ".1";
  }

  // Returns the actions that share the outermost loop after `schedule`. `before` still describes
  // that loop, unless a nest has tiled it as its own.
  Schedule thread_actions(const Schedule& schedule, const KernelLoops& before) const {
    const std::vector<NamedLoop> names = before.names();
    const auto cuts_outermost = [&](const Action& action) {
      return action.type == Action::Tile && !names.empty() && action.name == names[0].name;
    };
    if (std::ranges::none_of(schedule, cuts_outermost))
      return parallelise_outermost(before, target_.machine);
    KernelLoops after{UOp(kernel_)};
    after.apply(schedule);
    return parallelise_outermost(after, target_.machine);
  }

  // Returns `schedule` followed by the best schedule of each nest, within the scratch memory that
  // the nests before leave, and by the threads that share the outermost loop. Returns nothing if
  // `schedule` takes more than the fraction `most` of the scratch memory.
  Schedules best_after(Schedule schedule, double most = std::numeric_limits<double>::infinity()) {
    KernelLoops loops{UOp(kernel_)};
    double seconds = 0;
    const auto add = [&](const Schedule& more) {
      schedule.insert(schedule.end(), more.begin(), more.end());
    };
    loops.apply(schedule);
    const Schedule ahead = prefetch_next_reads(loops, target_.machine);
    loops.apply(ahead);
    add(ahead);
    Target left = target_;
    const auto take = [&](double bytes) {
      left.scratch_bytes -= std::min(left.scratch_bytes, static_cast<std::size_t>(bytes));
    };
    const double kept = scratch_in(loops.kernel().node());
    if (kept > most * static_cast<double>(target_.scratch_bytes)) return {{}, {}};
    take(kept);
    const std::map<std::string, double> seen = loops.visible_fractions();
    std::set<std::string> open;  // loops that are in no nest
    for (const NamedLoop& loop : loops.names()) open.insert(loop.name);
    const bool fuses = target_.ops.contains(Op::MulAcc);
    for (KernelNest& nest : nests_of(loops.kernel().node(), loops.names(), fuses)) {
      for (const NestLoop& loop : nest.nest.loops)
        for (const std::string& name : loop.names) open.erase(name);
      if (NestLoop& first = nest.nest.loops[0]; first.is_around)
        first.is_cut = thread_parts(first.size, target_.machine.workers(), true) < first.size;
      const Chosen best = choices_.best(nest, left);
      add(best.schedule);
      take(best.scratch);
      seconds += best.seconds * visible_fraction(nest.nest, seen);
    }
    const Schedule shared = thread_actions(schedule, loops);
    if (!shared.empty()) seconds /= target_.machine.workers();
    for (const Action& action : shared)
      if (action.type == Action::SplitParallel) move_stages_inside(schedule, action.name);
    add(shared);
    return {{schedule}, open.empty() ? std::optional(seconds) : std::nullopt};
  }

  const Node* kernel_;
  const Target& target_;
  NestChoices choices_;
};

// Returns up to `most` distinct schedules of a kernel, or of one iteration of a repeated kernel.
Schedules best_for_one_iteration(const Node* kernel, const Target& target, std::size_t most) {
  if (!std::ranges::all_of(toposort(kernel), is_open)) return {{{}}, {}};
  if (target.machine.has_groups()) {
    Schedules found;
    for (GroupSchedule& each : group_schedules(kernel, target, most)) {
      if (found.best.empty()) found.seconds = each.seconds;
      found.best.push_back(std::move(each.schedule));
    }
    return found;
  }
  if (auto scan = scan_schedule(kernel, target))
    return {{std::move(scan->schedule)}, scan->seconds};
  if (target.vector_bytes == 0)
    return {{parallelise_outermost(KernelLoops{UOp(kernel)}, target.machine)}, {}};
  if (auto dots = dot_schedule(kernel, target)) return {{std::move(dots->schedule)}, dots->seconds};
  const auto nests = nests_of(kernel, loops_of_kernel(kernel), target.ops.contains(Op::MulAcc));
  const bool is_one = nests.size() == 1 && nests[0].is_whole;
  // A nest inside other loops is shared among threads as several nests are.
  if (!is_one || nests[0].nest.loops[0].is_around)
    return MultiNest(kernel, target)
        .best(is_one ? symbolic_loops_outermost(kernel, target) : Schedule());
  const Schedule ahead = prefetch_windows(nests[0].nest, target.machine);
  Schedules schedules;
  for (Chosen& chosen : best_of(nests[0], target, most)) {
    if (schedules.best.empty()) schedules.seconds = chosen.seconds;
    schedules.best.push_back(joined(ahead, chosen.schedule));
  }
  const auto take = [&](std::optional<MmaSchedule> other) {
    if (!other || other->seconds >= schedules.seconds) return;
    schedules.seconds = other->seconds;
    schedules.best.insert(schedules.best.begin(), std::move(other->schedule));
    schedules.best.resize(std::min(schedules.best.size(), most));
  };
  take(dequantized_schedule(kernel, schedules.best[0], target));
  take(mma_schedule(kernel, target));
  return schedules;
}

// A repeated kernel runs on one worker, as threads would need a barrier after each iteration.
Schedules best_schedules(const Node* kernel, const Target& given, std::size_t most) {
  Target target = given;
  target.machine = machine_for(kernel, given.machine);
  if (!finds_what_it_left(kernel)) return best_for_one_iteration(kernel, target, most);
  const Node* iteration = iteration_in(kernel);
  target.machine.repeats = true;
  // Iterations that depend on each other would need a barrier across the device.
  if (iteration != nullptr && target.machine.has_groups()) return {{{}}, {}};
  if (iteration != nullptr) target.machine.set_workers(1);
  Schedules schedules = best_for_one_iteration(kernel, target, most);
  if (iteration != nullptr && schedules.seconds)
    *schedules.seconds *= static_cast<double>(iteration->hi() + 1);
  return schedules;
}

}  // namespace

Schedule choose_schedule(const Node* kernel, const Target& target) {
  const std::size_t shown = setting_int("DEBUG") >= 3 ? 2 : 1;  // reports the runner-up as well
  return best_schedules(kernel, target, shown).best[0];
}

Choice choice_of(const UOp& kernel, const Target& target) {
  const std::string_view asked = kernel->arg<KernelArg>().schedule.get();
  if (!asked.empty() || setting_int("NOOPT") != 0) return {};
  Schedules found = best_schedules(kernel.node(), target, 1);
  return {std::move(found.best[0]), found.seconds};
}

std::vector<Schedule> candidate_schedules(const UOp& kernel, const Target& target,
                                          std::size_t most) {
  return best_schedules(ready_to_schedule(kernel).node(), target, most).best;
}

}  // namespace weft
