// STAGE of the operand of a reduction: a loop of its own computes it beforehand. The reduction
// reads it, and so do all other loops in which the kernel would compute it again.

#include <algorithm>

#include <weft/dev/codegen/filled.h>
#include <weft/dev/codegen/slice.h>
#include <weft/dev/ir/below.h>

#include "kernel_loops.h"

namespace weft {
namespace {

bool has_sizes_of(NodeList ranges, NodeList own) {
  return std::ranges::equal(
      ranges, own, {}, [](auto range) { return range->src(0); },
      [](auto range) { return range->src(0); });
}

// Whether the value depends on all ranges. A value that does not depend on a loop is the same node
// outside of it, where the loop's range is not available.
bool changes_with_all(const Node* value, NodeList ranges) {
  return std::ranges::all_of(ranges, [&](const Node* range) { return changes_with(value, range); });
}

}  // namespace

std::vector<SameValue> same_values(const Node* kernel, const Node* reduce) {
  const NodeList own = reduce->src().subspan(1);
  if (!changes_with_all(reduce->src(0), own)) return {};
  const std::vector<const Node*> order = toposort(kernel);
  NodeMap<bool> known;
  for (const Node* node : order) known.set(node, true);
  std::vector<SameValue> found;
  for (const Node* closer : order) {
    if (!OpSet{Op::End, Op::Reduce}.contains(closer->op()) || closer == reduce) continue;
    for (std::size_t first = 1; first + own.size() <= closer->size(); ++first) {
      const NodeList ranges = closer->src().subspan(first, own.size());
      if (!has_sizes_of(ranges, own)) continue;
      Substitution by;
      for (std::size_t i = 0; i < own.size(); ++i) by.emplace(own[i], UOp(ranges[i]));
      const UOp value = substitute(UOp(reduce->src(0)), by);
      if (known.find(value.node()) != nullptr) found.push_back({value, list_of(ranges)});
    }
  }
  return found;
}

void KernelLoops::stage_value(const Action& action) {
  const Node* reduce = closer_of(loop(action.name));
  if (reduce->op() != Op::Reduce) refuse(action, "it is not a loop of a reduction");
  if (!action.at.empty() || action.by_region || !action.loops.empty())
    refuse(action, "the operand of a reduction is staged without 'at', 'region' or 'as'");
  if (action.space != Space::Scratch)
    refuse(action, "the operand of a reduction is staged in scratch only");
  if (reduce->src(0)->op() == Op::Tuple) refuse(action, "it reduces a tuple");
  const NodeList own = reduce->src().subspan(1);
  if (!changes_with_all(reduce->src(0), own))
    refuse(action, "it does not change with all loops of the reduction");
  Substitution fresh;
  std::vector<UOp> loops, around;
  for (const Node* range : own) {
    if (!range->src(0)->is_const()) refuse(action, "a size is not a constant");
    loops.push_back(weft::range(UOp(range->src(0)), fresh_id().value));
    fresh.emplace(range, loops.back());
  }
  const Node* value = reduce->src(0);
  for (const Node* range : value->ranges())
    if (std::ranges::find(own, range) == own.end()) around.emplace_back(range);
  const UOp buffer = memory_for(loops, value->dtype(), Space::Scratch);
  const UOp place = place_in(with_list(Op::After, buffer, around), loops);
  const UOp filled = with_list(Op::End, store_at(place, substitute(UOp(value), fresh)), loops);
  const UOp ready = make(Op::After, {buffer, filled});
  const auto read_at = [&](const std::vector<UOp>& at) {
    return make(Op::Load, {place_in(ready, at)});
  };
  Substitution by{{value, read_at(list_of(own))}};
  for (const auto& [same, ranges] : same_values(kernel_.node(), reduce))
    by.emplace(same.node(), read_at(ranges));
  name_loops_of_value(own, loops);
  kernel_ = substitute(kernel_, by);
}

// Loop v1 computes the operand of the reduction over k1.
void KernelLoops::name_loops_of_value(NodeList own, const std::vector<UOp>& loops) {
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto at =
        std::ranges::find_if(order_, [&](const std::string& name) { return loop(name) == own[i]; });
    const std::string name = "v" + at->substr(1);
    loops_.emplace(name, loops[i]);
    order_.insert(at, name);
  }
}

}  // namespace weft
