#include "split_outputs.h"

#include <algorithm>

#include <weft/dev/base/size_limits.h>
#include <weft/dev/ir/graph.h>

#include "plan_steps.h"

namespace weft {
namespace {

constexpr double least_gain = 0.03;  // of the kernel's time

// Whether every PARAM is only read or only written: the order of the parts then does not matter.
bool has_separate_memory(const Node* kernel) {
  return std::ranges::none_of(toposort(kernel), [](const Node* node) {
    return node->op() == Op::Param && node->arg<ParamArg>().access == Access::ReadWrite;
  });
}

// The stores of a kernel of one loop nest, if each has a reduction and none shares one with another.
NodeList independent_stores(const UOp& kernel) {
  if (kernel->size() != 1 || kernel->src(0)->op() != Op::End) return {};
  const Node* stores = kernel->src(0)->src(0);
  if (stores->op() != Op::Tuple || contains_op(kernel.node(), {Op::Stage}) ||
      !has_separate_memory(kernel.node()))
    return {};
  NodeMap<bool> seen;
  const auto is_new = [&](const Node* node) {
    return node->op() != Op::Reduce || seen.insert(node, true);
  };
  for (const Node* store : stores->src())
    if (store->op() != Op::Store || !contains_op(store, {Op::Reduce}) ||
        !std::ranges::all_of(toposort(store), is_new))
      return {};
  return stores->src();
}

// One kernel per store, in the same loops.
std::vector<Step> split(const Step& step, NodeList stores) {
  std::vector<Step> parts;
  for (const Node* store : stores) {
    const UOp nest = loop_nest({UOp(store)}, step.kernel->src(0)->src().subspan(1));
    const UOp kernel = with_size_name(make(Op::Sink, {nest}, {}, KernelArg{}));
    parts.push_back(step_like(step, kernel, step.slots));
    if (step.origins.size() == stores.size())
      parts.back().origins = {step.origins[parts.size() - 1]};
  }
  return parts;
}

}  // namespace

void split_outputs(Plan& plan, const KernelSeconds& seconds, const Target& target) {
  replace_steps(plan, [&](const Step& step) -> std::vector<Step> {
    if (step.kernel.is_null() || !step.values.empty()) return {};
    std::vector<Step> parts = split(step, independent_stores(step.kernel));
    if (parts.empty()) return {};
    const double launches =
        least_work(target.machine.launch()) * (static_cast<double>(parts.size()) - 1);
    const auto apart = seconds_of(parts, seconds, launches);
    const auto whole = seconds(step.kernel, step.device);
    return whole && apart && *apart < (1 - least_gain) * *whole ? parts : std::vector<Step>{};
  });
}

}  // namespace weft
