// Replaces ranges that workers share by the position of each worker in the launch grid.

#include <map>
#include <ranges>

#include <weft/dev/codegen/lower.h>

#include "loops.h"

namespace weft {
namespace {

// The innermost range of a kind is its axis 0: neighbouring iterations are neighbours in the grid.
UOp share(const Match& m) {
  const UOp end(m.root());
  UOp body = end.src(0);
  std::vector<UOp> loops;
  std::map<LoopKind, std::int32_t> axes;
  for (const Node* range : end->src().subspan(1) | std::views::reverse) {
    const LoopKind kind = kind_of(range);
    if (is_parallel(kind))
      body = with_range_replaced(
          body, range, make(Op::Special, {UOp(range->src(0))}, {}, SpecialArg{kind, axes[kind]++}));
    else
      loops.emplace(loops.begin(), range);
  }
  return axes.empty() ? UOp() : closed_over(end, body, loops);
}

}  // namespace

const RuleSet& worker_rules() {
  static const RuleSet rules{"workers", {rule(with_more(node(Op::End)), share)}};
  return rules;
}

std::vector<UOp> workers(const std::vector<UOp>& roots, const RewriteOptions& options) {
  return rewrite(roots, worker_rules(), options);
}

}  // namespace weft
