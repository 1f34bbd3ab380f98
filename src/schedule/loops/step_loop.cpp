#include "step_loop.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>

#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/movement.h>
#include <weft/dev/ir/repeated.h>
#include <weft/error.h>

#include "emit.h"
#include "graph/rebuild.h"
#include "graph/reshape.h"
#include "plan_steps.h"

namespace weft {
namespace {

// Removes the leading axis of size 1 that makes a value a row.
UOp stored_in(const UOp& row) {
  Sizes sizes = sizes_of(row);
  sizes.erase(sizes.begin());
  return reshape(row, sizes);
}

// Combines the kernels of one step into one kernel that runs all iterations, on slots of the plan.
class LoopKernel {
 public:
  LoopKernel(const StepLoop& loop, const std::vector<std::uint32_t>& given, Plan& plan)
      : loop_(loop), plan_(plan) {
    for (std::size_t i = 0; i < given.size(); ++i) slots_.emplace(id_of(loop.given[i]), given[i]);
    for (const StepRow& row : loop.rows) {
      slots_.emplace(id_of(row.made), given[row.into]);
      rows_.emplace(id_of(row.made), row.row);
    }
  }

  Step run() {
    Plan own;
    emit(loop_.partition, loop_.fusion, own);
    note_accesses(own);
    std::vector<UOp> ends;
    for (const Step& step : own.steps) {
      const UOp kernel = in_plan(step, own);
      for (std::size_t i = 0; i < kernel->size(); ++i) ends.push_back(ended(kernel.src(i)));
    }
    const UOp iteration = range(const_int(loop_.iterations), fresh_id().value);
    const UOp done =
        substitute(ends.size() == 1 ? ends[0] : tuple(ends), {{loop_.iteration.node(), iteration}});
    const UOp kernel = make(Op::Sink, {make(Op::End, {done, iteration})}, {}, KernelArg{});
    std::vector<std::uint32_t> slots(plan_.slots.size());  // the PARAMs have their numbers
    std::iota(slots.begin(), slots.end(), 0);
    Step step = step_like(own.steps[0], with_size_name(kernel), slots);
    step.work = loop_.work();
    for (const Step& part : std::span(own.steps).subspan(1))
      step.origins.insert(step.origins.end(), part.origins.begin(), part.origins.end());
    return step;
  }

 private:
  static std::uint64_t id_of(const UOp& placeholder) {
    return placeholder->arg<BufferArg>().id.value;
  }

  // Buffers that only the loop uses get new slots.
  std::uint32_t slot_of(const UOp& buffer) {
    const auto next = static_cast<std::uint32_t>(plan_.slots.size());
    const auto [slot, is_new] = slots_.emplace(id_of(buffer), next);
    if (is_new) plan_.slots.push_back({.buffer = buffer});
    return slot->second;
  }

  static const UOp& buffer_of(const Node* param, const Step& step, const Plan& own) {
    return own.slots[weft::slot_of(step, param)].buffer;
  }

  void note_accesses(const Plan& own) {
    for (const Step& step : own.steps)
      for (const Node* node : toposort(step.kernel.node())) {
        if (node->op() != Op::Param) continue;
        const Access access = node->arg<ParamArg>().access;
        const auto [known, is_new] = accesses_.emplace(slot_of(buffer_of(node, step, own)), access);
        if (!is_new && known->second != access) known->second = Access::ReadWrite;
      }
  }

  // The PARAM has the number of the plan's slot until step_like() changes it to the kernel's.
  UOp param_for(std::uint32_t slot) const {
    const UOp& buffer = plan_.slots[slot].buffer;
    return make(Op::Param, sizes_of(buffer), buffer->dtype(),
                ParamArg{static_cast<std::int32_t>(slot), accesses_.at(slot), 0});
  }

  // A STORE alone gets an END of no loops (repeated.h).
  static UOp ended(const UOp& effect) {
    return effect->op() == Op::End ? effect : make(Op::End, {effect});
  }

