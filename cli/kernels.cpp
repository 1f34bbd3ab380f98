#include <fmt/format.h>
#include <weft/dev/codegen/choose.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/device/device.h>
#include <weft/dev/ir/memory.h>
#include <weft/error.h>

#include "commands.h"
#include "input.h"

namespace weft::cli {
namespace {

std::string loops_text(const Node* kernel) {
  std::vector<std::string> loops;
  for (const auto& [name, range] : loops_of_kernel(kernel))
    loops.push_back(fmt::format("{}: {} trips", name, expression_text(range->src(0))));
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

void show(const UOp& given, const KernelsOptions& options, Device& device) {
  const PassOptions passing{.target = device.target()};
  const UOp asked = options.schedule.empty() ? given : with_schedule(given, options.schedule);
  const UOp kernel = ready_to_schedule(run_pipeline_until("optimise", {asked}, passing)[0]);
  const Schedule schedule = schedule_of(kernel.node(), passing.target);
  apply_schedule(kernel, schedule);  // a device that does not lower would refuse nothing
  fmt::print("{}\n  loops: {}\n  reads: {}\n  schedule: {}\n", kernel->arg<KernelArg>().name.get(),
             loops_text(kernel.node()), reads_text(kernel.node()), to_string(schedule));
  const auto time = expected_time(kernel.node(), schedule, passing.target);
  fmt::print("  model: {}\n\n", time ? time->str() : "it does not know kernels of this form");
  const UOp program = run_pipeline({with_schedule(given, to_string(schedule))}, passing)[0];
  fmt::print("{}\n", device.render(program.node()));
}

}  // namespace

void run_kernels(const KernelsOptions& options) {
  Arena arena;
  const InternerScope scope(arena);
  Device& device = find_device(options.device.empty() ? default_device() : options.device);
  int shown = 0;
  for (const Graph& graph : read_graphs(options.file))
    for (const UOp& root : graph.roots) {
      if (root->op() != Op::Sink) continue;
      show(root, options, device);
      ++shown;
    }
  if (shown == 0) user_error(fmt::format("{}: there is no kernel in it", options.file));
  flush_output();
}

}  // namespace weft::cli
