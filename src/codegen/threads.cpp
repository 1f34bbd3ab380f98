// THREAD ranges to the number of the thread that runs the kernel.

#include <weft/dev/codegen/lower.h>

namespace weft {
namespace {

bool is_thread(const Node* node) {
  return node->op() == Op::Range && node->arg<RangeArg>().kind == LoopKind::Thread;
}

// An END without its THREAD range, which is an index now.
UOp share(const Match& m) {
  const Node* end = m.root();
  std::vector<UOp> src;
  Substitution threads;
  for (const Node* range : end->src().subspan(1)) {
    if (is_thread(range))
      threads.emplace(range,
                      make(Op::Special, {UOp(range->src(0))}, {}, SpecialArg{LoopKind::Thread, 0}));
    else
      src.emplace_back(range);
  }
  if (threads.empty()) return {};
  const UOp effect = substitute(UOp(end->src(0)), threads);
  src.insert(src.begin(), effect);
  return src.size() == 1 ? effect : make(Op::End, src);
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
