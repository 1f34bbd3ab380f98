// Where a value goes into a kernel is decided by how much is computed and read. How fast the loops of that kernel can be is
// known once it is there: a STAGE may be filled again and again in loops that leave it too few neighbours to share what they
// read. Then its value gets memory, and a kernel whose loops are all its own.

#include "fission.h"

#include <algorithm>
#include <limits>
#include <set>
#include <span>

#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>
#include <weft/dev/ir/movement.h>
#include <weft/dev/rules/symbolic.h>

#include "layout/layout_assignment.h"
#include "plan_steps.h"

namespace weft {
namespace {

constexpr double worth_memory = 0.97;  // of the time of the kernel as it is
// Threads would each fill again what is filled once.
constexpr double worth_memory_once = 1.03;
constexpr double least_once = 1e-3;         // seconds of the kernel
constexpr double least_without_sum = 1e-4;  // the same, where what is staged is no sum
constexpr double least_turned = 6e-5;       // seconds of a kernel that is seen in other orders
constexpr double hopeless = 1.5;            // times as long, whatever the order
constexpr double most_memory = 4;           // of all that the kernel touches
constexpr double least_launches = 4;        // that a kernel takes at least, to be looked at
constexpr std::size_t most_stages = 6;

bool is_plain_loop(const Node* node) {
  return node->op() == Op::Range && node->src(0)->is_const() &&
         node->arg<RangeArg>().kind == LoopKind::Loop;
}

double bytes_filled(const Node* stage) {
  double bytes = static_cast<double>(stage->dtype().bytes());
  for (const Node* loop : stage->src().subspan(1))
    if (loop->op() == Op::Range) bytes *= static_cast<double>(loop->src(0)->hi());
  return bytes;
}

double bytes_read(const std::vector<const Node*>& values) {
  double bytes = 0;
  for (const Node* node : values)
    if (node->op() == Op::Param) bytes += memory_bytes(UOp(node));
  return bytes;
}

// A STAGE, and the loops around it that its values change with.
struct MovableStage {
  const Node* stage;
  std::vector<const Node*> around;
  bool has_sum = true;
};

// Of a kernel, those of sums, or of no more than what they read, that no assignment of it changes, in loops that another kernel
// can have. What is only converted, as weights of few bits, is narrower where it comes from.
std::vector<MovableStage> stages_of(const UOp& kernel) {
  std::vector<MovableStage> result;
  for (const Node* node : toposort(kernel.node())) {
    if (node->op() != Op::Stage || node->arg<StageArg>().space != Space::Scratch) continue;
    const auto ranges = node->ranges();
    MovableStage staged{node, {ranges.begin(), ranges.end()}};
    const NodeList own = node->src().subspan(1);
    const auto is_known = [](const Node* loop) { return loop->is_const() || is_plain_loop(loop); };
    const auto is_written = [](const Node* below) {
      return below->op() == Op::Param && writes(below->arg<ParamArg>().access);
    };
    const auto is_sum = [](const Node* below) { return below->op() == Op::Reduce; };
    const std::vector<const Node*> values = toposort(node->src(0));
    staged.has_sum = std::ranges::any_of(values, is_sum);
    // Each thread would fill all of what is filled once, and so would each iteration of loops that it does not change with.
    double bytes = bytes_filled(node);
    for (const Node* loop : staged.around) bytes *= static_cast<double>(loop->src(0)->hi());
    const bool reads_more = bytes <= bytes_read(values);
    if (std::ranges::all_of(staged.around, is_plain_loop) && std::ranges::all_of(own, is_known) &&
        (reads_more || staged.has_sum) && std::ranges::none_of(values, is_written))
      result.push_back(std::move(staged));
  }
  return result;
}

// The kernel that fills memory with all values of a STAGE, and the one that reads them there.
struct Parted {
  UOp memory, maker, rest;
};

class Parting {
 public:
  Parting(const Step& step, const MovableStage& staged) : step_(step), staged_(staged) {
    for (const Node* loop : staged.around) sizes_.emplace_back(loop->src(0));
    for (const Node* loop : staged.stage->src().subspan(1))
      sizes_.push_back(loop->is_const() ? const_int(1) : UOp(loop->src(0)));
  }

  Parted parted() const {
    BufferArg arg{fresh_id()};
    arg.device = step_.device;
    return {make(Op::Buffer, sizes_, staged_.stage->dtype(), arg), maker(), rest()};
  }

 private:
  UOp param(Access access) const {
    const ParamArg arg{static_cast<std::int32_t>(step_.slots.size()), access, 0};
    return make(Op::Param, sizes_, staged_.stage->dtype(), arg);
  }

  UOp maker() const {
    std::vector<UOp> at{param(Access::Write), const_bool(true)}, loops{UOp()};
    const auto add = [&](const Node* loop) {
      at.emplace_back(loop);
      if (!loop->is_const()) loops.emplace_back(loop);
    };
    std::ranges::for_each(staged_.around, add);
    std::ranges::for_each(staged_.stage->src().subspan(1), add);
    loops[0] = make(Op::Store, {make(Op::Index, at), UOp(staged_.stage->src(0))}, {}, StoreArg{});
    return named(simplify(make(Op::Sink, {make(Op::End, loops)}, {}, KernelArg{})));
  }

