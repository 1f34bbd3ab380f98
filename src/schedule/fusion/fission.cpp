// Fusion decides by the amounts of computation and memory access. How fast the loops of a fused
// kernel can be is known only once the kernel exists: a STAGE may be filled again and again in
// loops that leave it too few neighbouring iterations to share its loads. Its values are then
// materialised by a kernel whose loops are all its own.

#include "fission.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <span>

#include <weft/dev/base/size_limits.h>
#include <weft/dev/ir/below.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/dev/schedule/ranges.h>

#include "iteration_domain.h"
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
constexpr std::ptrdiff_t most_moves = 6;    // whose times are asked for

bool is_plain_loop(const Node* node) {
  return node->op() == Op::Range && node->src(0)->is_const() &&
         node->arg<RangeArg>().kind == LoopKind::Loop;
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
    const double bytes =
        static_cast<double>(node->dtype().bytes()) * trip_count(own) * trip_count(staged.around);
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
    const auto is_around = [&](const Node* loop) { return changes_with(node, loop); };
    if (node->ranges().size() == loops.size() && std::ranges::all_of(loops, is_around) &&
        std::ranges::none_of(toposort(node), is_written))
      result.push_back({node, node, {loops.begin(), loops.end()}});
  }
  if (result.size() < 2) result.clear();
  return result;
}

// Returns them by how evenly they divide the operations of the kernel.
std::vector<MovableValue> movable_values(const UOp& kernel) {
  std::vector<MovableValue> values = stages_of(kernel);
  std::ranges::move(products_of(kernel), std::back_inserter(values));
  const double all = flops_of(kernel.node());
  std::multimap<double, MovableValue> by_larger_part;
  for (MovableValue& value : values) {
    const double flops = flops_of(value.node);
    by_larger_part.emplace(std::max(flops, all - flops), std::move(value));
  }
  values.clear();
  for (auto& [flops, value] : by_larger_part) values.push_back(std::move(value));
  return values;
}

// Counts the STAGEs and reductions of a kernel.
std::size_t values_within(const UOp& kernel) {
  return static_cast<std::size_t>(std::ranges::count_if(
      toposort(kernel.node()),
      [](const Node* node) { return node->op() == Op::Stage || node->op() == Op::Reduce; }));
}

// A STAGE or reduction that is moved: a buffer for all of its values, the step that fills it, and
// the one that reads it instead.
struct MovedValue {
  const Node* node;
  UOp memory;
  std::vector<Step> steps;
  double most = worth_memory;  // ratio of the new time to the old
};

std::vector<UOp> handles(NodeList nodes) {
  std::vector<UOp> result;
  for (const Node* node : nodes) result.emplace_back(node);
  return result;
}

// Returns the kernel that stores the values of all iterations in the memory.
UOp maker_of(const MovableValue& moved, std::vector<const Node*> loops, const UOp& memory) {
  const UOp at = place(memory, const_bool(true), handles(loops));
  const UOp store = make(Op::Store, {at, UOp(moved.value)}, {}, StoreArg{});
  std::erase_if(loops, [](const Node* loop) { return loop->is_const(); });
  return with_size_name(simplify(make(Op::Sink, {loop_nest({store}, loops)}, {}, KernelArg{})));
}

// Returns the kernel with loads from the memory in place of the value.
UOp rest_of(const UOp& kernel, const MovableValue& moved, const UOp& memory) {
  Substitution by;
  if (moved.node->op() == Op::Reduce)
    by.emplace(moved.node, element(memory, const_bool(true), handles(moved.around)));
  for (const Node* node : toposort(kernel.node())) {
    if (node->op() != Op::Index || node->src(0) != moved.node) continue;
    // The condition and the indices may read the stage as well.
    std::vector<UOp> at = handles(moved.around);
    for (const Node* index : node->src().subspan(2)) at.push_back(substitute(UOp(index), by));
    by.emplace(node, place(memory, substitute(UOp(node->src(1)), by), at));
  }
  return with_size_name(simplify(substitute(kernel, by)));
}

// `slots` are those of the step, and one for the new buffer.
MovedValue split_off(const Step& step, const MovableValue& value,
                     const std::vector<std::uint32_t>& slots) {
  std::vector<const Node*> loops = value.around;
  loops.insert(loops.end(), value.own.begin(), value.own.end());
  std::vector<UOp> sizes;
  for (const Node* loop : loops)
    sizes.push_back(loop->is_const() ? const_int(1) : UOp(loop->src(0)));
  const auto param = [&](Access access) {
    const ParamArg arg{static_cast<std::int32_t>(step.slots.size()), access, 0};
    return make(Op::Param, sizes, value.value->dtype(), arg);
  };
  BufferArg arg{fresh_id()};
  arg.device = step.device;
  return {value.node,
          make(Op::Buffer, sizes, value.value->dtype(), arg),
          {step_like(step, maker_of(value, loops, param(Access::Write)), slots),
           step_like(step, rest_of(step.kernel, value, param(Access::Read)), slots)}};
}

