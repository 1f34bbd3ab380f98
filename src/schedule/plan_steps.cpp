#include "plan_steps.h"

#include <algorithm>
#include <string>

#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/movement.h>
#include <weft/dev/rules/scan.h>

#include "fusion/iteration_domain.h"

namespace weft {

UOp with_size_name(const UOp& kernel) {
  std::vector<std::string> loops, reduces;
  for (const Node* node : toposort(kernel.node())) {
    if (node->op() != Op::Range) continue;
    const bool is_reduce = node->arg<RangeArg>().kind == LoopKind::Reduce;
    const Node* size = node->src(0);
    (is_reduce ? reduces : loops).push_back(size->is_const() ? std::to_string(size->lo()) : "n");
  }
  std::string name = reduces.empty() ? "e" : "r";
  for (const auto& list : {loops, reduces})
    for (const std::string& size : list) name += "_" + size;
  return make(Op::Sink, std::vector<UOp>(kernel->src().begin(), kernel->src().end()), {},
              KernelArg{Symbol(name)});
}

std::vector<bool> internal_slots(const Plan& plan) {
  NodeMap<bool> seen_outside;
  for (const UOp& root : plan.roots)
    for (const Node* node : toposort(root.node())) seen_outside.set(node, true);
  std::vector<bool> own;
  for (const Slot& slot : plan.slots)
    own.push_back(!slot.input && !seen_outside.contains(slot.buffer.node()));
  return own;
}

double memory_bytes(const UOp& memory) {
  double bytes = static_cast<double>(memory->dtype().bytes());
  for (const Node* size : memory->dims()) bytes *= static_cast<double>(size->hi());
  return bytes;
}

// Ops that select or convert values do not count as operations: padding is free.
constexpr OpSet moving_ops{Op::Where, Op::Cast, Op::Bitcast};

double flops_per_element(const Node* node) {
  if (!is_elementwise(node->op()) || !node->dtype().is_float() || moving_ops.contains(node->op()))
    return 0;
  return node->op() == Op::MulAcc ? 2 : 1;
}

Work work_of(const UOp& kernel) {
  Work work;
  const auto iterations = [](NodeList ranges) {
    double count = 1;
    for (const Node* range : ranges) count *= static_cast<double>(range->src(0)->hi());
    return count;
  };
  const UOp carried = with_scans_carried(kernel);
  for (const Node* node : toposort(carried.node())) {
    if (node->op() == Op::Param) {
      double bytes = static_cast<double>(node->dtype().bytes());
      for (const Node* size : node->dims()) bytes *= static_cast<double>(size->hi());
      work.bytes += bytes;
    } else if (node->op() == Op::Reduce) {
      work.flops += iterations(node->src(0)->ranges());
    } else if (const double flops = flops_per_element(node); flops > 0) {
      work.flops += flops * iterations(node->ranges());
    }
  }
  return work;
}

namespace {

std::vector<const Node*> params_of(const UOp& kernel) {
  std::vector<const Node*> params;
  for (const Node* node : toposort(kernel.node()))
    if (node->op() == Op::Param) params.push_back(node);
  const auto key = [](const Node* param) {
    const auto& arg = param->arg<ParamArg>();
    return std::pair(!writes(arg.access), arg.slot);
  };
  std::ranges::sort(params, {}, key);
  return params;
}

}  // namespace

Step step_like(const Step& step, const UOp& kernel, const std::vector<std::uint32_t>& slots) {
  Step result{.kernel = {}, .device = step.device, .slots = {}, .work = work_of(kernel)};
  result.origins = step.origins;
  Substitution numbered;
  for (const Node* param : params_of(kernel)) {
    ParamArg arg = param->arg<ParamArg>();
    result.slots.push_back(slots[static_cast<std::size_t>(arg.slot)]);
    arg.slot = static_cast<std::int32_t>(result.slots.size() - 1);
    numbered.emplace(param, make(Op::Param, sizes_of(UOp(param)), param->dtype(), arg));
  }
  result.kernel = substitute(kernel, numbered);
  return result;
}

}  // namespace weft
