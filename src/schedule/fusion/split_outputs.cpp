#include "split_outputs.h"

#include <algorithm>
#include <iterator>

#include <weft/dev/base/size_limits.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>

#include "plan_steps.h"

namespace weft {
namespace {

constexpr double least_gain = 0.03;  // of the kernel's time

bool contains_op(const Node* root, Op op) {
  return std::ranges::any_of(toposort(root), [&](const Node* node) { return node->op() == op; });
}

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
  if (stores->op() != Op::Tuple || contains_op(kernel.node(), Op::Stage) ||
      !has_separate_memory(kernel.node()))
    return {};
  std::vector<const Node*> seen;
  for (const Node* store : stores->src()) {
    if (store->op() != Op::Store || !contains_op(store, Op::Reduce)) return {};
    for (const Node* node : toposort(store)) {
      if (node->op() != Op::Reduce) continue;
      if (std::ranges::find(seen, node) != seen.end()) return {};
      seen.push_back(node);
    }
  }
  return stores->src();
}

// One kernel per store, in the same loops.
std::vector<Step> split(const Step& step, NodeList stores) {
  std::vector<Step> parts;
  for (const Node* store : stores) {
    std::vector<UOp> nest{UOp(store)};
    for (const Node* loop : step.kernel->src(0)->src().subspan(1)) nest.emplace_back(loop);
    const UOp kernel = with_size_name(make(Op::Sink, {make(Op::End, nest)}, {}, KernelArg{}));
    parts.push_back(step_like(step, kernel, step.slots));
    if (step.origins.size() == stores.size())
      parts.back().origins = {step.origins[parts.size() - 1]};
  }
  return parts;
}

}  // namespace

void split_outputs(Plan& plan, const KernelSeconds& seconds, const Profile& profile) {
  std::vector<Step> steps;
  for (Step& step : plan.steps) {
    std::vector<Step> parts;
    if (!step.kernel.is_null() && step.values.empty())
      parts = split(step, independent_stores(step.kernel));
    auto apart =
        std::optional(least_work(profile.launch) * (static_cast<double>(parts.size()) - 1));
    for (const Step& part : parts) {
      const auto time = seconds(part.kernel, part.device);
      apart = apart && time ? std::optional(*apart + *time) : std::nullopt;
    }
    const auto whole = parts.empty() ? std::nullopt : seconds(step.kernel, step.device);
    if (whole && apart && *apart < (1 - least_gain) * *whole)
      std::ranges::move(parts, std::back_inserter(steps));
    else
      steps.push_back(std::move(step));
  }
  plan.steps = std::move(steps);
}

}  // namespace weft
