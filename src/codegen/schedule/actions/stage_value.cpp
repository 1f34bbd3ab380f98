// STAGE of the operand of a reduction: a loop of its own computes it beforehand. The reduction
// reads it, and so do all other loops in which the kernel would compute it again.

#include <algorithm>

#include "fills.h"
#include "kernel_loops.h"

namespace weft {
namespace {

bool have_equal_sizes(NodeList ranges, NodeList others) {
  const auto size = [](const Node* range) { return range->src(0); };
  return std::ranges::equal(ranges, others, {}, size, size);
}

}  // namespace

std::vector<SameValue> same_values(const Node* kernel, const Node* reduce) {
  const NodeList own = reduce->src().subspan(1);
  // A value that does not depend on a loop is the same node outside of it, where the loop's range
  // is not available.
  if (!changes_with_each_of(reduce->src(0), own)) return {};
  const std::vector<const Node*> order = toposort(kernel);
  NodeMap<bool> known;
  for (const Node* node : order) known.set(node, true);
  std::vector<SameValue> found;
  for (const Node* closer : order) {
    if (!OpSet{Op::End, Op::Reduce}.contains(closer->op()) || closer == reduce) continue;
    for (std::size_t first = 1; first + own.size() <= closer->size(); ++first) {
      const NodeList ranges = closer->src().subspan(first, own.size());
      if (!have_equal_sizes(ranges, own)) continue;
      Substitution by;
      for (std::size_t i = 0; i < own.size(); ++i) by.emplace(own[i], UOp(ranges[i]));
      const UOp value = substitute(UOp(reduce->src(0)), by);
      if (known.contains(value.node())) found.push_back({value, list_of(ranges)});
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
  if (!changes_with_each_of(reduce->src(0), own))
    refuse(action, "it does not change with all loops of the reduction");
  check_sizes(action, own);
  const FilledMemory filled = computed_before(reduce->src(0), own);
  Substitution by{{reduce->src(0), filled.read_at(list_of(own))}};
  for (const auto& [same, ranges] : same_values(kernel_.node(), reduce))
    by.emplace(same.node(), filled.read_at(ranges));
  for (std::size_t i = 0; i < own.size(); ++i) {  // loop v1 computes the operand of loop k1
    const LoopIterator at = find_loop(own[i]);
    add_loop(at, "v" + at->substr(1), filled.loops[i]);
  }
  kernel_ = substitute(kernel_, by);
}

}  // namespace weft
