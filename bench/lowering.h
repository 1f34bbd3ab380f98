// How long a network takes on its way to kernels that could run: built, scheduled, and every
// distinct kernel lowered and rendered, without the target compiler.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <vector>

#include <weft/dev/compile/pipeline.h>
#include <weft/dev/device/device.h>
#include <weft/dev/ir/graph.h>
#include <weft/weft.h>

namespace weft::bench {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Times {
  double build, schedule, lower;
  std::size_t kernels, distinct;
};

inline Times measure(const std::function<std::vector<Tensor>()>& network) {
  Times times{};
  Clock::time_point start = Clock::now();
  const std::vector<Tensor> results = network();
  times.build = seconds_since(start);
  start = Clock::now();
  const std::vector<ScheduleItem> items = Tensor::schedule(results);
  times.schedule = seconds_since(start);
  start = Clock::now();
  std::map<std::pair<std::uint64_t, std::uint64_t>, UOp> distinct;
  for (const ScheduleItem& item : items) {
    if (item.kernel.is_null()) continue;
    const StructuralHash hash = structural_hash(nodes_of({&item.kernel, 1}));
    distinct.emplace(std::pair(hash.high, hash.low), item.kernel);
  }
  Device& device = find_device("CPU");
  Arena arena;
  for (const auto& [hash, kernel] : distinct) {
    arena.reset();
    const InternerScope scope(arena);
    const UOp own = import_graph(nodes_of({&kernel, 1}), shared_graph(), arena)[0];
    device.render(run_pipeline({own}, {.target = device.target()})[0].node());
  }
  times.lower = seconds_since(start);
  times.kernels = items.size();
  times.distinct = distinct.size();
  return times;
}

}  // namespace weft::bench
