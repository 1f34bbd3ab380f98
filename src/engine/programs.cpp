#include "programs.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/device/disk_cache.h>
#include <weft/dev/ir/graph.h>
#include <weft/settings.h>

#include "report.h"

namespace weft {
namespace {

using Key = std::tuple<std::string, std::uint64_t, std::uint64_t>;

struct Programs {
  std::mutex mutex;
  std::map<Key, std::shared_ptr<LoadedKernel>> loaded;
};

Programs& programs() {
  // Leaked on purpose: code may run until the very end of the process.
  static auto& all = *new Programs;
  return all;
}

UniqueId id_of(const Node* variable) { return variable->arg<VariableArg>().id; }

std::shared_ptr<LoadedKernel> load(const UOp& kernel, Device& device,
                                   const std::shared_ptr<const ExtraRuleList>& extra) {
  auto result = std::make_shared<LoadedKernel>();
  Arena arena;
  const InternerScope scope(arena);
  const UOp own = import_graph(nodes_of({&kernel, 1}), Interner::current(), arena)[0];
  const UOp lowered = run_pipeline({own}, {.target = device.target(), .extra = extra})[0];
  const auto variables = signature_of(own.node()).variables;
  for (const Node* variable : signature_of(lowered.node()).variables) {
    const auto at = std::ranges::find(variables, id_of(variable), id_of);
    result->variables.push_back(static_cast<std::size_t>(at - variables.begin()));
  }
  const std::string source = device.render(lowered.node());
  if (setting_int("DEBUG") >= 3)
    report_source(kernel->arg<NameArg>().name.get(), device.name(), source);
  result->program = device.load(compile_cached(device, source));
  return result;
}

}  // namespace

std::string compilation_key(Device& device, const ExtraRuleList& extra) {
  std::string key = fmt::format("{} {}", device.name(), device.compiler_key());
  for (std::string_view name : {"ALGEBRA", "FASTMATH", "NOOPT", "SKIP"}) key += " " + setting(name);
  return key + key_of(extra);
}

std::shared_ptr<LoadedKernel> load_kernel(const UOp& kernel, Device& device,
                                          const std::shared_ptr<const ExtraRuleList>& extra) {
  const StructuralHash hash = structural_hash(nodes_of({&kernel, 1}));
  const Key key{compilation_key(device, *extra), hash.high, hash.low};
  {
    const std::lock_guard lock(programs().mutex);
    const auto found = programs().loaded.find(key);
    if (found != programs().loaded.end()) return found->second;
  }
  auto made = load(kernel, device, extra);
  const std::lock_guard lock(programs().mutex);
  return programs().loaded.try_emplace(key, std::move(made)).first->second;
}

}  // namespace weft
