#include <weft/dev/codegen/choose.h>
#include <weft/dev/codegen/lower.h>
#include <weft/dev/codegen/merge_loops.h>
#include <weft/dev/device/target.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/settings.h>

namespace weft {
namespace {

UOp scheduled(const UOp& given, const Target& target) {
  if (given->op() != Op::Sink) return given;
  const UOp kernel = merge_loops(given);
  const Schedule schedule = schedule_of(kernel.node(), target);
  return schedule.empty() ? kernel : apply_schedule(kernel, schedule);
}

}  // namespace

Schedule schedule_of(const Node* kernel, const Target& target) {
  const std::string_view text = kernel->arg<KernelArg>().schedule.get();
  if (!text.empty()) return parse_schedule(text);
  return setting_int("NOOPT") == 0 ? choose_schedule(kernel, target) : Schedule();
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
