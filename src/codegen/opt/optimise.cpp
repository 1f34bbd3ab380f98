#include <weft/dev/codegen/actions.h>
#include <weft/dev/codegen/lower.h>
#include <weft/dev/device/target.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/settings.h>

#include "choose.h"
#include "merge_loops.h"

namespace weft {
namespace {

UOp scheduled(const UOp& given, const Target* target) {
  if (given->op() != Op::Sink) return given;
  const UOp kernel = merge_loops(given);
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
