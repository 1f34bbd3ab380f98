// Replaces UNROLL and UPCAST ranges by copies of the body, one for each iteration. Reductions in the
// copies have equal ranges, so accumulate gives them one loop. This results in a register tile.

#include <algorithm>
#include <ranges>

#include <weft/dev/codegen/accumulator.h>
#include <weft/dev/codegen/lower.h>
#include <weft/dev/device/target.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/error.h>

#include "loops.h"

namespace weft {
namespace {

bool is_unrolled(const Node* node) {
  return is_range<LoopKind::Unroll>(node) || is_range<LoopKind::Upcast>(node);
}

// Returns a copy of `what` for each iteration of the range.
std::vector<UOp> copies_of(const UOp& what, const Node* range) {
  if (!range->src(0)->is_const())
    user_error("the size of an UNROLL or UPCAST range is not a constant");
  std::vector<UOp> copies;
  for (std::int64_t iteration = 0; iteration < range->src(0)->lo(); ++iteration)
    copies.push_back(with_range_replaced(with_fresh_loops(what, range), range,
                                         const_int(iteration, range->dtype())));
  return copies;
}

UOp as_list(const std::vector<UOp>& members, bool is_list) {
  return is_list ? tuple(members) : members[0];
}

UOp all_effects(const std::vector<UOp>& copies) {
  std::vector<UOp> effects;
  for (const UOp& copy : copies)
    for (const UOp& effect : list_members(copy)) effects.push_back(effect);
  return as_list(effects, effects.size() != 1);
}

UOp combined(Op op, const std::vector<UOp>& copies, bool fuses) {
  std::vector<UOp> members = list_members(copies[0]);
  for (std::size_t copy = 1; copy < copies.size(); ++copy) {
    const std::vector<UOp> next = list_members(copies[copy]);
    for (std::size_t i = 0; i < members.size(); ++i)
      members[i] = added_behind(members[i], op, next[i], fuses);
  }
  return as_list(members, copies[0]->op() == Op::Tuple);
}

// Replaces the unrolled ranges of an END or REDUCE by copies. These are in iteration order, with
// the innermost range varying fastest. Values that change only with the others are then
// short-lived.
UOp unrolled(const Match& m) {
  const UOp closer(m.root());
  if (std::ranges::none_of(closer->src().subspan(1), is_unrolled)) return {};
  const auto* target = m.context<Target>();
  const bool fuses = target != nullptr && target->ops.contains(Op::MulAcc);
  UOp what = closer.src(0);
  std::vector<UOp> loops;
  for (const Node* range : closer->src().subspan(1) | std::views::reverse) {
    if (!is_unrolled(range)) {
      loops.emplace(loops.begin(), range);
      continue;
    }
    const std::vector<UOp> copies = copies_of(what, range);
    if (copies.empty()) user_error("an UNROLL or UPCAST range has no iterations");
    what = closer->op() == Op::End ? all_effects(copies)
                                   : combined(closer->arg<ReduceArg>().op, copies, fuses);
  }
  return closed_over(closer, what, loops);
}

}  // namespace

std::vector<UOp> unroll(const std::vector<UOp>& roots, const RewriteOptions& options) {
  if (std::ranges::none_of(toposort(nodes_of(roots)), is_unrolled)) return roots;
  static const RuleSet rules{"unroll", {rule(node({Op::End, Op::Reduce}), unrolled)}};
  return simplify(rewrite_once(roots, rules, options),
                  {.pass = options.pass, .trace = options.trace});
}

}  // namespace weft
