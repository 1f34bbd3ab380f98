#include "launch.h"

#include <algorithm>

#include <fmt/core.h>
#include <weft/dev/ir/text.h>
#include <weft/error.h>
#include <weft/settings.h>

namespace weft::interp {
namespace {

using Place = std::vector<std::int64_t>;  // along each SPECIAL

std::vector<const Node*> workers_of(const Signature& signature, bool are_items) {
  std::vector<const Node*> found;
  for (const Node* special : signature.workers)
    if ((special->arg<SpecialArg>().kind == LoopKind::Local) == are_items) found.push_back(special);
  return found;
}

// All places along the SPECIALs, the last of them changing fastest.
std::vector<Place> places_of(const std::vector<const Node*>& specials) {
  std::vector<Place> places{{}};
  for (const Node* special : specials) {
    std::vector<Place> more;
    for (const Place& place : places)
      for (std::int64_t i = 0; i < special->src(0)->lo(); ++i) {
        more.push_back(place);
        more.back().push_back(i);
      }
    places = std::move(more);
  }
  return places;
}

// In turns, until all have reached the end: they meet at the same barriers.
void run_group(std::span<Machine> items) {
  if (items.empty()) return;
  const Node* barrier = nullptr;
  do {
    barrier = items[0].run();
    for (Machine& item : items.subspan(1))
      if (item.run() != barrier)
        internal_error("INTERP: the items of a work-group wait at different barriers");
  } while (barrier != nullptr);
}

// The first item, which the others are like.
Machine first_item(const Steps& steps, const Signature& signature,
                   std::span<const Argument> arguments, std::span<const std::int64_t> values,
                   SharedMemory& shared) {
  if (arguments.size() < signature.params.size() || values.size() != signature.variables.size())
    internal_error(fmt::format("INTERP: {} takes {} buffers and {} values, not {} and {}",
                               steps.kernel()->arg<KernelArg>().name.get(), signature.params.size(),
                               signature.variables.size(), arguments.size(), values.size()));
  Machine machine(steps, arguments, shared);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Node* variable = signature.variables[i];
    if (!variable->bounds().contains(values[i]))
      internal_error(fmt::format("INTERP: {} = {} is outside its bounds", expression_text(variable),
                                 values[i]));
    machine.set(variable, values[i]);
  }
  return machine;
}

}  // namespace

void launch(const Steps& steps, const Signature& signature, std::span<const Argument> arguments,
            std::span<const std::int64_t> values) {
  const std::vector<const Node*> grid = workers_of(signature, false);
  const std::vector<const Node*> group = workers_of(signature, true);
  std::vector<Place> turns = places_of(group);
  if (setting_int("INTERP_BACKWARD") != 0) std::ranges::reverse(turns);
  SharedMemory shared;
  const Machine first = first_item(steps, signature, arguments, values, shared);
  std::vector<Machine> items(turns.size(), first);
  for (std::size_t i = 0; i < items.size(); ++i) items[i].set(group, turns[i]);
  for (const Place& place : places_of(grid)) {
    shared.assign(steps.storages(), {});
    for (Machine& item : items) {
      item.set(grid, place);
      item.begin();
    }
    run_group(items);
  }
}

}  // namespace weft::interp
