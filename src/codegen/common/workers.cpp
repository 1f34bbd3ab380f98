// Replaces ranges that workers share by the position of each worker in the launch grid.

#include <map>
#include <ranges>

#include <weft/dev/codegen/lower.h>
#include <weft/dev/codegen/slice.h>

namespace weft {
namespace {

bool is_shared(const Node* node) {
  return node->op() == Op::Range && is_parallel(node->arg<RangeArg>().kind);
}

// The innermost range of a kind is its axis 0: neighbouring iterations are neighbours in the grid.
UOp share(const Match& m) {
  const Node* end = m.root();
  std::vector<UOp> src{UOp(end->src(0))};
  std::map<LoopKind, std::int32_t> axes;
  for (const Node* range : end->src().subspan(1) | std::views::reverse) {
    const LoopKind kind = range->arg<RangeArg>().kind;
    if (is_shared(range))
      src[0] = with_range_replaced(
          src[0], range,
          make(Op::Special, {UOp(range->src(0))}, {}, SpecialArg{kind, axes[kind]++}));
    else
      src.emplace(src.begin() + 1, range);
  }
  if (src.size() == end->size()) return {};
  return src.size() == 1 ? src[0] : make(Op::End, src);
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