  // The kernel on slots of the plan and rows of what is kept of all steps.
  UOp in_plan(const Step& step, const Plan& own) {
    const auto remade = [&](const Node* node, std::vector<UOp> src) {
      if (node->op() == Op::Param) return param_for(slot_of(buffer_of(node, step, own)));
      if (node->op() == Op::Index && node->src(0)->op() == Op::Param) {
        const auto row = rows_.find(id_of(buffer_of(node->src(0), step, own)));
        if (row != rows_.end()) src.insert(src.begin() + 2, row->second);
      }
      return with_sources(UOp(node), src);
    };
    return rebuilt({step.kernel}, remade)[0];
  }

  const StepLoop& loop_;
  Plan& plan_;
  std::map<std::uint64_t, std::uint32_t> slots_;  // by the id of a placeholder
  std::map<std::uint64_t, UOp> rows_;
  std::map<std::uint32_t, Access> accesses_;
};

// Keeps the list of calls short.
constexpr std::int64_t most_calls = 4096;
// Calls may take at most this fraction of the time of a single kernel.
constexpr double worth_calls = 0.9;

// Returns the calls that replace a loop; none if a single kernel is better.
std::vector<Step> calls_for(const Step& step, const KernelSeconds& seconds) {
  const Node* loop = step.kernel.is_null() ? nullptr : loop_around(step.kernel.node());
  if (loop == nullptr) return {};
  const auto as_one = seconds(step.kernel, step.device);
  const std::vector<UOp> kernels = calls_of_iteration(step.kernel);
  const std::int64_t iterations = loop->src(0)->lo();
  if (!as_one || iterations * std::ssize(kernels) > most_calls) return {};
  std::vector<Step> each;
  for (const UOp& kernel : kernels)
    each.push_back(step_like(step, with_size_name(kernel), step.slots));
  const auto apart = seconds_of(each, seconds, 0);
  if (!apart || *apart * static_cast<double>(iterations) > worth_calls * *as_one) return {};
  std::vector<Step> calls;
  for (std::int64_t iteration = 0; iteration < iterations; ++iteration)
    for (const Step& call : each) {
      calls.push_back(call);
      calls.back().values = {iteration};
    }
  return calls;
}

}  // namespace

void share_iterations(Plan& plan, const KernelSeconds& seconds) {
  replace_steps(plan, [&](const Step& step) { return calls_for(step, seconds); });
}

Work StepLoop::work() const {
  Work work;
  for (const FusedKernel& kernel : fusion.kernels) {
    work.flops += kernel.work.flops * static_cast<double>(iterations);
    work.bytes += kernel.work.bytes * static_cast<double>(iterations);
  }
  return work;
}

std::shared_ptr<const StepLoop> plan_step_loop(const UOp& steps, const std::vector<UOp>& given,
                                               Symbol device, const Target& target) {
  auto loop = std::make_shared<StepLoop>();
  const UOp iteration = steps.src(1);
  loop->iterations = iteration->src(0)->lo();
  loop->iteration = Variable("<step>", 0, loop->iterations - 1);
  loop->given = given;
  Substitution by{{iteration.node(), loop->iteration}};
  for (const Node* param : toposort(steps.node()))
    if (param->op() == Op::Param)
      by.emplace(param, given[static_cast<std::size_t>(param->arg<ParamArg>().slot)]);
  std::vector<Root> roots;
  for (const Node* store : steps->src(0)->src()) {
    const Node* place = store->src(0);
    const UOp value = stored_in(UOp(store->src(1)));
    const bool is_view = is_movement(value.node());
    const UOp made = substitute(value, by);
    roots.push_back({is_view ? make(Op::Contiguous, {made}) : made, device});
    const auto into = static_cast<std::size_t>(place->src(0)->arg<ParamArg>().slot);
    loop->rows.push_back({{}, into, substitute(UOp(place->src(1)->src(0)), by)});
  }
  loop->partition = partition_graph(roots, target);
  loop->fusion = fuse(loop->partition, domains(loop->partition), target);
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const UOp& root = loop->partition.roots[i];
    if (root->op() != Op::Buffer) internal_error("a step whose value is part of another");
    loop->rows[i].made = root;
  }
  return loop;
}

Step loop_step(const StepLoop& loop, const std::vector<std::uint32_t>& given, Plan& plan) {
  return LoopKernel(loop, given, plan).run();
}

}  // namespace weft
