#include <weft/dev/codegen/accumulator.h>
#include <weft/dev/codegen/actions.h>
#include <weft/dev/codegen/lower.h>
#include <weft/dev/device/target.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/settings.h>

#include "choose.h"
#include "merge_loops.h"

namespace weft {
namespace {

// Copies and lanes of a sum are added outside of its loop as well: all of it is as wide as what the
// loop adds to.
UOp widen(const Match& m) {
  const Node *reduce = m.root(), *body = reduce->src(0);
  const auto& arg = reduce->arg<ReduceArg>();
  if (body->op() == Op::Tuple) return {};
  const DType wide = accumulator_of(arg.op, body->dtype());
  if (wide == body->dtype()) return {};
  std::vector<UOp> src{cast(UOp(body), wide)};
  for (const Node* range : reduce->src().subspan(1)) src.emplace_back(range);
  return cast(make(Op::Reduce, src, {}, arg), body->dtype());
}

const RuleSet& wide_sums() {
  static const RuleSet rules{"wide_sums", {rule(with_more(node(Op::Reduce)), widen)}};
  return rules;
}

UOp scheduled(const UOp& given, const Target* target) {
  if (given->op() != Op::Sink) return given;
  const UOp kernel = merge_loops(rewrite(given, wide_sums()));
  const auto& [name, text] = kernel->arg<KernelArg>();
  const bool is_chosen = text.empty() && target != nullptr && setting_int("NOOPT") == 0;
  const Schedule schedule =
      is_chosen ? choose_schedule(kernel.node(), *target) : parse_schedule(text.get());
  return schedule.empty() ? kernel : apply_schedule(kernel, schedule);
}

}  // namespace

std::vector<UOp> optimise(const std::vector<UOp>& roots, const RewriteOptions& options) {
  return in_arena(roots, [&](const std::vector<UOp>& inside) {
    std::vector<UOp> results;
    for (const UOp& root : inside)
      results.push_back(scheduled(root, options.context.get<Target>()));
    return simplify(results, {.pass = options.pass, .trace = options.trace});
  });
}

}  // namespace weft
