#include "data_flow.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/core.h>
#include <weft/dev/device/device.h>
#include <weft/dev/ir/graph.h>
#include <weft/error.h>

namespace weft {
namespace {

// Returns how a step accesses each of its slots.
std::vector<Access> accesses(const Step& step) {
  if (step.kernel.is_null()) return {Access::Write, Access::Read};
  std::vector<Access> result(step.slots.size(), Access::Read);
  for (const Node* node : toposort(step.kernel.node()))
    if (node->op() == Op::Param) {
      const auto& arg = node->arg<ParamArg>();
      result.at(static_cast<std::size_t>(arg.slot)) = arg.access;
    }
  return result;
}

}  // namespace

DataFlow::DataFlow(const Plan& plan) {
  std::vector<Writer> last(plan.slots.size());
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    const std::vector<Access> how = accesses(step);
    std::vector<Writer> from;
    for (std::size_t at = 0; at < step.slots.size(); ++at)
      if (reads(how[at])) from.push_back(last[step.slots[at]]);
    for (std::size_t at = 0; at < step.slots.size(); ++at)
      if (writes(how[at])) last[step.slots[at]] = i;
    std::ranges::sort(from);
    steps_.push_back(std::move(from));
  }
  std::unordered_map<const Node*, std::size_t> slot_of;
  for (std::size_t i = 0; i < plan.slots.size(); ++i)
    slot_of.emplace(plan.slots[i].buffer.node(), i);
  for (const UOp& root : plan.roots) {
    std::vector<Writer> from;
    for (const Node* node : toposort(root.node()))
      if (const auto slot = slot_of.find(node); slot != slot_of.end())
        from.push_back(last[slot->second]);
    roots_.push_back(std::move(from));
  }
}

void DataFlow::check(const Plan& plan, std::string_view after) const {
  const DataFlow now(plan);
  for (std::size_t i = 0; i < steps_.size(); ++i)
    if (now.steps_[i] != steps_[i])
      internal_error(fmt::format("after {}, step {} of {} reads what another step has written",
                                 after, i, steps_.size()));
  if (now.roots_ != roots_)
    internal_error(fmt::format("after {}, a result is not what it was before", after));
}

}  // namespace weft
