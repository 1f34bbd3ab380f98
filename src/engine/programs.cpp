#include "programs.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>
#include <weft/dev/base/lru_cache.h>
#include <weft/dev/codegen/choose.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/device/disk_cache.h>
#include <weft/dev/device/host_memory.h>
#include <weft/dev/ir/graph.h>
#include <weft/error.h>
#include <weft/settings.h>

#include "report.h"
#include "search.h"

namespace weft {
namespace {

using Key = std::tuple<std::string, std::uint64_t, std::uint64_t>;

struct Programs {
  std::mutex mutex;
  LruCache<Key, std::shared_ptr<LoadedKernel>> loaded{most_programs};
};

Programs& programs() {
  // Leaked on purpose: code may run until the very end of the process.
  static auto& all = *new Programs;
  return all;
}

UniqueId id_of(const Node* variable) { return variable->arg<VariableArg>().id; }

Key key_of(const KernelFor& wanted, const std::string& schedule, const ExtraRuleList& extra) {
  const StructuralHash hash = structural_hash(nodes_of({&wanted.kernel, 1}));
  return {compilation_key(*wanted.device, extra) + "\n" + schedule, hash.high, hash.low};
}

// Kernels of one device on their way to programs.
struct Batch {
  Device* device;
  std::vector<Key> keys;
  std::vector<std::shared_ptr<LoadedKernel>> kernels;
  std::vector<std::string> sources;
};

// One that was kept and is refused is as none.
Rendered rendered(const KernelFor& wanted, const std::string& schedule,
                  const std::shared_ptr<const ExtraRuleList>& extra) {
  try {
    return render_kernel(wanted.kernel, schedule, *wanted.device, extra);
  } catch (const Error&) {
    if (schedule.empty()) throw;
    return render_kernel(wanted.kernel, "", *wanted.device, extra);
  }
}

void render(const KernelFor& wanted, const std::string& schedule,
            const std::shared_ptr<const ExtraRuleList>& extra, Batch& batch) {
  const auto& [kernel, device] = wanted;
  Rendered made = rendered(wanted, schedule, extra);
  batch.kernels.push_back(std::make_shared<LoadedKernel>());
  batch.kernels.back()->variables = std::move(made.variables);
  batch.sources.push_back(std::move(made.source));
  if (setting_int("DEBUG") >= 3)
    report_source(kernel->arg<KernelArg>().name.get(), device->name(), batch.sources.back());
}

void compile(Batch& batch) {
  const std::vector<std::string> code = compile_cached(*batch.device, batch.sources);
  for (std::size_t i = 0; i < code.size(); ++i)
    batch.kernels[i]->program = batch.device->load(code[i]);
}

}  // namespace

std::string compilation_key(Device& device, const ExtraRuleList& extra) {
  std::string key = fmt::format("{} {}", device.name(), device.compiler_key());
  for (std::string_view name :
       {"ALGEBRA", "CALIBRATE", "FASTMATH", "NOOPT", "SKIP", "WEFT_THREADS"})
    key += " " + setting(name);
  return key + key_of(extra);
}

Rendered render_kernel(const UOp& kernel, const std::string& schedule, Device& device,
                       const std::shared_ptr<const ExtraRuleList>& extra) {
  Rendered result;
  Arena arena;
  const InternerScope scope(arena);
  const UOp own = import_graph(nodes_of({&kernel, 1}), Interner::current(), arena)[0];
  const UOp scheduled = schedule.empty() ? own : with_schedule(own, schedule);
  const UOp lowered = run_pipeline({scheduled}, {.target = device.target(), .extra = extra})[0];
  const auto variables = signature_of(own.node()).variables;
  for (const Node* variable : signature_of(lowered.node()).variables) {
    const auto at = std::ranges::find(variables, id_of(variable), id_of);
    result.variables.push_back(static_cast<std::size_t>(at - variables.begin()));
  }
  result.source = device.render(lowered.node());
  return result;
}

std::vector<std::shared_ptr<LoadedKernel>> load_kernels(
    std::span<const KernelFor> kernels, const std::shared_ptr<const ExtraRuleList>& extra) {
  std::vector<Key> keys;
  std::vector<std::string> schedules;
  for (const KernelFor& wanted : kernels) {
    schedules.push_back(found_schedule(wanted, extra));
    keys.push_back(key_of(wanted, schedules.back(), *extra));
  }
  std::map<Key, std::shared_ptr<LoadedKernel>> known;
  {
    const std::lock_guard lock(programs().mutex);
    for (const Key& key : keys)
      if (const auto* found = programs().loaded.find(key)) known.emplace(key, *found);
  }
  std::map<std::string_view, Batch> batches;  // by device, in an order that every run has
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!known.try_emplace(keys[i]).second) continue;
    Batch& batch = batches[kernels[i].device->name()];
    batch.device = kernels[i].device;
    batch.keys.push_back(keys[i]);
    render(kernels[i], schedules[i], extra, batch);
  }
  for (auto& [name, batch] : batches) compile(batch);
  if (!batches.empty()) trim_host_memory();
  {
    const std::lock_guard lock(programs().mutex);
    for (auto& [name, batch] : batches)
      for (std::size_t i = 0; i < batch.keys.size(); ++i)
        known[batch.keys[i]] = programs().loaded.insert(batch.keys[i], batch.kernels[i]);
  }
  std::vector<std::shared_ptr<LoadedKernel>> result;
  for (const Key& key : keys) result.push_back(known.at(key));
  return result;
}

}  // namespace weft
