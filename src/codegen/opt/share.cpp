// Threads for kernels of any form: they share the outermost loop.

#include "share.h"

#include <algorithm>

#include <weft/dev/codegen/slice.h>
#include <weft/dev/ir/graph.h>

#include "stores.h"

namespace weft {
namespace {

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

}  // namespace

bool gains_by_threads(const Node* end, const Node* range) {
  return may_share(end, range) && std::ranges::all_of(toposort(end->src(0)), [&](const Node* node) {
           return !OpSet{Op::Reduce, Op::Stage}.contains(node->op()) || changes_with(node, range);
         });
}

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
