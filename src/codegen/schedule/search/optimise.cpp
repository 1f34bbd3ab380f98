// The pass `optimise`: applies a schedule to each kernel and adds kernels that prepack constants.

#include <algorithm>

#include <fmt/format.h>
#include <weft/dev/codegen/accumulator.h>
#include <weft/dev/codegen/choose.h>
#include <weft/dev/codegen/lower.h>
#include <weft/dev/codegen/merge_loops.h>
#include <weft/dev/device/target.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/settings.h>

namespace weft {
namespace {

// Computes a reduction in the type of its accumulator, because the partial sums of unrolled
// iterations and lanes are also combined outside of its loop.
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

// Returns the kernel that fills a prepacked STAGE: it writes the values to `param`.
UOp prepacking_kernel(const Node* stage, const UOp& param, std::string_view name) {
  std::vector<UOp> at{param, const_bool(true)}, src{UOp()};
  for (const Node* range : stage->src().subspan(1)) {
    at.emplace_back(range);
    if (range->op() == Op::Range) src.emplace_back(range);
  }
  src[0] = make(Op::Store, {make(Op::Index, at), UOp(stage->src(0))}, {}, StoreArg{});
  const UOp end = src.size() > 1 ? make(Op::End, src) : src[0];
  return make(Op::Sink, {end}, {}, KernelArg{Symbol(std::string(name))});
}

// Replaces prepacked STAGEs by params with slots from `params` on. Returns the kernel, followed by
// the kernels that fill these params, which read their inputs from the same slots as the kernel.
std::vector<UOp> split_prepacking(const UOp& kernel, std::int32_t params, const Target& target) {
  std::vector<UOp> kernels{kernel};
  Substitution kept;
  for (const Node* stage : toposort(kernel.node())) {
    if (stage->op() != Op::Stage || stage->arg<StageArg>().space != Space::Constant) continue;
    std::vector<UOp> sizes;
    for (const Node* range : stage->src().subspan(1))
      sizes.push_back(range->op() == Op::Range ? UOp(range->src(0)) : const_int(1));
    const auto param = [&](Access access) {
      return make(Op::Param, sizes, stage->dtype(), ParamArg{params, access, 0});
    };
    const std::string name =
        fmt::format("{}_keep_p{}", kernel->arg<KernelArg>().name.get(), params);
    kernels.push_back(scheduled(prepacking_kernel(stage, param(Access::Write), name), target));
    kept.emplace(stage, param(Access::Constant));
    ++params;
  }
  if (!kept.empty()) kernels[0] = substitute(kernel, kept);
  return kernels;
}

std::int32_t params_of(const Node* kernel) {
  std::int32_t count = 0;
  for (const Node* node : toposort(kernel))
    if (node->op() == Op::Param) count = std::max(count, node->arg<ParamArg>().slot + 1);
  return count;
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
  KernelArg arg = kernel->arg<KernelArg>();
  arg.schedule = Symbol(schedule);
  return make(Op::Sink, effects, {}, arg);
}

std::vector<UOp> optimise(const std::vector<UOp>& roots, const RewriteOptions& options) {
  const auto* known = options.context.get<Target>();
  const Target target = known != nullptr ? *known : Target{};
  return in_arena(roots, [&](const std::vector<UOp>& inside) {
    std::vector<UOp> results, others;
    for (const UOp& root : inside) {
      const std::vector<UOp> kernels =
          split_prepacking(scheduled(root, target), params_of(root.node()), target);
      results.push_back(kernels[0]);
      others.insert(others.end(), kernels.begin() + 1, kernels.end());
    }
    results.insert(results.end(), others.begin(), others.end());
    return simplify(results, {.pass = options.pass, .trace = options.trace});
  });
}

}  // namespace weft
