// How long a network takes on its way to kernels that could run: built, scheduled, and every
// distinct kernel lowered and rendered, up to the sources that the target compiler would get.
#pragma once

#include <chrono>
#include <ctime>
#include <functional>
#include <map>
#include <string>
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

// What this process has used, so that other work on the machine does not count.
inline double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Times {
  double build, schedule, lower;
  std::size_t nodes, kernels, distinct;
  std::vector<std::string> sources;  // of the distinct kernels
};

// Of the tensors' graph.
inline std::size_t nodes_in(const std::vector<Tensor>& tensors) {
  std::vector<UOp> views;
  for (const Tensor& tensor : tensors) views.push_back(tensor.uop());
  return toposort(nodes_of(views)).size();
}

inline Times measure(const std::function<std::vector<Tensor>()>& network) {
  Times times{};
  double start = processor_seconds();
  const std::vector<Tensor> results = network();
  times.build = processor_seconds() - start;
  times.nodes = nodes_in(results);
  start = processor_seconds();
  const std::vector<ScheduleItem> items = Tensor::schedule(results);
  times.schedule = processor_seconds() - start;
  start = processor_seconds();
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
    const UOp lowered = run_pipeline({own}, {.target = device.target()})[0];
    times.sources.push_back(device.render(lowered.node()));
  }
  times.lower = processor_seconds() - start;
  times.kernels = items.size();
  times.distinct = distinct.size();
  return times;
}

}  // namespace weft::bench