  UOp rest() const {
    const UOp memory = param(Access::Read);
    Substitution by;
    for (const Node* node : toposort(step_.kernel.node())) {
      if (node->op() != Op::Index || node->src(0) != staged_.stage) continue;
      // Where it is may be read there as well.
      std::vector<UOp> at{memory, substitute(UOp(node->src(1)), by)};
      for (const Node* loop : staged_.around) at.emplace_back(loop);
      for (const Node* index : node->src().subspan(2)) at.push_back(substitute(UOp(index), by));
      by.emplace(node, make(Op::Index, at));
    }
    return named(simplify(substitute(step_.kernel, by)));
  }

  const Step& step_;
  const MovableStage& staged_;
  std::vector<UOp> sizes_;
};

class Mover {
 public:
  Mover(Plan& plan, const KernelSeconds& seconds, const Profile& profile)
      : plan_(plan), seconds_(seconds), profile_(profile) {
    for (const Step& step : plan.steps)
      if (step.kernel.is_null()) copied_.insert(step.slots.begin(), step.slots.end());
  }

  // A kernel that was parted comes before what it was a part of, which is looked at again.
  void choose() {
    for (std::size_t step = 0; step < plan_.steps.size();) {
      const auto stage = best_stage(plan_.steps[step]);
      if (!stage) {
        ++step;
        continue;
      }
      move(step, *stage);
    }
  }

 private:
  double launches(std::span<const Step> steps) const {
    return profile_.launch * static_cast<double>(steps.size());
  }

  // Of kernels as they are; nothing where one is not known.
  std::optional<double> seconds_as_made(std::span<const Step> steps) const {
    double sum = launches(steps);
    for (const Step& step : steps) {
      const auto seconds = seconds_(step.kernel, step.device);
      if (!seconds) return std::nullopt;
      sum += *seconds;
    }
    return sum;
  }

  // As if memory that only kernels of the plan touch lay as they like it.
  std::optional<double> seconds_alone(std::vector<Step> steps, const UOp& memory = {}) const {
    Plan alone;
    alone.slots = plan_.slots;
    for (const std::uint32_t slot : copied_) alone.slots[slot].input = 0;
    if (!memory.is_null()) alone.slots.push_back({.buffer = memory});
    alone.roots = plan_.roots;
    alone.steps = std::move(steps);
    const auto seconds = weft::seconds_alone(alone, seconds_, profile_);
    return seconds ? std::optional(*seconds + launches(alone.steps)) : std::nullopt;
  }

  // The number of the one that is best moved, if any is.
  std::optional<std::size_t> best_stage(const Step& step) const {
    if (step.kernel.is_null()) return {};
    const std::vector<MovableStage> stages = stages_of(step.kernel);
    if (stages.empty() || stages.size() > most_stages) return {};
    const auto as_made = seconds_as_made({&step, 1});
    if (!as_made || *as_made < least_launches * profile_.launch) return {};
    const bool may_turn = *as_made >= least_turned;
    const auto whole = may_turn ? seconds_alone({step}) : as_made;
    if (!whole) return {};
    double best = std::numeric_limits<double>::infinity();
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      const bool is_once = *as_made >= least_once && stages[i].around.empty();
      if (*as_made < least_without_sum && !stages[i].has_sum) continue;
      const Parted parted = Parting(step, stages[i]).parted();
      if (!may_have(parted.memory, step)) continue;
      const std::vector<std::uint32_t> slots = slots_with_memory(step);
      const std::vector<Step> steps{step_like(step, parted.maker, slots),
                                    step_like(step, parted.rest, slots)};
      const auto apart_as_made = seconds_as_made(steps);
      if (!apart_as_made || *apart_as_made > hopeless * *as_made) continue;
      const auto apart = may_turn ? seconds_alone(steps, parted.memory) : apart_as_made;
      const double most = std::min(best, (is_once ? worth_memory_once : worth_memory) * *whole);
      if (!apart || *apart >= most) continue;
      best = *apart;
      found = i;
    }
    return found;
  }

  bool may_have(const UOp& memory, const Step& step) const {
    return memory_bytes(memory) <= most_memory * touched(step);
  }

  double touched(const Step& step) const {
    double bytes = 0;
    for (const std::uint32_t slot : step.slots) bytes += memory_bytes(plan_.slots[slot].buffer);
    return bytes;
  }

  // And what is added to the plan's.
  std::vector<std::uint32_t> slots_with_memory(const Step& step) const {
    std::vector<std::uint32_t> slots = step.slots;
    slots.push_back(static_cast<std::uint32_t>(plan_.slots.size()));
    return slots;
  }

  void move(std::size_t number, std::size_t stage) {
    const Step step = plan_.steps[number];
    const std::vector<MovableStage> stages = stages_of(step.kernel);
    const Parted parted = Parting(step, stages[stage]).parted();
    const std::vector<std::uint32_t> slots = slots_with_memory(step);
    plan_.slots.push_back({.buffer = parted.memory});
    plan_.steps[number] = step_like(step, parted.rest, slots);
    Step maker = step_like(step, parted.maker, slots);
    if (const auto origin = Interner::current().origin(stages[stage].stage))
      maker.origins = {*origin};
    plan_.steps.insert(plan_.steps.begin() + static_cast<std::ptrdiff_t>(number), std::move(maker));
  }

  Plan& plan_;
  const KernelSeconds& seconds_;
  const Profile& profile_;
  std::set<std::uint32_t> copied_;  // slots
};

}  // namespace

void split_stages_off(Plan& plan, const KernelSeconds& seconds, const Profile& profile) {
  Mover(plan, seconds, profile).choose();
}

}  // namespace weft
