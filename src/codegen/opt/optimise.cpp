#include <weft/dev/codegen/accumulator.h>
#include <weft/dev/codegen/choose.h>
#include <weft/dev/codegen/lower.h>
#include <weft/dev/codegen/merge_loops.h>
#include <weft/dev/device/target.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/settings.h>

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

UOp scheduled(const UOp& given, const Target& target) {
  if (given->op() != Op::Sink) return given;
  const UOp kernel = ready_to_schedule(given);
  const Schedule schedule = schedule_of(kernel.node(), target);
  return schedule.empty() ? kernel : apply_schedule(kernel, schedule);
}

}  // namespace

UOp ready_to_schedule(const UOp& kernel) {
  return stages({merge_loops(rewrite(kernel, wide_sums()))}, {})[0];
}

Schedule schedule_of(const Node* kernel, const Target& target) {
  const std::string_view text = kernel->arg<KernelArg>().schedule.get();
  if (!text.empty()) return parse_schedule(text);
  return setting_int("NOOPT") == 0 ? choose_schedule(kernel, target) : Schedule();
}

UOp with_schedule(const UOp& kernel, const std::string& schedule) {
  std::vector<UOp> effects;
  for (const Node* effect : kernel->src()) effects.emplace_back(effect);
  return make(Op::Sink, effects, {}, KernelArg{kernel->arg<KernelArg>().name, Symbol(schedule)});
}

std::vector<UOp> optimise(const std::vector<UOp>& roots, const RewriteOptions& options) {
  const auto* known = options.context.get<Target>();
  const Target target = known != nullptr ? *known : Target{};
  return in_arena(roots, [&](const std::vector<UOp>& inside) {
    std::vector<UOp> results;
    for (const UOp& root : inside) results.push_back(scheduled(root, target));
    return simplify(results, {.pass = options.pass, .trace = options.trace});
  });
}

}  // namespace weft
