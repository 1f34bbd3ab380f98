// Fusion decides by the amounts of computation and memory access. How fast the loops of a fused
// kernel can be is known only once the kernel exists: a STAGE may be filled again and again in
// loops that leave it too few neighbouring iterations to share its loads. Its values are then
// materialised by a kernel whose loops are all its own.

#include "fission.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <span>

#include <weft/dev/base/size_limits.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>
#include <weft/dev/ir/movement.h>
#include <weft/dev/rules/symbolic.h>

#include "layout/layout_assignment.h"
#include "plan_steps.h"

namespace weft {
namespace {

constexpr double worth_memory = 0.97;  // ratio of the new time to the old
// The same for a stage outside all loops, which each thread of the fused kernel would fill again.
constexpr double worth_memory_once = 1.03;
constexpr double least_once = 1e-3;         // seconds of a kernel for that ratio to apply
constexpr double least_without_sum = 1e-4;  // seconds of a kernel to move a stage without a sum
constexpr double least_relayout = 6e-5;     // seconds of a kernel to try other layouts
constexpr double hopeless = 1.5;            // above this ratio, other layouts are not tried
constexpr double most_memory = 4;           // ratio of a new buffer to all memory of the kernel
constexpr double least_launches = 4;        // shorter kernels, in launch overheads, stay whole
constexpr std::size_t most_stages = 6;

bool is_plain_loop(const Node* node) {
  return node->op() == Op::Range && node->src(0)->is_const() &&
         node->arg<RangeArg>().kind == LoopKind::Loop;
}

double bytes_filled(const Node* value, NodeList loops) {
  double bytes = static_cast<double>(value->dtype().bytes());
  for (const Node* loop : loops)
    if (loop->op() == Op::Range) bytes *= static_cast<double>(loop->src(0)->hi());
  return bytes;
}

double bytes_read(const std::vector<const Node*>& values) {
  double bytes = 0;
  for (const Node* node : values)
    if (node->op() == Op::Param) bytes += memory_bytes(UOp(node));
  return bytes;
}

// A STAGE or a reduction, what it holds, the loops around it that this depends on, and its own.
struct MovableValue {
  const Node* node;
  const Node* value;
  std::vector<const Node*> around;
  NodeList own = {};
  bool has_sum = true;
};

bool is_written(const Node* node) {
  return node->op() == Op::Param && writes(node->arg<ParamArg>().access);
}

// Returns the stages of a kernel that another kernel can fill: those in plain loops whose values do
// not depend on memory that the kernel writes. They have to contain a sum, or take no more bytes
// than they are computed from. The latter excludes mere conversions, such as those of quantised
// weights, whose sources are narrower.
std::vector<MovableValue> stages_of(const UOp& kernel) {
  std::vector<MovableValue> result;
  for (const Node* node : toposort(kernel.node())) {
    if (node->op() != Op::Stage || node->arg<StageArg>().space != Space::Scratch) continue;
    const auto ranges = node->ranges();
    const NodeList own = node->src().subspan(1);
    MovableValue staged{node, node->src(0), {ranges.begin(), ranges.end()}, own};
    const auto is_known = [](const Node* loop) { return loop->is_const() || is_plain_loop(loop); };
    const auto is_sum = [](const Node* below) { return below->op() == Op::Reduce; };
    const std::vector<const Node*> values = toposort(node->src(0));
    staged.has_sum = std::ranges::any_of(values, is_sum);
    // Each thread fills a stage again, and so does each iteration of a loop that the stage does not
    // depend on. A buffer is filled once, with the values of all iterations.
    double bytes = bytes_filled(node, own);
    for (const Node* loop : staged.around) bytes *= static_cast<double>(loop->src(0)->hi());
    const bool reads_more = bytes <= bytes_read(values);
    if (std::ranges::all_of(staged.around, is_plain_loop) && std::ranges::all_of(own, is_known) &&
        (reads_more || staged.has_sum) && std::ranges::none_of(values, is_written))
      result.push_back(std::move(staged));
  }
  return result;
}

// Returns the sums of products of a kernel's output, if there are several: those of a gated layer,
// say. In one nest they share the registers of a tile; a kernel of its own has all of them.
std::vector<MovableValue> products_of(const UOp& kernel) {
  std::vector<MovableValue> result;
  if (kernel->size() != 1 || kernel->src(0)->op() != Op::End) return result;
  const NodeList loops = kernel->src(0)->src().subspan(1);
  if (!std::ranges::all_of(loops, is_plain_loop)) return result;
  for (const Node* node : toposort(kernel.node())) {
    if (node->op() != Op::Reduce || node->arg<ReduceArg>().op != Op::Add ||
        node->src(0)->op() != Op::Mul || !node->dtype().is_float() || node->dtype().is_weak())
      continue;
    const auto ranges = node->ranges();
    const auto is_around = [&](const Node* loop) {
      return std::ranges::find(ranges, loop) != ranges.end();
    };
    if (ranges.size() == loops.size() && std::ranges::all_of(loops, is_around) &&
        std::ranges::none_of(toposort(node), is_written))
      result.push_back({node, node, {loops.begin(), loops.end()}});
  }
  if (result.size() < 2) result.clear();
  return result;
}

// No stages if there are too many of them to try.
std::vector<MovableValue> movable_values(const UOp& kernel) {
  std::vector<MovableValue> values = stages_of(kernel);
  if (values.size() > most_stages) values.clear();
  std::ranges::move(products_of(kernel), std::back_inserter(values));
  return values;
}

// Counts the STAGEs and reductions of a kernel.
std::size_t values_within(const UOp& kernel) {
  return static_cast<std::size_t>(std::ranges::count_if(
      toposort(kernel.node()),
      [](const Node* node) { return node->op() == Op::Stage || node->op() == Op::Reduce; }));
}

// A buffer for all values of a STAGE or a reduction, the kernel that fills it, and the kernel that
// reads it instead.
struct Split {
  UOp memory, maker, rest;
};

class ValueSplitter {
 public:
  ValueSplitter(const Step& step, const MovableValue& moved) : step_(step), moved_(moved) {
    for (const Node* loop : moved.around) sizes_.emplace_back(loop->src(0));
    for (const Node* loop : moved.own)
      sizes_.push_back(loop->is_const() ? const_int(1) : UOp(loop->src(0)));
  }

