#include "recorded_call.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <weft/dev/ir/graph.h>
#include <weft/settings.h>

#include "json.h"

namespace weft::cli {
namespace {

std::any recorded(CallList& list, const std::function<std::any()>& function) {
  const Context by_graph{{"JIT", 0}};
  const CallList::Recording recording(list);
  return function();
}

std::string key_of(const CallList::Planned& planned) {
  if (planned.kernel.is_null())
    return fmt::format("copy {} {}", planned.work.bytes, planned.device);
  const StructuralHash hash = structural_hash(nodes_of({&planned.kernel, 1}));
  return fmt::format("{:016x}{:016x} {}", hash.high, hash.low, planned.device);
}

std::vector<CallKernel> kernels_of(const CallList& list) {
  std::vector<CallKernel> kernels;
  std::map<std::string, std::size_t> places;
  for (std::size_t call = 0; call < list.size(); ++call) {
    const CallList::Planned planned = list.planned(call);
    const std::string key = key_of(planned);
    const auto [place, is_new] = places.emplace(key, kernels.size());
    if (is_new) {
      const bool is_copy = planned.kernel.is_null();
      kernels.push_back({.key = key,
                         .name = is_copy ? "copy" : planned.kernel->arg<KernelArg>().name.get(),
                         .device = planned.device,
                         .kernel = planned.kernel,
                         .calls = {},
                         .nodes = {}});
    }
    CallKernel& kernel = kernels[place->second];
    kernel.calls.push_back(call);
    if (!planned.caller.empty() &&
        std::ranges::find(kernel.nodes, planned.caller) == kernel.nodes.end())
      kernel.nodes.push_back(planned.caller);
    kernel.work.flops += planned.work.flops;
    kernel.work.bytes += planned.work.bytes;
  }
  return kernels;
}

}  // namespace

std::string CallKernel::nodes_text() const {
  constexpr std::size_t most = 3;
  const std::size_t shown = nodes.size() <= most ? nodes.size() : most - 1;
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += ", " + nodes[i];
  if (shown < nodes.size()) text += fmt::format(" and {} more", nodes.size() - shown);
  return text;
}

std::string CallKernel::nodes_json() const {
  std::vector<std::string> texts;
  for (const std::string& node : nodes) texts.push_back(json_text(node));
  return json_list(texts);
}

RecordedCall::RecordedCall(const std::function<std::any()>& function)
    : results_(recorded(list_, function)), kernels_(kernels_of(list_)) {
  list_.settle();
}

Work RecordedCall::work() const {
  Work all;
  for (const CallKernel& kernel : kernels_) {
    all.flops += kernel.work.flops;
    all.bytes += kernel.work.bytes;
  }
  return all;
}

double RecordedCall::replay() {
  const Clock::time_point start = Clock::now();
  list_.run();
  return ms_since(start);
}

void RecordedCall::time_kernels(int runs) {
  list_.run();
  for (int i = 0; i < runs; ++i) {
    const std::vector<double> seconds = list_.run_timed();
    for (CallKernel& kernel : kernels_) {
      double sum = 0;
      for (const std::size_t call : kernel.calls) sum += seconds[call] * 1e3;
      kernel.samples.push_back(sum);
    }
  }
  for (CallKernel& kernel : kernels_) kernel.ms = Times(kernel.samples).ms(0.5);
  std::ranges::sort(kernels_, std::ranges::greater(), &CallKernel::ms);
}

void RecordedCall::forget_times() {
  for (CallKernel& kernel : kernels_) kernel.samples.clear();
}

double Roof::ms(const Work& work) const {
  if (flops == 0 || bandwidth == 0) return 0;
  return std::max(work.flops / flops, work.bytes / bandwidth) * 1e3;
}

Roof roof_of(const Device& device) {
  const DeviceModel machine = device.target().machine;
  if (machine.memory.empty()) return {};
  const MemorySpace& memory = machine.memory.back();
  const int lanes = machine.vector_bytes / 4;
  return {2.0 * machine.fma_ports * lanes * machine.hertz * machine.workers(),
          memory.bandwidth * (memory.is_shared ? 1 : machine.workers())};
}

}  // namespace weft::cli
