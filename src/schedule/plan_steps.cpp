#include "plan_steps.h"

#include <algorithm>
#include <iterator>
#include <string>

#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/movement.h>
#include <weft/dev/rules/scan.h>

#include "fusion/iteration_domain.h"

namespace weft {

UOp with_size_name(const UOp& kernel) {
  std::string loops, reduces;
  for (const Node* node : toposort(kernel.node())) {
    if (node->op() != Op::Range) continue;
    const bool is_reduce = node->arg<RangeArg>().kind == LoopKind::Reduce;
    const Node* size = node->src(0);
    (is_reduce ? reduces : loops) += "_" + (size->is_const() ? std::to_string(size->lo()) : "n");
  }
  const std::string name = (reduces.empty() ? "e" : "r") + loops + reduces;
  return make(Op::Sink, std::vector<UOp>(kernel->src().begin(), kernel->src().end()), {},
              KernelArg{Symbol(name)});
}

UOp loop_nest(const std::vector<UOp>& stores, NodeList loops) {
  std::vector<UOp> src{stores.size() == 1 ? stores[0] : tuple(stores)};
  for (const Node* loop : loops) src.emplace_back(loop);
  return make(Op::End, src);
}

bool contains_op(const Node* root, OpSet ops) {
  return std::ranges::any_of(toposort(root),
                             [&](const Node* node) { return ops.contains(node->op()); });
}

std::uint32_t slot_of(const Step& step, const Node* param) {
  return step.slots[static_cast<std::size_t>(param->arg<ParamArg>().slot)];
}

UOp with_number(const Node* param, std::size_t number) {
  ParamArg arg = param->arg<ParamArg>();
  arg.slot = static_cast<std::int32_t>(number);
  return make(Op::Param, sizes_of(UOp(param)), param->dtype(), arg);
}

std::vector<bool> internal_slots(const Plan& plan) {
  NodeMap<bool> seen_outside;
  for (const Node* node : toposort(nodes_of(plan.roots))) seen_outside.set(node, true);
  std::vector<bool> own;
  for (const Slot& slot : plan.slots)
    own.push_back(!slot.input && !seen_outside.contains(slot.buffer.node()));
  return own;
}

double memory_bytes(const UOp& memory) {
  return elements(memory->dims()) * static_cast<double>(memory->dtype().bytes());
}

std::optional<double> seconds_of(std::span<const Step> steps, const KernelSeconds& seconds,
                                 double overhead) {
  double sum = overhead;
  for (const Step& step : steps) {
    const auto own = seconds(step.kernel, step.device);
    if (!own) return std::nullopt;
    sum += *own;
  }
  return sum;
}

namespace {

// Ops that select or convert values do not count as operations: padding is free.
constexpr OpSet moving_ops{Op::Where, Op::Cast, Op::Bitcast};

double flops_per_element(const Node* node) {
  if (!is_elementwise(node->op()) || !node->dtype().is_float() || moving_ops.contains(node->op()))
    return 0;
  return node->op() == Op::MulAcc ? 2 : 1;
}

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

double flops_of(const Node* node) {
  double flops = 0;
  for (const Node* below : toposort(node))
    flops += below->op() == Op::Reduce ? trip_count(below->src(0)->ranges())
                                       : flops_per_element(below) * trip_count(below->ranges());
  return flops;
}

Work work_of(const UOp& kernel) {
  const UOp carried = with_scans_carried(kernel);
  Work work{.flops = flops_of(carried.node())};
  for (const Node* node : toposort(carried.node()))
    if (node->op() == Op::Param) work.bytes += memory_bytes(UOp(node));
  return work;
}

void replace_steps(Plan& plan, const std::function<std::vector<Step>(const Step&)>& steps_for) {
  std::vector<Step> steps;
  for (Step& step : plan.steps) {
    std::vector<Step> others = steps_for(step);
    if (others.empty()) others.push_back(std::move(step));
    std::ranges::move(others, std::back_inserter(steps));
  }
  plan.steps = std::move(steps);
}

Step step_like(const Step& step, const UOp& kernel, const std::vector<std::uint32_t>& slots) {
  Step result{.kernel = {}, .device = step.device, .slots = {}, .work = work_of(kernel)};
  result.origins = step.origins;
  Substitution numbered;
  for (const Node* param : params_of(kernel)) {
    numbered.emplace(param, with_number(param, result.slots.size()));
    result.slots.push_back(slots[static_cast<std::size_t>(param->arg<ParamArg>().slot)]);
  }
  result.kernel = substitute(kernel, numbered);
  return result;
}

}  // namespace weft