  Split split() const {
    BufferArg arg{fresh_id()};
    arg.device = step_.device;
    return {make(Op::Buffer, sizes_, moved_.value->dtype(), arg), maker(), rest()};
  }

 private:
  UOp param(Access access) const {
    const ParamArg arg{static_cast<std::int32_t>(step_.slots.size()), access, 0};
    return make(Op::Param, sizes_, moved_.value->dtype(), arg);
  }

  UOp maker() const {
    std::vector<UOp> at{param(Access::Write), const_bool(true)}, loops{UOp()};
    const auto add = [&](const Node* loop) {
      at.emplace_back(loop);
      if (!loop->is_const()) loops.emplace_back(loop);
    };
    std::ranges::for_each(moved_.around, add);
    std::ranges::for_each(moved_.own, add);
    loops[0] = make(Op::Store, {make(Op::Index, at), UOp(moved_.value)}, {}, StoreArg{});
    return with_size_name(simplify(make(Op::Sink, {make(Op::End, loops)}, {}, KernelArg{})));
  }

  UOp rest() const {
    const UOp memory = param(Access::Read);
    Substitution by;
    if (moved_.node->op() == Op::Reduce) {
      std::vector<UOp> at{memory, const_bool(true)};
      for (const Node* loop : moved_.around) at.emplace_back(loop);
      by.emplace(moved_.node, make(Op::Load, {make(Op::Index, at)}));
    }
    for (const Node* node : toposort(step_.kernel.node())) {
      if (node->op() != Op::Index || node->src(0) != moved_.node) continue;
      // The condition and the indices may read the stage as well.
      std::vector<UOp> at{memory, substitute(UOp(node->src(1)), by)};
      for (const Node* loop : moved_.around) at.emplace_back(loop);
      for (const Node* index : node->src().subspan(2)) at.push_back(substitute(UOp(index), by));
      by.emplace(node, make(Op::Index, at));
    }
    return with_size_name(simplify(substitute(step_.kernel, by)));
  }

  const Step& step_;
  const MovableValue& moved_;
  std::vector<UOp> sizes_;
};

class Fission {
 public:
  Fission(Plan& plan, const KernelSeconds& seconds, const Profile& profile)
      : plan_(plan), seconds_(seconds), profile_(profile) {
    for (const Step& step : plan.steps)
      if (step.kernel.is_null()) copied_.insert(step.slots.begin(), step.slots.end());
  }

