// What the cost model says of kernels. It is not asked twice: its choice stays for when the kernel is lowered.

#include <algorithm>
#include <mutex>
#include <set>
#include <tuple>
#include <vector>

#include <weft/dev/base/lru_cache.h>
#include <weft/dev/base/parallel.h>
#include <weft/dev/codegen/choose.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/ir/graph.h>
#include <weft/settings.h>

#include "programs.h"

namespace weft {
namespace {

constexpr double staying = 0.5;  // of the last cache: constants that the next call finds there

// Of the device and settings, and of the kernel.
using Key = std::tuple<std::string, std::uint64_t, std::uint64_t>;

struct Known {
  std::optional<double> seconds = {};
  std::string schedule = {};
};

struct KnownChoices {
  static constexpr std::size_t most = 8192;
  std::mutex mutex;
  LruCache<Key, Known> by_kernel{most};
};

KnownChoices& known_choices() {
  static auto& all = *new KnownChoices;  // leaked on purpose, like the programs
  return all;
}

// In an arena of its own, which all that is tried goes with.
Known asked_model(const UOp& kernel, const Target& target,
                  const std::shared_ptr<const ExtraRuleList>& extra, Interner& from) {
  if (!target.lowered) return {};
  const Context quiet{{"DEBUG", 0}, {"DUMP", ""}, {"VALIDATE", 0}};
  Arena arena;
  const InternerScope scope(arena);
  const UOp own = import_graph(nodes_of({&kernel, 1}), from, arena)[0];
  const PassOptions passing{.target = target, .extra = extra};
  const UOp ready = ready_to_schedule(run_pipeline_until("optimise", {own}, passing)[0]);
  const Choice choice = choice_of(ready, target);
  return {choice.seconds, to_string(choice.schedule)};
}

bool reads_constants(const UOp& kernel) {
  return std::ranges::any_of(toposort(kernel.node()), [](const Node* node) {
    return node->op() == Op::Param && node->arg<ParamArg>().access == Access::Constant;
  });
}

}  // namespace

UOp with_constants(const UOp& kernel, bool are_far) {
  KernelArg arg = kernel->arg<KernelArg>();
  arg.far_constants = are_far;
  return make(Op::Sink, std::vector<UOp>(kernel->src().begin(), kernel->src().end()), {}, arg);
}

UOp among_constants(const UOp& kernel, Device& device, std::size_t bytes) {
  const auto& levels = device.target().machine.memory;
  const bool stay = levels.empty() || static_cast<double>(bytes) <= staying * levels.back().bytes;
  return stay || !reads_constants(kernel) ? kernel : with_constants(kernel, true);
}

namespace {

// A kernel to ask the model about.
struct Asked {
  UOp kernel;
  Device* device;
  Key key;
};

Key key_of(const UOp& kernel, Device& device, const ExtraRuleList& extra) {
  const StructuralHash hash = structural_hash(nodes_of({&kernel, 1}));
  return {compilation_key(device, extra), hash.high, hash.low};
}

std::optional<Known> known(const Key& key) {
  const std::lock_guard lock(known_choices().mutex);
  const auto* found = known_choices().by_kernel.find(key);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

Known ask(const Asked& asked, Interner& from, const std::shared_ptr<const ExtraRuleList>& extra) {
  Known found = asked_model(asked.kernel, asked.device->target(), extra, from);
  const std::lock_guard lock(known_choices().mutex);
  return known_choices().by_kernel.insert(asked.key, std::move(found));
}

}  // namespace

std::string chosen_schedule(const UOp& kernel, Device& device, const ExtraRuleList& extra) {
  return known(key_of(kernel, device, extra)).value_or(Known{}).schedule;
}

KernelSeconds expected_seconds(const std::shared_ptr<const ExtraRuleList>& extra,
                               std::size_t constant_bytes) {
  const auto asked = [=](const UOp& given, Symbol device_name) -> Asked {
    Device& device = find_device(device_name.get());
    const UOp kernel = among_constants(given, device, constant_bytes);
    return {kernel, &device, key_of(kernel, device, *extra)};
  };
  const auto of_one = [=](const UOp& kernel, Symbol device) {
    const Asked one = asked(kernel, device);
    const auto found = known(one.key);
    return found ? found->seconds : ask(one, Interner::current(), extra).seconds;
  };
  // On all cores.
  const auto of_all = [=](std::span<const KernelOnDevice> kernels) {
    std::vector<Asked> open;
    std::set<Key> seen;
    for (const auto& [kernel, device] : kernels) {
      Asked one = asked(kernel, device);
      if (open.size() < KnownChoices::most / 2 && seen.insert(one.key).second && !known(one.key))
        open.push_back(std::move(one));
    }
    Interner& from = Interner::current();
    parallel_tasks(std::ssize(open),
                   [&](std::int64_t i) { ask(open[static_cast<std::size_t>(i)], from, extra); });
  };
  if (!extra->empty()) return of_one;  // rules of the program's own run on its thread
  return {of_one, of_all};
}

}  // namespace weft
