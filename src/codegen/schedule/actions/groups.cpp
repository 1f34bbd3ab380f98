// Work-groups: how items fill shared memory together, and where barriers synchronise them.

#include <algorithm>
#include <map>
#include <ranges>

#include "common/loops.h"
#include "groups.h"
#include "kernel_loops.h"

namespace weft {
namespace {

std::int64_t iterations_of(const std::vector<UOp>& ranges) {
  std::int64_t iterations = 1;
  for (const UOp& range : ranges) iterations *= range->src(0)->lo();
  return iterations;
}

// Linearises the iterations of nested ranges; the innermost range changes fastest.
UOp linear_index(const std::vector<UOp>& ranges) {
  UOp number = const_int(0);
  for (const UOp& range : ranges) number = number * UOp(range->src(0)) + range;
  return number;
}

// The inverse: the value of each range at a linear number.
Substitution delinearise(const UOp& number, const std::vector<UOp>& ranges) {
  Substitution places;
  UOp rest = number;
  for (const UOp& range : ranges | std::views::reverse) {
    const UOp size(range->src(0));
    places.emplace(range.node(), rest % size);
    rest = rest / size;
  }
  return places;
}

}  // namespace

std::vector<UOp> KernelLoops::items() const {
  return list_of(loops_where(is_range<LoopKind::Local>));
}

// Neighbouring items fill neighbouring elements, in a loop with as many iterations as all items
// need for that.
UOp KernelLoops::filled_by_items(const Action& action, const UOp& begin, const Fill& fill) const {
  const std::vector<UOp> items = this->items();
  if (items.empty()) refuse(action, "there are no work-items to share it");
  const std::int64_t places = iterations_of(fill.ranges), workers = iterations_of(items);
  const std::int64_t iterations = (places + workers - 1) / workers;
  const UOp iteration = weft::range(iterations, fresh_id().value),
            place = weft::range(places, fresh_id().value);
  const UOp own = iteration * workers + linear_index(items);
  const UOp put =
      substitute(store_at(place_in(begin, fill.at), fill.value), delinearise(place, fill.ranges));
  const UOp valid = iterations * workers == places ? const_bool(true) : own < places;
  return make(Op::End, {with_range_replaced(put, place.node(), own, valid), iteration});
}

namespace {

// The number of barriers that precede a barrier, one after the other, and the loops around it.
using BarrierKey = std::pair<int, std::vector<const Node*>>;

std::map<BarrierKey, std::vector<const Node*>> barriers_of(const Node* kernel) {
  std::map<BarrierKey, std::vector<const Node*>> barriers;
  NodeMap<int> before;
  for (const Node* node : toposort(kernel)) {
    int most = 0;
    for (const Node* source : node->src()) most = std::max(most, *before.find(source));
    const bool waits = node->op() == Op::Barrier;
    before.set(node, most + waits);
    if (!waits) continue;
    barriers[{most, nodes_of(iterations_around(UOp(node)))}].push_back(node);
  }
  return barriers;
}

}  // namespace

// Joins barriers that are in the same loops and do not wait for one another.
void KernelLoops::join_barriers() {
  const auto several = [](const auto& entry) { return entry.second.size() > 1; };
  for (;;) {
    const auto barriers = barriers_of(kernel_.node());
    const auto found = std::ranges::find_if(barriers, several);
    if (found == barriers.end()) return;
    std::vector<UOp> what;
    for (const Node* node : found->second)
      for (const Node* source : node->src()) what.emplace_back(source);
    const UOp joint = group_barrier(what);
    Substitution by;
    for (const Node* node : found->second) by.emplace(node, joint);
    kernel_ = substitute(kernel_, by);
  }
}

}  // namespace weft