  // Splits values off until none saves time. The new kernel is inserted before the rest of the old
  // one, and both are examined again.
  void choose() {
    for (std::size_t step = 0; step < plan_.steps.size();) {
      const auto value = best_value(plan_.steps[step]);
      if (!value) {
        ++step;
        continue;
      }
      split_off(step, *value);
    }
  }

 private:
  double launches(std::span<const Step> steps) const {
    return least_work(profile_.launch) * static_cast<double>(steps.size());
  }

  // Returns the predicted time with the layouts as they are; nothing if a kernel is unknown to the
  // model.
  std::optional<double> seconds_as_made(std::span<const Step> steps) const {
    double sum = launches(steps);
    for (const Step& step : steps) {
      const auto seconds = seconds_(step.kernel, step.device);
      if (!seconds) return std::nullopt;
      sum += *seconds;
    }
    return sum;
  }

  // Returns the predicted time if the buffers that only kernels of the plan access had the best
  // layouts for these steps.
  std::optional<double> best_layout_seconds(std::vector<Step> steps, const UOp& memory = {}) const {
    Plan alone;
    alone.slots = plan_.slots;
    for (const std::uint32_t slot : copied_) alone.slots[slot].input = 0;
    if (!memory.is_null()) alone.slots.push_back({.buffer = memory});
    alone.roots = plan_.roots;
    alone.steps = std::move(steps);
    const auto seconds = weft::best_layout_seconds(alone, seconds_, profile_);
    return seconds ? std::optional(*seconds + launches(alone.steps)) : std::nullopt;
  }

  // Returns the number of the value that saves the most time when moved, if any does.
  std::optional<std::size_t> best_value(const Step& step) const {
    if (step.kernel.is_null()) return {};
    const std::vector<MovableValue> values = movable_values(step.kernel);
    if (values.empty()) return {};
    const auto as_made = seconds_as_made({&step, 1});
    if (!as_made || *as_made < least_launches * least_work(profile_.launch)) return {};
    const bool may_relayout = *as_made >= least_relayout;
    const auto whole = may_relayout ? best_layout_seconds({step}) : as_made;
    if (!whole) return {};
    double best = std::numeric_limits<double>::infinity();
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool is_once = *as_made >= least_work(least_once) && values[i].around.empty();
      if (*as_made < least_work(least_without_sum) && !values[i].has_sum) continue;
      const Split split = ValueSplitter(step, values[i]).split();
      // Otherwise the same values would be split off again, without end.
      const std::size_t all = values_within(step.kernel);
      if (values_within(split.rest) >= all || values_within(split.maker) >= all) continue;
      if (!may_have(split.memory, step)) continue;
      const std::vector<std::uint32_t> slots = slots_with_memory(step);
      const std::vector<Step> steps{step_like(step, split.maker, slots),
                                    step_like(step, split.rest, slots)};
      const auto apart_as_made = seconds_as_made(steps);
      if (!apart_as_made || *apart_as_made > hopeless * *as_made) continue;
      const auto apart = may_relayout ? best_layout_seconds(steps, split.memory) : apart_as_made;
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

  // Returns the step's slots and the one that the new buffer will get.
  std::vector<std::uint32_t> slots_with_memory(const Step& step) const {
    std::vector<std::uint32_t> slots = step.slots;
    slots.push_back(static_cast<std::uint32_t>(plan_.slots.size()));
    return slots;
  }

  void split_off(std::size_t number, std::size_t value) {
    const Step step = plan_.steps[number];
    const std::vector<MovableValue> values = movable_values(step.kernel);
    const Split split = ValueSplitter(step, values[value]).split();
    const std::vector<std::uint32_t> slots = slots_with_memory(step);
    plan_.slots.push_back({.buffer = split.memory});
    plan_.steps[number] = step_like(step, split.rest, slots);
    Step maker = step_like(step, split.maker, slots);
    if (const auto origin = Interner::current().origin(values[value].node))
      maker.origins = {*origin};
    plan_.steps.insert(plan_.steps.begin() + static_cast<std::ptrdiff_t>(number), std::move(maker));
  }

  Plan& plan_;
  const KernelSeconds& seconds_;
  const Profile& profile_;
  std::set<std::uint32_t> copied_;  // slots that a copy reads or writes
};

}  // namespace

void split_kernels(Plan& plan, const KernelSeconds& seconds, const Profile& profile) {
  Fission(plan, seconds, profile).choose();
}

}  // namespace weft
