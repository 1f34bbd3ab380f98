#include <weft/dev/engine/realize.h>

#include <algorithm>
#include <memory>
#include <set>

#include <fmt/format.h>

#include <weft/dev/base/internal.h>
#include <weft/dev/engine/call_list.h>
#include <weft/dev/engine/callers.h>
#include <weft/dev/engine/schedule.h>
#include <weft/dev/engine/storage.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/text.h>
#include <weft/error.h>

#include "outcome.h"
#include "plans.h"
#include "resolve.h"
#include "run.h"
#include "step_callers.h"

namespace weft {
namespace {

// A mistake of weft itself says what the program was about.
[[noreturn]] void blame(const Error& error, const std::vector<Wanted>& wanted,
                        const Resolved& resolved) {
  if (!is_internal(error.what())) throw;
  std::set<std::string> lines;
  for (const auto& origin : resolved.origins)
    if (origin) lines.insert(caller(*origin));
  const UOp& tensor = wanted[0].tensor;
  throw Error(fmt::format(
      "{}\n  in computing a tensor of {} and shape {}, at {}\n  {}{}", error.what(),
      tensor->dtype().str(), sizes_text(tensor->dims()), present_caller(),
      lines.empty() ? "DEBUG=2 says which lines made it" : "made by ", fmt::join(lines, ", ")));
}

// What is wanted, the part of it that there is something to do for, and how.
struct Task {
  Task(const std::vector<Wanted>& wanted, Purpose purpose) {
    std::vector<Wanted> needed;
    for (const Wanted& one : wanted) {
      const UOp known = computed_for(one.tensor.node(), one.device);
      results.push_back(known.is_null() ? one.tensor : known);
      if (!buffers_of(results.back().node()).empty()) continue;
      open.push_back(results.size() - 1);
      needed.push_back(one);
    }
    if (open.empty()) return;
    const InternerScope scope(*arena);
    const PassOptions options;
    try {
      resolved = resolve(needed, options);
      runnable = plan_for(resolved, options.extra, purpose);
    } catch (const Error& error) {
      blame(error, needed, resolved);
    }
  }

  // What has been planned is a graph of its own: those that it was made of need not be there while it runs.
  void forget_graphs() {
    resolved.roots.clear();
    arena.reset();
  }

  std::unique_ptr<Arena> arena = std::make_unique<Arena>();
  std::vector<UOp> results;       // of those that there is nothing to do for
  std::vector<std::size_t> open;  // which are the others
  Resolved resolved;
  std::shared_ptr<RunnablePlan> runnable;
};

// Whatever becomes of the run, the graph knows how far it came.
void run_and_tell(RunnablePlan& runnable, const std::vector<std::shared_ptr<Buffer>>& memory,
                  const std::vector<std::int64_t>& values, const std::vector<std::string>& callers,
                  const Outcome& outcome) {
  std::size_t steps_done = 0;
  try {
    run(runnable, memory, values, callers, steps_done);
  } catch (...) {
    outcome.tell(steps_done);
    throw;
  }
  outcome.tell(steps_done);
}

}  // namespace

std::vector<UOp> realize(const std::vector<Wanted>& wanted) {
  Task task(wanted, Purpose::Run);
  if (task.open.empty()) return task.results;
  const Results made = results_of(task.runnable->plan, task.resolved);
  std::vector<UOp> tensors;
  for (const std::size_t open : task.open) tensors.push_back(wanted[open].tensor);
  const Outcome outcome(made, tensors, task.runnable->writes_of_roots);
  std::vector<std::shared_ptr<Buffer>> memory;
  for (const UOp& buffer : made.buffers)
    memory.push_back(buffer.is_null() ? nullptr : memory_of(buffer.node()));
  const std::vector<std::string> callers = step_callers(task.runnable->plan, task.resolved);
  task.forget_graphs();
  try {
    run_and_tell(*task.runnable, memory, task.resolved.values, callers, outcome);
  } catch (const Error& error) {
    blame(error, wanted, task.resolved);
  }
  if (CallList* list = CallList::recording())
    list->add(task.runnable, memory, task.resolved.variables, task.resolved.values, callers);
  for (std::size_t i = 0; i < task.open.size(); ++i) task.results[task.open[i]] = made.roots[i];
  return task.results;
}

std::vector<ScheduleItem> schedule(const std::vector<Wanted>& wanted) {
  const Task task(wanted, Purpose::Look);
  if (task.open.empty()) return {};
  const Plan& plan = task.runnable->plan;
  std::vector<const Node*> nodes;
  for (std::size_t i = 0; i < plan.slots.size(); ++i) nodes.push_back(plan.slots[i].buffer.node());
  for (const Step& step : plan.steps)
    if (!step.kernel.is_null()) nodes.push_back(step.kernel.node());
  const InternerScope scope(shared_graph());
  const std::vector<UOp> imported = import_graph(nodes, *plan.arena, shared_graph());
  auto kernel = imported.begin() + std::ssize(plan.slots);
  std::vector<ScheduleItem> items;
  const Results made = results_of(plan, task.resolved);
  for (const Step& step : plan.steps) {
    ScheduleItem item{{}, "copy", step.device.get(), {}, step.work};
    for (std::uint32_t slot : step.slots)
      item.buffers.push_back(made.buffers[slot].is_null() ? imported[slot] : made.buffers[slot]);
    if (!step.kernel.is_null()) {
      item.kernel = *kernel++;
      item.name = item.kernel->arg<KernelArg>().name.get();
    }
    items.push_back(std::move(item));
  }
  return items;
}

RunCost cost(const std::vector<Wanted>& wanted) {
  const Task task(wanted, Purpose::Look);
  if (task.open.empty()) return {};
  const Plan& plan = task.runnable->plan;
  RunCost cost{.kernels = plan.steps.size()};
  for (const Step& step : plan.steps) {
    cost.flops += step.work.flops;
    cost.bytes += step.work.bytes;
  }
  for (const BufferLayout& layout : plan.layouts)
    cost.turned.push_back({std::string(layout.kernel.get()), layout.sizes, layout.order,
                           layout.seconds, layout.seconds_as_made});
  std::vector<bool> is_new(plan.slots.size());
  for (const Step& step : plan.steps)
    for (std::uint32_t slot : step.slots) is_new[slot] = !plan.slots[slot].input;
  for (const Block& block : blocks_of(plan)) {
    cost.own_bytes += block.layout.bytes;
    cost.least_bytes += block.layout.least;
    for (std::uint32_t slot : block.slots) is_new[slot] = false;
  }
  for (std::size_t slot = 0; slot < is_new.size(); ++slot)
    if (is_new[slot])
      cost.result_bytes +=
          bytes_of(plan.slots[slot].buffer->dtype(), plan.slots[slot].buffer->dims());
  return cost;
}

std::string ScheduleItem::str() const {
  std::string shapes;
  for (const Node* size : buffers[0]->dims())
    shapes += fmt::format("{}{}", shapes.empty() ? "" : ", ", expression_text(size));
  return fmt::format("{:<6} {:<32} ({}) {}, {} buffers, {} flops, {} bytes", device, name, shapes,
                     buffers[0]->dtype().str(), buffers.size(), work.flops, work.bytes);
}

}  // namespace weft
