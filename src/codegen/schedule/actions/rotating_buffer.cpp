// STAGEs whose memory a loop carries from one iteration to the next: sliding regions, and pipelines
// that read several iterations in advance.

#include <algorithm>

#include <fmt/format.h>
#include <weft/dev/rules/symbolic.h>

#include "fills.h"
#include "groups.h"
#include "kernel_loops.h"

namespace weft {
namespace {

// Memory that a loop carries: what fills it before the first iteration, and what each iteration
// adds. The sizes of the ranges `dims` are its dimensions.
struct RotatingBuffer {
  std::vector<UOp> dims;
  Fill before, next;
  std::vector<UOp> at;    // indices of readers
  bool is_ahead = false;  // only later iterations read what an iteration adds
};

// Returns the value over ranges of its own.
Fill with_fresh_ranges(const Staged& staged) {
  const LoopCopies own(nodes_of(staged.ranges));
  return {own.copy_of(staged.value), own.loops, own.loops};
}

// The same for only `count` elements along a dimension, starting at `first`.
Fill part_along(const Staged& staged, std::size_t dim, std::int64_t first, std::int64_t count) {
  Fill fill = with_fresh_ranges(staged);
  const UOp whole = fill.ranges[dim], part = weft::range(count, fresh_id().value);
  fill.ranges[dim] = part;
  fill.at[dim] = part + first;
  fill.value = substitute(fill.value, {{whole.node(), fill.at[dim]}});
  return fill;
}

// Returns how far the index moves in each iteration; 0 if that is not constant.
std::int64_t step_of(const Node* index, const Node* range) {
  const UOp later = substitute(UOp(index), {{range, UOp(range) + 1}});
  const UOp step = simplify(later - UOp(index));
  return step->is_const() ? step->lo() : 0;
}

// A ring buffer: new elements replace those that have left the region.
RotatingBuffer sliding(const Action& action, const Staged& staged, const Node* range) {
  const NodeList index = staged.value->src(0)->src().subspan(2);
  const auto moves = [&](const Node* at) { return changes_with(at, range); };
  if (std::ranges::count_if(index, moves) != 1)
    refuse(action, "the region does not move along exactly one dimension");
  const auto dim = static_cast<std::size_t>(std::ranges::find_if(index, moves) - index.begin());
  const std::int64_t size = staged.ranges[dim]->src(0)->lo(), step = step_of(index[dim], range);
  if (step < 1 || step >= size)
    refuse(action, fmt::format("successive iterations of {} share none of the region's {} elements",
                               action.at, size));
  const auto in_ring = [&](const UOp& at) { return (UOp(range) * step + at) % size; };
  RotatingBuffer result{staged.ranges, part_along(staged, dim, 0, size - step),
                        part_along(staged, dim, size - step, step), staged.at};
  result.before.value = substitute(result.before.value, {{range, const_int(0)}});
  result.next.at[dim] = in_ring(result.next.at[dim]);
  result.at[dim] = in_ring(result.at[dim]);
  return result;
}

// A pipeline: the buffer has one copy of the value for each iteration in flight.
RotatingBuffer ahead(const Staged& staged, const Node* range, std::int64_t depth) {
  const auto at_iteration = [&](const UOp& iteration) {
    Fill fill = with_fresh_ranges(staged);
    fill.value = with_range_replaced(fill.value, range, iteration, iteration < UOp(range->src(0)));
    fill.at.insert(fill.at.begin(), iteration % depth);
    return fill;
  };
  const UOp first = weft::range(depth - 1, fresh_id().value);
  RotatingBuffer result{staged.ranges, at_iteration(first), at_iteration(UOp(range) + (depth - 1)),
                        staged.at, true};
  result.dims.insert(result.dims.begin(), weft::range(depth, fresh_id().value));
  result.before.ranges.insert(result.before.ranges.begin(), first);
  result.at.insert(result.at.begin(), UOp(range) % depth);
  return result;
}

}  // namespace

// Returns the loop that carries the memory. Its iterations must run sequentially, and only the
// loops around it may start it again.
const Node* KernelLoops::carrying_loop(const Action& action, const Staged& staged) const {
  if (action.at.empty()) refuse(action, "it needs 'at' and a loop");
  const Node *range = loop(action.at), *closer = closer_of(range);
  if (!changes_with(staged.value.node(), range))
    refuse(action, fmt::format("it is the same in all iterations of {}", action.at));
  if (!is_plain_loop(range))
    refuse(action, fmt::format("the iterations of {} are not sequential", action.at));
  for (const Node* node : slice_of(staged.value.node(), range))
    if (OpSet{Op::After, Op::End, Op::Reduce}.contains(node->op()))
      refuse(action, "it depends on results of the same iteration");
  for (const std::string& name : order_) {
    const Node* other = loop(name);
    const bool is_sum = closer_of(other)->op() == Op::Reduce;
    const bool is_loop = is_plain_loop(other) || closer_of(other) == closer;
    if (is_sum && is_loop && comes_before(other, range))
      refuse(action, fmt::format("the reduction loop {} is outside {}", name, action.at));
    if (!is_sum && is_plain_loop(other) && closer->op() == Op::Reduce && comes_before(range, other))
      refuse(action, fmt::format("{} is inside the reduction loop {}", name, action.at));
  }
  const std::vector<const Node*> around = nodes_of(loops_around(range));
  for (const UOp& other : iterations_around(staged.value, staged.ranges))
    if (other.node() != range && !has_node(around, other.node()))
      refuse(action, fmt::format("it depends on a loop inside {}", action.at));
  return range;
}

std::vector<UOp> KernelLoops::loops_around(const Node* range) const {
  const Node* closer = closer_of(range);
  std::vector<UOp> around = iterations_around(UOp(closer));
  for (const Node* other : closer->src().subspan(1))
    if (comes_before(other, range) && !is_parallel(kind_of(other))) around.emplace_back(other);
  return around;
}

// In shared memory, items wait before each iteration until all have finished the previous one. A
// sliding stage waits once more, for the new data.
Staged KernelLoops::rotating_buffer(const Action& action, const Staged& staged) {
  const Node* range = carrying_loop(action, staged);
  const RotatingBuffer what =
      action.slides ? sliding(action, staged, range) : ahead(staged, range, action.count);
  const UOp buffer = memory_for(what.dims, staged.value->dtype(), action.space);
  const auto after = [&](const std::vector<UOp>& effects) {
    const bool waits = action.space == Space::Shared && !effects.empty();
    return with_list(Op::After, buffer, waits ? std::vector{group_barrier(effects)} : effects);
  };
  const UOp before = filled(action, after(loops_around(range)), what.before);
  const UOp next = filled(action, after({before, UOp(range)}), what.next);
  carrying_.insert(action.at);
  return {what.is_ahead ? make(Op::After, {buffer, next}) : after({next}),
          {},
          staged.valid,
          what.at,
          staged.otherwise};
}

// Splits ENDs so that a loop that carries memory is the outermost of its END. The END of the loops
// around it then contains what fills the memory before the first iteration.
void KernelLoops::nest_carrying_loops() {
  for (const std::string& name : carrying_) {
    const Node *range = loop(name), *closer = closer_of(range);
    if (closer->op() != Op::End || closer->src(1) == range) continue;
    std::vector<UOp> inner{UOp(closer->src(0))}, outer{UOp()};
    for (const Node* other : closer->src().subspan(1))
      (inner.size() > 1 || other == range ? inner : outer).emplace_back(other);
    outer[0] = make(Op::End, inner);
    replace(closer, make(Op::End, outer));
  }
}

}  // namespace weft
