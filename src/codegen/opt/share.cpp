// Threads for kernels of any form: they share the outermost loop.

#include "share.h"

#include <algorithm>

#include <weft/dev/codegen/slice.h>
#include <weft/dev/ir/graph.h>

#include "tile.h"

namespace weft {
namespace {

constexpr double worth_threads = 6e-6;   // seconds of work
constexpr std::int64_t most_parts = 16;  // for each worker

// As if every value took an instruction, for each of its trips.
double seconds_of(const Node* kernel, const Machine& machine) {
  double instructions = 0;
  for (const Node* node : toposort(kernel)) {
    double trips = 1;
    for (const Node* range : node->ranges()) trips *= static_cast<double>(range->src(0)->hi());
    if (!node->dtype().is_index()) instructions += trips;
  }
  return instructions / (machine.hertz * machine.issue);
}

bool may_share(const Node* end, const Node* range) {
  const Node* effects = end->src(0);
  return std::ranges::all_of(effects->op() == Op::Tuple ? effects->src() : end->src().first(1),
                             [&](const Node* store) {
                               return store->op() == Op::Store && !store->arg<StoreArg>().combine &&
                                      changes_with(store->src(0), range);
                             });
}

}  // namespace

std::int64_t parts_for(std::int64_t trips, int workers, bool may_repeat) {
  const std::int64_t most = std::int64_t{workers} * most_parts;
  if (trips <= most) return trips;
  for (std::int64_t parts = most; parts >= workers; --parts)
    if (trips % parts == 0) return parts;
  return may_repeat ? most / 2 : 1;
}

Schedule share_outermost(const Node* kernel, const Machine& machine) {
  if (machine.workers < 2 || kernel->size() != 1 || kernel->src(0)->op() != Op::End) return {};
  const Node* end = kernel->src(0);
  if (end->size() < 2 || !end->src(1)->src(0)->is_const() || !may_share(end, end->src(1)))
    return {};
  if (seconds_of(kernel, machine) < worth_threads) return {};
  const std::int64_t trips = end->src(1)->src(0)->lo();
  const std::int64_t parts = parts_for(trips, machine.workers, may_store_twice(end));
  if (parts < 2) return {};
  Schedule schedule;
  const std::int64_t each = (trips + parts - 1) / parts;
  if (each > 1)
    schedule.push_back({.type = Action::Tile,
                        .name = "r0",
                        .count = each,
                        .tail = trips % each == 0 ? Tail::None : Tail::Shift});
  schedule.push_back({.type = Action::Kind, .name = "r0", .kind = LoopKind::Thread});
  return schedule;
}

}  // namespace weft
