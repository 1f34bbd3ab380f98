#include "times.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <weft/dev/codegen/choose.h>
#include <weft/dev/compile/extra_rules.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/engine/tuning.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>

#include "../../src/engine/programs.h"
#include "../../src/engine/timing.h"

namespace weft::bench {
namespace {

constexpr int samples = 9;

UOp in_its_program(const CorpusKernel& kernel) {
  return among_constants(kernel.kernel, *kernel.device, kernel.constant_bytes);
}

std::string reads_text(const Node* kernel) {
  std::vector<std::string> reads;
  for (const auto& [name, load] : reads_of_kernel(kernel)) {
    const Node* storage = storage_of(load->src(0)->src(0));
    std::vector<std::int64_t> sizes;
    for (const Node* size : storage->dims()) sizes.push_back(size->hi());
    reads.push_back(fmt::format("{} {}", name, fmt::join(sizes, "x")));
  }
  return fmt::format("{}", fmt::join(reads, ", "));
}

}  // namespace

double Times::error() const { return std::log(measured / expected.value()); }

Times times_of(const CorpusKernel& kernel) {
  const auto extra = extra_rules();
  const UOp own = in_its_program(kernel);
  const Symbol device{std::string(kernel.device->name())};
  Times times{expected_seconds(extra, kernel.constant_bytes)(kernel.kernel, device)};
  const KernelFor wanted{own, kernel.device};
  Scratch scratch(own, *kernel.device);
  Timed timed(load_kernels({&wanted, 1}, extra)[0], scratch);
  timed.first();
  timed.forget();
  for (int i = 0; i < samples; ++i) timed.sample();
  times.measured = timed.median();
  return times;
}

std::optional<Found> searched(const CorpusKernel& kernel, std::int64_t width, double seconds) {
  const auto found =
      tune(in_its_program(kernel), *kernel.device, {.width = width, .seconds = seconds});
  if (!found) return std::nullopt;
  return Found{found->default_seconds, std::min(found->seconds, found->default_seconds),
               found->schedule};
}

std::string text_of(const CorpusKernel& kernel) {
  Arena arena;
  const UOp from = in_its_program(kernel);
  const InternerScope scope(arena);
  const UOp own = import_graph(nodes_of({&from, 1}), shared_graph(), arena)[0];
  const PassOptions passing{.target = kernel.device->target()};
  const UOp ready = ready_to_schedule(run_pipeline_until("optimise", {own}, passing)[0]);
  std::vector<std::string> loops;
  for (const auto& [name, range] : loops_of_kernel(ready.node()))
    loops.push_back(fmt::format("{} {}", name, range->src(0)->hi()));
  return fmt::format("loops {}; reads {}; {}", fmt::join(loops, ", "), reads_text(ready.node()),
                     to_string(schedule_of(ready.node(), passing.target)));
}

}  // namespace weft::bench
