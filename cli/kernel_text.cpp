#include "kernel_text.h"

#include <functional>

#include <fmt/format.h>
#include <weft/dev/codegen/choose.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/device/device_model.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>
#include <weft/dev/ir/text.h>

namespace weft::cli {
namespace {

std::string loops_text(const Node* kernel) {
  std::vector<std::string> loops;
  for (const auto& [name, range] : loops_of_kernel(kernel))
    loops.push_back(fmt::format("{}: {} iterations", name, expression_text(range->src(0))));
  return fmt::format("{}", fmt::join(loops, ", "));
}

std::string reads_text(const Node* kernel) {
  std::vector<std::string> reads;
  for (const auto& [name, load] : reads_of_kernel(kernel)) {
    const Node* storage = storage_of(load->src(0)->src(0));
    std::vector<std::string> sizes;
    for (const Node* size : storage->dims()) sizes.push_back(expression_text(size));
    reads.push_back(
        fmt::format("{}: {} of {}", name, storage->dtype().str(),
                    sizes.empty() ? "no dimensions" : fmt::format("{}", fmt::join(sizes, " x "))));
  }
  return fmt::format("{}", fmt::join(reads, ", "));
}

// Every op and every scalar but floats narrower than f32.
Target target_of_model(std::string_view model) {
  return {.lowered = true,
          .ops = OpSet::where([](Op) { return true; }),
          .kinds = int_kinds | KindSet{Kind::Bool, Kind::F32, Kind::F64},
          .machine = find_model(model)};
}

using Render = std::function<std::string(const UOp& program)>;

KernelText describe_for(const UOp& kernel, const std::string& schedule, const Target& target,
                        const Render& render) {
  Arena arena;
  const InternerScope scope(arena);
  const UOp given = import_graph(nodes_of({&kernel, 1}), Interner::current(), arena)[0];
  const PassOptions passing{.target = target};
  const UOp asked = schedule.empty() ? given : with_schedule(given, schedule);
  const UOp ready = ready_to_schedule(run_pipeline_until("optimise", {asked}, passing)[0]);
  const Schedule actions = schedule_of(ready.node(), passing.target);
  apply_schedule(ready, actions);  // a device that does not lower would refuse nothing
  const auto time = expected_time(ready.node(), actions, passing.target);
  std::optional<double> seconds;
  if (passing.target.lowered)
    seconds = time ? time->total() : choice_of(ready, passing.target).seconds;
  const std::string text = to_string(actions);
  std::string source;
  for (const UOp& program : run_pipeline({with_schedule(given, text)}, passing))
    source += (source.empty() ? "" : "\n") + render(program);
  return {.name = ready->arg<KernelArg>().name.get(),
          .loops = loops_text(ready.node()),
          .reads = reads_text(ready.node()),
          .schedule = text,
          .model = time,
          .seconds = seconds,
          .source = std::move(source)};
}

}  // namespace

KernelText describe(const UOp& kernel, const std::string& schedule, Device& device) {
  return describe_for(kernel, schedule, device.target(),
                      [&](const UOp& program) { return device.render(program.node()); });
}

KernelText describe_for_model(const UOp& kernel, const std::string& schedule,
                              std::string_view model) {
  return describe_for(kernel, schedule, target_of_model(model), [](const UOp& program) {
    return print_graph(program->arg<KernelArg>().name.get(), nodes_of({&program, 1}));
  });
}

}  // namespace weft::cli