class Fission {
 public:
  Fission(Plan& plan, const KernelSeconds& seconds, const Target& target, KernelForms& forms)
      : plan_(plan), seconds_(seconds), target_(target), forms_(forms) {
    for (const Step& step : plan.steps)
      if (step.kernel.is_null()) copied_.insert(step.slots.begin(), step.slots.end());
  }

  // Splits values off until none saves time. The new kernel is inserted before the rest of the old
  // one, and both are examined again. As many times as the kernel has values: its parts may compute
  // some of the same values, and would double with each of these.
  void choose() {
    for (std::size_t step = 0; step < plan_.steps.size();) {
      const UOp& kernel = plan_.steps[step].kernel;
      auto left = kernel.is_null() ? 0 : values_within(kernel);
      for (std::size_t end = step + 1; step < end;) {
        auto moved = left > 0 ? best_move(plan_.steps[step]) : std::nullopt;
        if (!moved) {
          ++step;
          continue;
        }
        apply(step, std::move(*moved));
        ++end;
        --left;
      }
    }
  }

 private:
  double launches(std::span<const Step> steps) const {
    return least_work(target_.machine.launch()) * static_cast<double>(steps.size());
  }

  // Returns the predicted time with the layouts as they are.
  std::optional<double> seconds_as_made(std::span<const Step> steps) const {
    return seconds_of(steps, seconds_, launches(steps));
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
    const auto seconds = weft::best_layout_seconds(alone, forms_);
    return seconds ? std::optional(*seconds + launches(alone.steps)) : std::nullopt;
  }

  // Returns the value that saves the most time when moved; nothing if none does.
  std::optional<MovedValue> best_move(const Step& step) const {
    if (step.kernel.is_null()) return {};
    const std::vector<MovableValue> values = movable_values(step.kernel);
    if (values.empty()) return {};
    const auto as_made = seconds_as_made({&step, 1});
    if (!as_made || *as_made < least_launches * least_work(target_.machine.launch())) return {};
    const bool may_relayout = *as_made >= least_relayout;
    const auto whole = may_relayout ? best_layout_seconds({step}) : as_made;
    if (!whole) return {};
    std::vector<MovedValue> moves = moves_of(step, values, *as_made);
    find_seconds(moves);
    double best = std::numeric_limits<double>::infinity();
    std::optional<MovedValue> found;
    for (MovedValue& moved : moves) {
      const auto apart_as_made = seconds_as_made(moved.steps);
      if (!apart_as_made || *apart_as_made > hopeless * *as_made) continue;
      const auto apart =
          may_relayout ? best_layout_seconds(moved.steps, moved.memory) : apart_as_made;
      if (!apart || *apart >= std::min(best, moved.most * *whole)) continue;
      best = *apart;
      found = std::move(moved);
    }
    return found;
  }

  // Returns what moving a value would make of the step, for the first of the values: there may be too
  // many to ask for the times of all.
  std::vector<MovedValue> moves_of(const Step& step, const std::vector<MovableValue>& values,
                                   double as_made) const {
    std::vector<std::uint32_t> slots = step.slots;
    slots.push_back(static_cast<std::uint32_t>(plan_.slots.size()));  // for the new buffer
    // A new kernel with as many values would be split again, without end.
    const auto has_as_many = [all = values_within(step.kernel)](const Step& part) {
      return values_within(part.kernel) >= all;
    };
    std::vector<MovedValue> moves;
    for (const MovableValue& value : values) {
      if (std::ssize(moves) == most_moves) break;
      if (as_made < least_work(least_without_sum) && !value.has_sum) continue;
      MovedValue moved = split_off(step, value, slots);
      if (std::ranges::any_of(moved.steps, has_as_many)) continue;
      if (memory_bytes(moved.memory) > most_memory * touched(step)) continue;
      const bool is_once = as_made >= least_work(least_once) && value.around.empty();
      if (is_once) moved.most = worth_memory_once;
      moves.push_back(std::move(moved));
    }
    return moves;
  }

  void find_seconds(const std::vector<MovedValue>& moves) const {
    std::vector<KernelOnDevice> kernels;
    for (const MovedValue& moved : moves)
      for (const Step& step : moved.steps) kernels.push_back({step.kernel, step.device});
    seconds_.find(kernels);
  }

  double touched(const Step& step) const {
    double bytes = 0;
    for (const std::uint32_t slot : step.slots) bytes += memory_bytes(plan_.slots[slot].buffer);
    return bytes;
  }

  void apply(std::size_t number, MovedValue moved) {
    plan_.slots.push_back({.buffer = moved.memory});
    if (const auto origin = Interner::current().origin(moved.node))
      moved.steps[0].origins = {*origin};
    plan_.steps[number] = std::move(moved.steps[1]);
    plan_.steps.insert(plan_.steps.begin() + static_cast<std::ptrdiff_t>(number),
                       std::move(moved.steps[0]));
  }

  Plan& plan_;
  const KernelSeconds& seconds_;
  const Target& target_;
  KernelForms& forms_;
  std::set<std::uint32_t> copied_;  // slots that a copy reads or writes
};

}  // namespace

void split_kernels(Plan& plan, const KernelSeconds& seconds, const Target& target,
                   KernelForms& forms) {
  Fission(plan, seconds, target, forms).choose();
}

}  // namespace weft
