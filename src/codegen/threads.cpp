// THREAD ranges to the number of the thread that runs the kernel.

#include <weft/dev/codegen/lower.h>
#include <weft/dev/codegen/slice.h>

namespace weft {
namespace {

bool is_shared(const Node* node) {
  return node->op() == Op::Range && node->arg<RangeArg>().kind == LoopKind::Thread;
}

UOp share(const Match& m) {
  const Node* end = m.root();
  std::vector<UOp> src{UOp(end->src(0))};
  for (const Node* range : end->src().subspan(1)) {
    if (is_shared(range))
      src[0] =
          at_place(src[0], range,
                   make(Op::Special, {UOp(range->src(0))}, {}, SpecialArg{LoopKind::Thread, 0}));
    else
      src.emplace_back(range);
  }
  if (src.size() == end->size()) return {};
  return src.size() == 1 ? src[0] : make(Op::End, src);
}

}  // namespace

const RuleSet& thread_rules() {
  static const RuleSet rules{"threads", {rule(with_more(node(Op::End)), share)}};
  return rules;
}

std::vector<UOp> threads(const std::vector<UOp>& roots, const RewriteOptions& options) {
  return rewrite(roots, thread_rules(), options);
}

}  // namespace weft
