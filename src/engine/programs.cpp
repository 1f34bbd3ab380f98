#include "programs.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/core.h>
#include <weft/dev/base/hash.h>
#include <weft/dev/base/lru_cache.h>
#include <weft/dev/base/parallel.h>
#include <weft/dev/codegen/choose.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/device/disk_cache.h>
#include <weft/dev/device/host_memory.h>
#include <weft/dev/engine/storage.h>
#include <weft/dev/ir/graph.h>
#include <weft/error.h>
#include <weft/settings.h>

#include "found_mistake.h"
#include "kept_work.h"
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
  return {compilation_key(*wanted.device, extra) + " " + setting("VALIDATE") + "\n" + schedule,
          hash.high, hash.low};
}

// A kernel on its way to a program.
struct Item {
  Key key;
  const KernelFor* wanted;
  const std::string* schedule;
  Rendered made = {};
  bool is_compiled = false;
};

// Those of one device.
struct Batch {
  Device* device;
  std::vector<Item> items;
};

// What a kernel's programs are on disk by.
std::string name_of(const Key& key) {
  const auto& [settings, high, low] = key;
  return fmt::format("{:016x}{:016x}\n{}", high, low, settings);
}

// One that was kept and is refused is as none.
Rendered rendered(const KernelFor& wanted, const std::string& schedule,
                  const std::shared_ptr<const ExtraRuleList>& extra) {
  try {
    return render_kernel(wanted.kernel, schedule, *wanted.device, extra);
  } catch (const Error& error) {
    if (schedule.empty() || is_found_mistake(error)) throw;
    return render_kernel(wanted.kernel, "", *wanted.device, extra);
  }
}

void render(Item& item, const std::shared_ptr<const ExtraRuleList>& extra) {
  const auto& [kernel, device] = *item.wanted;
  item.made = rendered(*item.wanted, *item.schedule, extra);
  if (setting_int("DEBUG") >= 3)
    report_source(kernel->arg<KernelArg>().name.get(), device->name(), item.made.source);
}

// On all cores, unless passes print what they do or have rules of the program's own.
void render(Batch& batch, const std::shared_ptr<const ExtraRuleList>& extra) {
  std::vector<Item*> open;
  for (Item& item : batch.items) {
    auto known = may_keep_work(*extra) ? known_compiled(name_of(item.key)) : std::nullopt;
    item.is_compiled = known.has_value();
    if (known)
      item.made = std::move(*known);
    else
      open.push_back(&item);
  }
  if (open.empty()) return;
  batch.device->target();  // measures the machine, where that is needed, while nothing else runs
  const auto render_one = [&](std::int64_t i) {
    render(*open[static_cast<std::size_t>(i)], extra);
  };
  const bool is_silent = setting_int("DEBUG") < 3 && setting("DUMP").empty();
  if (is_silent && extra->empty())
    return parallel_tasks(std::ssize(open), [&](std::int64_t i) {
      render_one(i);
      forget_node_maps();  // of this thread
    });
  for (std::int64_t i = 0; i < std::ssize(open); ++i) render_one(i);
}

void compile(Batch& batch, bool is_kept) {
  std::vector<std::string> sources;
  std::vector<std::string*> code;
  const auto add = [&](auto& part) {
    sources.push_back(std::move(part.source));
    code.push_back(&part.code);
  };
  std::vector<Item*> open;
  for (Item& item : batch.items)
    if (!item.is_compiled) open.push_back(&item);
  for (Item* item : open) {
    add(item->made);
    std::ranges::for_each(item->made.kept, add);
  }
  std::vector<std::string> made = compile_cached(*batch.device, sources);
  for (std::size_t i = 0; i < made.size(); ++i) *code[i] = std::move(made[i]);
  if (!is_kept) return;
  for (const Item* item : open) keep_compiled(name_of(item->key), item->made);
}

std::shared_ptr<LoadedKernel> loaded(Rendered&& made, Device& device) {
  auto kernel = std::make_shared<LoadedKernel>();
  kernel->program = device.load(made.code);
  kernel->variables = std::move(made.variables);
  kernel->is_read = std::move(made.is_read);
  kernel->kept = std::move(made.kept);
  for (Kept& kept : kernel->kept) kept.program = device.load(std::exchange(kept.code, {}));
  return kernel;
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
  std::string key = fmt::format("{} {} {}", device.name(), device.compiler_key(), thread_count());
  return key + settings_key(Affects::Kernels) + key_of(extra);
}

namespace {

// The kernel as it is, and after all passes with what fills memory that it keeps, in an arena of their own.
using UseLowered = std::function<void(const UOp& own, const std::vector<UOp>& lowered)>;
void lower(const UOp& kernel, const std::string& schedule, Device& device,
           const std::shared_ptr<const ExtraRuleList>& extra, const UseLowered& use) {
  Arena arena;
  const InternerScope scope(arena);
  const UOp own = import_graph(nodes_of({&kernel, 1}), Interner::current(), arena)[0];
  // Where it is to be shown, the choice is made again.
  const bool is_shown = setting_int("DEBUG") >= 3;
  const std::string& by =
      schedule.empty() && !is_shown ? chosen_schedule(kernel, device, *extra) : schedule;
  const UOp scheduled = by.empty() ? own : with_schedule(own, by);
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
  } catch (const Error& error) {
    if (schedule.empty() || is_found_mistake(error)) throw;
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

void run(LoadedKernel& loaded, std::span<Buffer* const> memory,
         std::span<const std::int64_t> values) {
  const bool keeps_what_changes = std::ranges::any_of(
      loaded.kept, [&](const Kept& kept) { return !memory[kept.constant]->is_constant(); });
  std::unique_lock lock(loaded.keeping, std::defer_lock);
  if (keeps_what_changes) lock.lock();
  loaded.program->run(arguments_for(loaded, memory), values);
}

std::shared_ptr<Buffer> made_once(const std::shared_ptr<LoadedKernel>& loaded, const UOp& kernel,
                                  std::size_t bytes, const std::shared_ptr<Buffer>& constant) {
  const StructuralHash hash = structural_hash(nodes_of({&kernel, 1}));
  const auto run = [loaded, from = std::weak_ptr(constant)](const Argument& to) {
    const std::shared_ptr<Buffer> source = from.lock();
    if (source == nullptr) internal_error("what a constant is made of is gone");
    const auto run_on = [&](std::vector<Argument> arguments) {
      arguments[0] = to;
      loaded->program->run(arguments, {});
    };
    if (loaded->kept.empty())
      return source->lend([&](const Argument& from) { run_on({to, from}); });
    const std::lock_guard lock(loaded->keeping);
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
    batch.items.push_back({keys[i], &kernels[i], &schedules[i]});
  }
  for (auto& [name, batch] : batches) {
    render(batch, extra);
    compile(batch, may_keep_work(*extra));
    for (Item& item : batch.items) known[item.key] = loaded(std::move(item.made), *batch.device);
  }
  if (!batches.empty()) trim_host_memory();
  {
    const std::lock_guard lock(programs().mutex);
    for (auto& [name, batch] : batches)
      for (const Item& item : batch.items)
        known[item.key] = programs().loaded.insert(item.key, known[item.key]);
  }
  std::vector<std::shared_ptr<LoadedKernel>> result;
  for (const Key& key : keys) result.push_back(known.at(key));
  return result;
}

}  // namespace weft
