#include "programs.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/core.h>
#include <weft/dev/base/hash.h>
#include <weft/dev/base/lru_cache.h>
#include <weft/dev/codegen/choose.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/device/disk_cache.h>
#include <weft/dev/device/host_memory.h>
#include <weft/dev/engine/storage.h>
#include <weft/dev/ir/graph.h>
#include <weft/error.h>
#include <weft/settings.h>

#include "kept_work.h"
#include "report.h"
#include "search.h"

namespace weft {
namespace {

constexpr std::size_t most_known_seconds = 8192;

using Key = std::tuple<std::string, std::uint64_t, std::uint64_t>;

struct Programs {
  std::mutex mutex;
  LruCache<Key, std::shared_ptr<LoadedKernel>> loaded{most_programs};
  LruCache<Key, std::optional<double>> seconds{
      most_known_seconds};  // that kernels take by the model
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
  std::vector<std::string> sources;  // of all kernels, then of what they keep
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

void render(const KernelFor& wanted, const std::string& schedule, const Key& key,
            const std::shared_ptr<const ExtraRuleList>& extra, Batch& batch) {
  const auto& [kernel, device] = wanted;
  const auto& [settings, high, low] = key;
  const std::string name = fmt::format("{:016x}{:016x}\n{}", high, low, settings);
  auto known = may_keep_work(*extra) ? known_rendered(name) : std::nullopt;
  Rendered made = known ? std::move(*known) : rendered(wanted, schedule, extra);
  if (may_keep_work(*extra) && !known) keep_rendered(name, made);
  batch.kernels.push_back(std::make_shared<LoadedKernel>());
  batch.kernels.back()->variables = std::move(made.variables);
  batch.kernels.back()->kept = std::move(made.kept);
  batch.kernels.back()->is_read = std::move(made.is_read);
  batch.sources.push_back(std::move(made.source));
  if (setting_int("DEBUG") >= 3)
    report_source(kernel->arg<KernelArg>().name.get(), device->name(), batch.sources.back());
}

void compile(Batch& batch) {
  std::vector<std::unique_ptr<Program>*> programs;
  for (const auto& kernel : batch.kernels) programs.push_back(&kernel->program);
  for (const auto& kernel : batch.kernels)
    for (Kept& kept : kernel->kept) {
      batch.sources.push_back(kept.source);
      programs.push_back(&kept.program);
    }
  const std::vector<std::string> code = compile_cached(*batch.device, batch.sources);
  for (std::size_t i = 0; i < code.size(); ++i) *programs[i] = batch.device->load(code[i]);
}

// Of a kernel that fills memory with what it reads of a constant.
Kept kept_by(const Node* kernel, Device& device) {
  Kept kept{.constant = 0, .argument = 0, .bytes = 0, .source = device.render(kernel), .name = {}};
  kept.name = fmt::format("{:016x}", hash_text(kept.source));
  for (const Node* param : signature_of(kernel).params) {
    if (param == nullptr) continue;
    const auto& arg = param->arg<ParamArg>();
    const auto slot = static_cast<std::size_t>(arg.slot);
    (writes(arg.access) ? kept.argument : kept.constant) = slot;
    if (writes(arg.access)) kept.bytes = bytes_of(param->dtype(), param->dims());
  }
  return kept;
}

void fill(const Kept& kept, Buffer& constant, Buffer& memory) {
  if (kept.program == nullptr) return memory.copy_in(std::vector<std::byte>(kept.bytes));
  constant.lend([&](const Argument& from) {
    std::vector<Argument> arguments(std::max(kept.argument, kept.constant) + 1);
    arguments[kept.constant] = from;
    arguments[kept.argument] = memory.argument();
    kept.program->run(arguments, {});
  });
}

}  // namespace

std::string compilation_key(Device& device, const ExtraRuleList& extra) {
  std::string key = fmt::format("{} {}", device.name(), device.compiler_key());
  for (std::string_view name :
       {"ALGEBRA", "CALIBRATE", "FASTMATH", "NOOPT", "SKIP", "WEFT_THREADS"})
    key += " " + setting(name);
  return key + key_of(extra);
}

namespace {

// The kernel as it is, and after all passes with what fills memory that it keeps, in an arena of their own.
using UseLowered = std::function<void(const UOp& own, const std::vector<UOp>& lowered)>;
void lower(const UOp& kernel, const std::string& schedule, Device& device,
           const std::shared_ptr<const ExtraRuleList>& extra, const UseLowered& use) {
  Arena arena;
  const InternerScope scope(arena);
  const UOp own = import_graph(nodes_of({&kernel, 1}), Interner::current(), arena)[0];
  const UOp scheduled = schedule.empty() ? own : with_schedule(own, schedule);
  use(own, run_pipeline({scheduled}, {.target = device.target(), .extra = extra}));
}

}  // namespace

Rendered render_kernel(const UOp& kernel, const std::string& schedule, Device& device,
                       const std::shared_ptr<const ExtraRuleList>& extra) {
  Rendered result;
  lower(kernel, schedule, device, extra, [&](const UOp& own, const std::vector<UOp>& all) {
    const UOp& lowered = all[0];
    const auto variables = signature_of(own.node()).variables;
    for (const Node* variable : signature_of(lowered.node()).variables) {
      const auto at = std::ranges::find(variables, id_of(variable), id_of);
      result.variables.push_back(static_cast<std::size_t>(at - variables.begin()));
    }
    result.source = device.render(lowered.node());
    const std::vector<const Node*> params = signature_of(lowered.node()).params;
    for (std::size_t i = 0; i < signature_of(own.node()).params.size(); ++i)
      result.is_read.push_back(i < params.size() && params[i] != nullptr);
    for (std::size_t i = 1; i < all.size(); ++i)
      result.kept.push_back(kept_by(all[i].node(), device));
  });
  return result;
}

void lower_again(const KernelFor& wanted, const std::shared_ptr<const ExtraRuleList>& extra,
                 const std::function<void(const Node*)>& use) {
  const auto by = [&](const std::string& schedule) {
    lower(wanted.kernel, schedule, *wanted.device, extra,
          [&](const UOp&, const std::vector<UOp>& lowered) { use(lowered[0].node()); });
  };
  const std::string schedule = found_schedule(wanted, extra);
  try {
    by(schedule);
  } catch (const Error&) {
    if (schedule.empty()) throw;
    by("");
  }
}

std::shared_ptr<Buffer> kept_memory(const Kept& kept, Buffer& constant) {
  return constant.derived(kept.name, [&](std::shared_ptr<Buffer>& known) {
    auto made = known;
    if (made == nullptr) {
      made = std::make_shared<Buffer>(constant.device(), kept.bytes);
      made->set_lasting(constant.is_constant());
    }
    fill(kept, constant, *made);
    known = made;
  });
}

std::vector<Argument> arguments_for(const LoadedKernel& loaded, std::span<Buffer* const> memory) {
  std::vector<Argument> arguments;
  for (std::size_t i = 0; i < memory.size(); ++i)
    arguments.push_back(i < loaded.is_read.size() && !loaded.is_read[i] ? Argument()
                                                                        : memory[i]->argument());
  for (const Kept& kept : loaded.kept) {
    arguments.resize(std::max(arguments.size(), kept.argument + 1));
    arguments[kept.argument] = kept_memory(kept, *memory[kept.constant])->argument();
  }
  return arguments;
}

std::shared_ptr<Buffer> made_once(const std::shared_ptr<LoadedKernel>& loaded, const UOp& kernel,
                                  std::size_t bytes, const std::shared_ptr<Buffer>& constant) {
  const StructuralHash hash = structural_hash(nodes_of({&kernel, 1}));
  const auto run = [loaded, from = std::weak_ptr(constant)](const Argument& to) {
    const std::shared_ptr<Buffer> source = from.lock();
    if (source == nullptr) internal_error("what a constant is made of is gone");
    const std::lock_guard lock(loaded->running);
    const auto run_on = [&](std::vector<Argument> arguments) {
      arguments[0] = to;
      loaded->program->run(arguments, {});
    };
    if (loaded->kept.empty())
      source->lend([&](const Argument& from) { run_on({to, from}); });
    else
      run_on(arguments_for(*loaded, std::array{source.get(), source.get()}));
  };
  const auto make = [&](std::shared_ptr<Buffer>& memory) {
    if (memory == nullptr)
      memory = std::make_shared<Buffer>(constant->device(), bytes, run);
    else
      run(memory->argument());  // of what changes
    memory->set_constant(constant->is_constant());
  };
  return constant->derived(fmt::format("{:016x}{:016x}", hash.high, hash.low), make);
}

namespace {

// In an arena of its own, which all that is tried goes with.
std::optional<double> asked_model(const UOp& kernel, const Target& target,
                                  const std::shared_ptr<const ExtraRuleList>& extra) {
  if (!target.lowered) return std::nullopt;
  const Context quiet{{"DEBUG", 0}, {"DUMP", ""}};
  Interner& from = Interner::current();
  Arena arena;
  const InternerScope scope(arena);
  const UOp own = import_graph(nodes_of({&kernel, 1}), from, arena)[0];
  const PassOptions passing{.target = target, .extra = extra};
  const UOp ready = ready_to_schedule(run_pipeline_until("optimise", {own}, passing)[0]);
  return seconds_of_choice(ready, target);
}

}  // namespace

KernelSeconds expected_seconds(const std::shared_ptr<const ExtraRuleList>& extra) {
  return [extra](const UOp& kernel, Symbol device_name) -> std::optional<double> {
    Device& device = find_device(device_name.get());
    const Key key = key_of({kernel, &device}, "", *extra);
    {
      const std::lock_guard lock(programs().mutex);
      if (const auto* known = programs().seconds.find(key)) return *known;
    }
    const auto seconds = asked_model(kernel, device.target(), extra);
    const std::lock_guard lock(programs().mutex);
    return programs().seconds.insert(key, seconds);
  };
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
    render(kernels[i], schedules[i], keys[i], extra, batch);
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
